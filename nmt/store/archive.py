"""A trained model as one archive with weights, vocabularies, settings, card and checksums.

The archive is a tar archive in zstd; `tar --zstd -xf` unpacks it and `sha256sum -c SHA256SUMS` checks it. Equal files
give equal bytes: fixed order, no times, no owners.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmt.errors import UserError, errors_as_user_error
from nmt.io.compression import ZstdError, decompress, open_zstd_writer
from nmt.io.files import (
    atomic_path,
    commit_file,
    full_disk_as_user_error,
    read_json,
    sha256,
    temporary_folder,
    write_json,
)
from nmt.store.model_card import write_card
from nmt.store.model_folder import (
    FINAL_STATE,
    HISTORY,
    MODEL_CARD,
    RELEASED_FILES,
    SUMMARY,
    TEXT_SETTINGS,
    WEIGHTS,
)
from nmt.store.tensors import load_metadata, load_tensors, round_to_float16, save_tensors

ARCHIVE_SUFFIX = ".tar.zst"
CHECKSUMS = "SHA256SUMS"
ROUNDING_NOTE = (
    "The weights in this archive are rounded to 16 bits. The scores were measured with weights of 32 bits."
)

MIN_UNPACKED_BYTES = 1 << 26
"""Bytes that every archive may unpack to."""
MAX_COMPRESSION = 100
"""Further bytes that an archive may unpack to for each of its own bytes. Weights hardly shrink."""


def pack_model(folder: Path, archive: Path, with_final_state: bool = False, bits: int = 32) -> list[str]:
    """Pack a model's folder under its own name. Return the names of the packed files, checksums last.

    With 16 bits instead of 32, the weights are rounded, and the card says so. A card is written if there is none. The
    final state is larger than the weights, so it is packed only on request.

    Raises a `UserError` if a file is missing, or if `unpack_model` would refuse the folder's name.
    """
    # 1. check the names
    model_name = folder.resolve().name
    if not is_safe_name(model_name):
        raise UserError(
            f"{folder}: expected a name without leading - or ., of printable characters; rename it"
        )
    if not archive.name.endswith(ARCHIVE_SUFFIX):
        raise UserError(f"{archive}: expected a name that ends in {ARCHIVE_SUFFIX}")

    # 2. choose the files
    names = list(RELEASED_FILES)
    if with_final_state:
        names.append(FINAL_STATE)
    for name in names:
        if name != MODEL_CARD and not (folder / name).is_file():
            raise UserError(f"{folder}: no {name} in it; expected the folder of a finished model")
    names += [name for name in (HISTORY, TEXT_SETTINGS) if (folder / name).is_file()]  # these may be missing
    if not (folder / MODEL_CARD).is_file():
        write_card(folder)

    # 3. write them in a fixed order, and their checksums last
    with (
        atomic_path(archive) as temporary_path,
        TemporaryDirectory() as rounded_folder,
        temporary_path.open("wb") as raw_file,
        open_zstd_writer(raw_file) as compressed_file,
        tarfile.open(fileobj=compressed_file, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        paths = {name: folder / name for name in sorted(names)}
        if bits == 16:
            paths |= write_rounded_files(folder, Path(rounded_folder))
        checksums = ""
        for name, path in paths.items():
            with path.open("rb") as file:
                tar.addfile(make_tar_entry(f"{model_name}/{name}", path.stat().st_size), file)
            checksums += f"{sha256(path)}  {name}\n"
        checksums_entry = make_tar_entry(f"{model_name}/{CHECKSUMS}", len(checksums))
        tar.addfile(checksums_entry, io.BytesIO(checksums.encode("ascii")))
    return [*paths, CHECKSUMS]


def write_rounded_files(folder: Path, rounded_folder: Path) -> dict[str, Path]:
    """Write the weights of a model, rounded to 16 bits, with a card and a summary that say so, into `rounded_folder`.

    Returns the paths of the three files by their names.
    """
    weights_path = folder / WEIGHTS
    rounded_weights_path = rounded_folder / WEIGHTS
    weights = round_to_float16(load_tensors(weights_path), weights_path)
    vocabularies = load_metadata(weights_path)["vocabularies"]
    save_tensors(rounded_weights_path, weights, {"vocabularies": vocabularies})

    card = (folder / MODEL_CARD).read_bytes()
    note = f"\n{ROUNDING_NOTE}\n"
    (rounded_folder / MODEL_CARD).write_bytes(card + note.encode())

    summary = read_json(folder / SUMMARY)
    summary |= {"weights": sha256(rounded_weights_path), "rounded_from": sha256(weights_path)}
    write_json(rounded_folder / SUMMARY, summary)
    return {name: rounded_folder / name for name in (MODEL_CARD, SUMMARY, WEIGHTS)}


def make_tar_entry(name: str, size: int) -> tarfile.TarInfo:
    """Return the header of a file in the archive: without time and owner, so that equal files give equal bytes."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o644, 0
    return entry


def unpack_model(archive: Path, output: Path) -> Path:
    """Unpack an archive of `pack_model` into `output`, check every checksum, and return the model's folder.

    The folder appears atomically. Raises a `UserError` if the archive is damaged or has anything but plain files in one
    folder, or if there is already a folder of this name.
    """
    with temporary_folder(output, f".{archive.name}.unpacking") as work_folder:
        unpacked_folder = extract_archive(archive, work_folder)
        check_checksums(archive, unpacked_folder)
        model_folder = output / unpacked_folder.name
        if model_folder.exists():
            raise UserError(f"{model_folder}: already there; move it away or choose a different --output")
        commit_file(unpacked_folder, model_folder)
    return model_folder


def extract_archive(archive: Path, work_folder: Path) -> Path:
    """Write the archive's files below `work_folder`, and return the one folder that contains them."""
    with (
        errors_as_user_error(archive, tarfile.TarError, ZstdError, remedy="get it again"),
        archive.open("rb") as raw_file,
        tarfile.open(fileobj=LimitedStream(raw_file, archive.stat().st_size), mode="r|") as tar,
    ):
        # Newer versions of Python also refuse unsafe members by this filter.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        for entry in tar:
            if not is_plain_file(entry):
                raise UserError(f"{archive}: holds {entry.name!r}, expected plain files in one folder")
            # Modes, times and owners of the archive are ignored.
            with full_disk_as_user_error(work_folder.parent):
                tar.extract(entry, work_folder, set_attrs=False)

    folders = list(work_folder.iterdir())
    if len(folders) != 1:
        raise UserError(f"{archive}: holds {len(folders)} folders, expected one model's; is it a release?")
    return folders[0]


class LimitedStream(io.RawIOBase):
    """The decompressed bytes of an archive, up to a limit.

    An archive from a stranger may expand without end: its files would fill the disk, or its headers, which `tarfile`
    holds in memory, the memory.
    """

    def __init__(self, raw_file: io.BufferedReader[Any], archive_size: int) -> None:
        """Read from `raw_file`, an archive of `archive_size` bytes."""
        self._stream = decompress(raw_file)
        self._remaining_bytes = MIN_UNPACKED_BYTES + MAX_COMPRESSION * archive_size

    def readable(self) -> bool:  # noqa: D102
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # noqa: D102
        size = self._stream.readinto(buffer)
        self._remaining_bytes -= size
        if self._remaining_bytes < 0:
            raise ValueError(f"unpacked, more than {MAX_COMPRESSION} times as large")
        return size


def is_plain_file(entry: tarfile.TarInfo) -> bool:
    """Return whether a member of an archive is FOLDER/FILE: no link, and no path outside the folder."""
    names = entry.name.split("/")
    if len(names) != 2 or not entry.isreg() or entry.issparse():
        return False
    return is_safe_name(names[0]) and is_safe_name(names[1])


def is_safe_name(name: str) -> bool:
    """Return whether a name is safe: no command takes it for an option, and it has no control characters."""
    return bool(name) and name[0] not in "-." and name.isprintable()


def check_checksums(archive: Path, folder: Path) -> None:
    """Raise a `UserError` unless an unpacked archive has exactly the files and checksums that SHA256SUMS lists."""
    # lines of sha256sum: the checksum, two spaces, the name
    checksums_path = folder / CHECKSUMS
    text = checksums_path.read_bytes().decode(errors="replace") if checksums_path.is_file() else ""
    lines = {f"{sha256(path)}  {path.name}" for path in folder.iterdir() if path != checksums_path}
    if lines != set(text.splitlines()):
        raise UserError(f"{archive}: its files differ from its {CHECKSUMS}; get it again")
