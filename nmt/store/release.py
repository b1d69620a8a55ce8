"""A trained model for others: its card, README.md, and one archive with weights, vocabularies, settings and checksums.

The archive is a tar archive in zstd; `tar --zstd -xf` unpacks it and `sha256sum -c SHA256SUMS` checks it. Equal files
give equal bytes: fixed order, no times, no owners. The card says what the model is, how it was trained, how good it is
and how to load it. It has front matter in the format of model hubs.
"""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from nmt.errors import UserError, errors_as_user_error
from nmt.io.compression import ZstdError, decompress, open_zstd_writer
from nmt.io.files import (
    atomic_path,
    commit_file,
    full_disk_as_user_error,
    read_file,
    read_json,
    sha256,
    temporary_folder,
    write_json,
)
from nmt.settings.model_types import MODEL_TYPES
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

SUFFIX = ".tar.zst"
CHECKSUMS = "SHA256SUMS"
OPTIONAL_FILES = (HISTORY, TEXT_SETTINGS)
"""Optional files, packed if they exist. The final state is larger than the weights, and packed only on request."""

ROUNDED = (
    "The weights in this archive are rounded to 16 bits. The scores are those of the weights in 32 bits."
)
_ALWAYS, _RATIO = 1 << 26, 100
"""Bytes that every archive may unpack to, and how many more for each of its own. Weights hardly shrink."""


def pack_model(folder: Path, archive: Path, with_final_state: bool = False, bits: int = 32) -> list[str]:
    """Pack a model's folder under its own name. Return the names of the packed files, checksums last.

    bits: of a weight, 32 or 16. With 16 the weights are rounded, and the card says so. A card is written if there is
    none.

    Raises a `UserError` if a file is missing, or if `unpack` would refuse the folder's name.
    """
    top = folder.resolve().name
    if not _is_safe_name(top):
        raise UserError(
            f"{folder}: expected a name without leading - or ., of printable characters; rename it"
        )
    if not archive.name.endswith(SUFFIX):
        raise UserError(f"{archive}: expected a name that ends in {SUFFIX}")
    needed = [*RELEASED_FILES, *([FINAL_STATE] if with_final_state else [])]
    if missing := [name for name in needed if name != MODEL_CARD and not (folder / name).is_file()]:
        raise UserError(f"{folder}: no {missing[0]} in it; expected the folder of a finished model")
    if not (folder / MODEL_CARD).is_file():
        write_card(folder)
    names = sorted([*needed, *(name for name in OPTIONAL_FILES if (folder / name).is_file())])
    with (
        atomic_path(archive) as temporary,
        TemporaryDirectory() as place,
        temporary.open("wb") as raw,
        open_zstd_writer(raw) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        files = {name: folder / name for name in names}
        if bits == 16:
            files |= _with_16_bits(folder, Path(place))
        for name, path in files.items():
            with path.open("rb") as file:
                tar.addfile(_entry(f"{top}/{name}", path.stat().st_size), file)
        text = "".join(f"{sha256(path)}  {name}\n" for name, path in files.items())
        tar.addfile(_entry(f"{top}/{CHECKSUMS}", len(text)), io.BytesIO(text.encode("ascii")))
    return [*names, CHECKSUMS]


def _with_16_bits(folder: Path, place: Path) -> dict[str, Path]:
    """Write into `place` weights that are rounded to 16 bits, with a card and a summary that say so.

    Returns the files by name.
    """
    whole = folder / WEIGHTS
    weights = round_to_float16(load_tensors(whole), whole)
    save_tensors(place / WEIGHTS, weights, {"vocabularies": load_metadata(whole).get("vocabularies", "{}")})
    (place / MODEL_CARD).write_bytes((folder / MODEL_CARD).read_bytes() + f"\n{ROUNDED}\n".encode())

    checksums = {"weights": sha256(place / WEIGHTS), "rounded_from": sha256(whole)}
    with errors_as_user_error(folder / SUMMARY, "make it again", TypeError):
        write_json(place / SUMMARY, read_json(folder / SUMMARY) | checksums)
    return {name: place / name for name in (MODEL_CARD, SUMMARY, WEIGHTS)}


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o644, 0
    return entry


def unpack_model(archive: Path, output: Path) -> Path:
    """Unpack an archive of `pack` into `output`, check every checksum, and return the model's folder.

    The folder appears whole or not at all. Raises a `UserError` for a damaged archive, one that holds anything but
    plain files in one folder, or a folder that is already there.
    """
    with temporary_folder(output, f".{archive.name}.unpacking") as place:
        folder = _extract(archive, place)
        _check_sums(archive, folder)
        target = output / folder.name
        if target.exists():
            raise UserError(f"{target}: already there; move it away or choose another --output")
        commit_file(folder, target)
    return target


def _extract(archive: Path, place: Path) -> Path:
    """Write the archive's files below `place`, and return the one folder that contains them."""
    with (
        errors_as_user_error(archive, "get it again", tarfile.TarError, ZstdError),
        archive.open("rb") as raw,
        tarfile.open(fileobj=_Limited(raw, archive.stat().st_size), mode="r|") as tar,
    ):
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        for entry in tar:
            if not _is_plain(entry):
                raise UserError(f"{archive}: holds {entry.name!r}, expected plain files in one folder")
            with full_disk_as_user_error(place.parent):
                tar.extract(entry, place, set_attrs=False)
    folders = list(place.iterdir())
    if len(folders) != 1:
        raise UserError(f"{archive}: holds {len(folders)} folders, expected one model's; is it a release?")
    return folders[0]


class _Limited(io.RawIOBase):
    """The decompressed bytes of an archive, with a limit: headers and small files are held in memory."""

    def __init__(self, raw: io.BufferedReader[Any], size: int) -> None:
        self._stream = decompress(raw)
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
    names = entry.name.split("/")
    return entry.isreg() and not entry.issparse() and len(names) == 2 and all(map(_is_safe_name, names))


def _is_safe_name(name: str) -> bool:
    """Return whether a name is no option for commands, and holds no control characters for terminals."""
    return bool(name) and name[0] not in "-." and name.isprintable()


def _check_sums(archive: Path, folder: Path) -> None:
    sums = folder / CHECKSUMS
    text = read_file(sums).decode(errors="replace") if sums.is_file() else ""
    stated = {name: total for total, _, name in (line.partition("  ") for line in text.splitlines())}
    found = {path.name: sha256(path) for path in folder.iterdir() if path != sums}
    for name in sorted(stated.keys() | found.keys()):
        if stated.get(name) != found.get(name):
            raise UserError(
                f"{archive}: {name} is not what {CHECKSUMS} says; get it again, as `nmt model release` made it"
            )


# --- the card ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusInfo:
    """The text of a model, as far as it is known: languages (source, target), names of corpora."""

    languages: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()


def write_card(folder: Path, text: CorpusInfo | None = None, scores: dict[str, Any] | None = None) -> None:
    """Write the card of the model in `folder` from its summary and settings, with scores if they are given.

    Raises a `UserError` for a summary or settings that no training wrote.
    """
    summary, settings = read_json(folder / "summary.json"), read_json(folder / "settings.json")
    files = f"{folder}: summary.json, settings.json or the scores"
    with errors_as_user_error(files, "expected those of this version", KeyError, TypeError, AttributeError):
        data = format_card(summary, settings, text or CorpusInfo(), scores).encode()
    with atomic_path(folder / MODEL_CARD) as temporary:
        temporary.write_bytes(data)


def format_card(
    summary: dict[str, Any], settings: dict[str, Any], text: CorpusInfo, scores: dict[str, Any] | None
) -> str:
    """Return the card as Markdown."""
    model_type = MODEL_TYPES[summary["model_type"]]
    training, architecture, code = (
        settings["training"],
        settings["architecture"],
        summary["made_with"]["code"],
    )
    direction = f" from {text.languages[0]} to {text.languages[1]}" if len(text.languages) == 2 else ""
    front_matter = {
        **({"language": list(text.languages)} if text.languages else {}),
        "library_name": "nmt",
        "pipeline_tag": "translation",
        "tags": ["translation", "recurrent-neural-network", summary["model_type"]],
    }
    facts = {
        "Text": ", ".join(text.train),
        "Sentence pairs": f"{summary['train_pairs']:,}; those with more than {summary['max_words']} words on a side "
        "are left out",
        "Development text": ", ".join(text.dev),
        "Continues from": summary["continue_from"],
        "Updates": f"{summary['updates']:,} of {training['batch_size']} pairs ({summary['epochs']:.2f} epochs)",
        "Optimizer": f"{training['optimizer']}, learning rate {training['learning_rate']:g}, "
        f"gradient norm at most {training['clip_norm']:g}",
        "Sizes": f"{architecture['hidden_units']:,} hidden units, embeddings of {architecture['embedding_size']:,}",
        "NLL per sentence (nats)": f"training {summary['train_nll']:.2f}, development {summary['dev_nll']:.2f}",
        "Hours": f"{summary['hours']:.2f} on {summary['device']}",
        "Code": f"nmt {code['version']}, commit {code.get('commit') or 'unknown'}"
        f"{', with changes' if code.get('dirty') else ''}",
    }
    return _CARD.format(
        front_matter=yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True, width=1000),
        label=summary["label"],
        direction=direction,
        model_type=model_type,
        parameters=summary["parameters"],
        scores=_scores(text, scores),
        training="\n".join(f"| {name} | {value} |" for name, value in facts.items() if value),
    )


def _scores(text: CorpusInfo, scores: dict[str, Any] | None) -> str:
    if scores is None:
        return "None yet: the model's translations have not been evaluated."
    bleu_all, bleu_no_unk = (
        "none" if value is None else f"{value:.2f}" for value in (scores["bleu_all"], scores["bleu_no_unk"])
    )
    return _SCORES.format(
        test_set=f" on {', '.join(text.test)}" if text.test else "",
        bleu_all=bleu_all,
        bleu_no_unk=bleu_no_unk,
        **{name: scores[name] for name in ("signature", "sentences_all", "sentences_no_unk")},
    )


_CARD = """---
{front_matter}---

# {label}

Translates{direction}, one sentence at a time. {model_type.description}; {parameters:,} parameters. \
As described by {model_type.paper}; trained by a reproduction of the paper, not by its authors.

## Scores

{scores}

## Training

|  |  |
|---|---|
{training}

## Use

    nmt translate --model FOLDER < text > translation

translates raw text, one sentence per line, where FOLDER is the folder of this page. From Python:

    import nmt
    print(nmt.load("FOLDER").translate("..."))

## Files

| file | |
|---|---|
| `model.safetensors` | weights |
| `settings.json` | what the model is made of and was trained with |
| `source.tsv`, `target.tsv` | vocabularies: rank, word, count |
| `text.json` | languages, tokenization, and how to decode unless told otherwise |
| `summary.json` | what came out of the training |
| `history.jsonl` | the learning curve |
"""

_SCORES = """BLEU{test_set}, on tokens, cased ({signature}):

| Sentences | BLEU |
|---|---|
| All {sentences_all:,} sentences | {bleu_all} |
| The {sentences_no_unk:,} sentences without unknown words | {bleu_no_unk} |"""
