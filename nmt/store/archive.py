"""Packs a trained model into one archive and unpacks it: weights, vocabularies, settings, summary, card and checksums.

A tar archive in zstd; `tar --zstd -xf` unpacks it and `sha256sum -c SHA256SUMS` checks it. Equal files give equal
bytes: fixed order, no times, no owners.
"""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from nmt.errors import UserError, naming
from nmt.io.files import atomic_path, commit, disk_full, read_small, sha256
from nmt.io.formats import decompressed, zstd_writer
from nmt.store.model_folder import CARD, FINAL_STATE, HISTORY, RELEASED, TEXT, WEIGHTS
from nmt.store.tensors import halved, load_metadata, load_tensors, save_tensors

SUFFIX = ".tar.zst"
SUMS = "SHA256SUMS"
ADDED = (HISTORY, TEXT)
"""Optional files, packed if they exist. The final state is larger than the weights, and packed only on request."""

ROUNDED = (
    "The weights in this archive are rounded to 16 bits. The scores are those of the weights in 32 bits."
)
_ALWAYS, _RATIO = 1 << 26, 100
"""Bytes that every archive may unpack to, and how many more for each of its own. Weights hardly shrink."""


def pack(folder: Path, archive: Path, with_final_state: bool = False, bits: int = 32) -> list[str]:
    """Pack a model's folder under its own name. Return the names of the packed files, checksums last.

    bits: of a weight, 32 or 16. With 16 the weights are rounded, and the card says so.

    Raises a `UserError` if a file is missing.
    """
    if not archive.name.endswith(SUFFIX):
        raise UserError(f"{archive}: expected a name that ends in {SUFFIX}")
    needed = [*RELEASED, *([FINAL_STATE] if with_final_state else [])]
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        cure = "; `nmt model card` writes it" if missing == [CARD] else ""
        raise UserError(f"{folder}: no {missing[0]} in it; expected the folder of a finished model{cure}")
    names = sorted([*needed, *(name for name in ADDED if (folder / name).is_file())])
    top = folder.resolve().name
    if not _is_plain_name(top):
        raise UserError(f"{folder}: expected a folder's name that starts with a letter or digit; rename it")
    with (
        atomic_path(archive) as temporary,
        TemporaryDirectory() as place,
        temporary.open("wb") as raw,
        zstd_writer(raw) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        files = {name: folder / name for name in names}
        if bits == 16:
            files |= _with_16_bits(folder, Path(place))
        for name, path in files.items():
            with path.open("rb") as file:
                tar.addfile(_entry(f"{top}/{name}", path.stat().st_size), file)
        text = "".join(f"{sha256(path)}  {name}\n" for name, path in files.items())
        tar.addfile(_entry(f"{top}/{SUMS}", len(text)), io.BytesIO(text.encode("ascii")))
    return [*names, SUMS]


def _with_16_bits(folder: Path, place: Path) -> dict[str, Path]:
    """Write weights that are rounded to 16 bits, and a card that says so, into `place`; return both files by name."""
    whole = folder / WEIGHTS
    weights = halved(load_tensors(whole), whole)
    save_tensors(place / WEIGHTS, weights, {"vocabularies": load_metadata(whole).get("vocabularies", "{}")})
    (place / CARD).write_bytes((folder / CARD).read_bytes() + f"\n{ROUNDED}\n".encode())
    return {CARD: place / CARD, WEIGHTS: place / WEIGHTS}


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o644, 0
    return entry


def unpack(archive: Path, output: Path) -> Path:
    """Unpack an archive of `pack` into `output`, check every checksum, and return the model's folder.

    The folder appears whole or not at all. Raises a `UserError` for a damaged archive, one that holds anything but
    plain files in one folder, or a folder that is already there.
    """
    # named after the archive, so that the next call removes what a killed one left
    place = output / f".{archive.name}.unpacking"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        folder = _extract(archive, place)
        _check_sums(archive, folder)
        target = output / folder.name
        if target.exists():
            raise UserError(f"{target}: already there; move it away or choose another --output")
        commit(folder, target)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return target


def _extract(archive: Path, place: Path) -> Path:
    """Write the archive's files below `place`, and return the one folder that contains them."""
    with (
        naming(archive, "get it again"),
        archive.open("rb") as raw,
        tarfile.open(fileobj=_Limited(raw, archive.stat().st_size), mode="r|") as tar,
    ):
        for entry in tar:
            path = place / entry.name
            if not _is_plain(entry) or path.exists():
                raise UserError(
                    f"{archive}: holds {entry.name!r}, expected plain files in one folder, each once"
                )
            content = tar.extractfile(entry)
            assert content is not None  # of a plain file
            path.parent.mkdir(exist_ok=True)
            with disk_full(place.parent), content, path.open("xb") as file:
                shutil.copyfileobj(content, file)
    folders = list(place.iterdir())
    if len(folders) != 1:
        raise UserError(f"{archive}: holds {len(folders)} folders, expected one model's; is it a release?")
    return folders[0]


class _Limited(io.RawIOBase):
    """The decompressed bytes of an archive, with a limit: headers and small files are held in memory."""

    def __init__(self, raw: IO[bytes], size: int) -> None:
        self._stream = decompressed(raw)
        self._left = _ALWAYS + _RATIO * size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = self._stream.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise ValueError(f"unpacked, more than {_RATIO} times as large")
        return size


def _is_plain(entry: tarfile.TarInfo) -> bool:
    """Return whether a member is FOLDER/FILE: no link, and no path outside the folder."""
    parts = entry.name.split("/")
    names_are_plain = len(parts) == 2 and all(map(_is_plain_name, parts))
    return entry.isreg() and not entry.issparse() and names_are_plain


def _is_plain_name(name: str) -> bool:
    """Return whether the name is safe: not an option for commands, and without control characters for terminals."""
    return name[:1].isalnum() and name.isprintable()


def _check_sums(archive: Path, folder: Path) -> None:
    if not (folder / SUMS).is_file():
        raise UserError(f"{archive}: no {SUMS} in it; expected an archive of `nmt model release`")
    lines = (line.partition("  ") for line in read_small(folder / SUMS).decode(errors="replace").splitlines())
    stated = {name: total for total, _, name in lines}
    found = {path.name for path in folder.iterdir()} - {SUMS}
    for name in sorted(found ^ set(stated)):
        what = "is in no line of its checksums" if name in found else "is missing"
        raise UserError(f"{archive}: {name} {what}; get it again")
    for name, total in stated.items():
        if sha256(folder / name) != total:
            raise UserError(f"{archive}: {name} has another checksum than {SUMS} says; get it again")
