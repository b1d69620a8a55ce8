"""Files of translations and of alignments, JSON lines with one object per sentence; and the record of how one was made.

A file of translations has the same bytes whenever and wherever it is made. What differs from run to run is in the
record beside it: settings, weights, code, packages, machine, time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, FiniteFloat, model_validator

from nmt.errors import UserError
from nmt.io.compression import name_without_compression
from nmt.io.files import sha256, write_json
from nmt.io.system import describe_environment
from nmt.io.text_files import read_lines
from nmt.settings.base import parse_json_settings, read_settings
from nmt.settings.decoding import Average, Decoding

Count = Annotated[int, Field(ge=0)]


def split_words(text: str) -> list[str]:
    """Return the words of a tokenized sentence, split at white space as in training."""
    return text.split()


Words = Annotated[
    list[str], BeforeValidator(lambda value: split_words(value) if isinstance(value, str) else value)
]


class NBestTranslation(BaseModel, frozen=True, strict=True, validate_by_name=True):
    """An entry of an n-best list."""

    target: Words = Field(validation_alias=AliasChoices("tokens", "target", "text"))
    log_probability: FiniteFloat


class TranslationRecord(BaseModel, frozen=True, strict=True, validate_by_name=True):
    """A sentence pair with the attention between its sides; the file may have other keys.

    `source` and `target` are tokens. Their keys are `source_tokens` and `tokens` as in `nmt translate --json`; packages
    of earlier runs have `source` and `text`. The target was generated, or is the reference. `alignment` is T' x S': a
    row for each target word, then perhaps one for the end symbol (an unfinished translation has none); a column for
    each source word, then perhaps one for the end symbol. It is None without attention. `source_unknown` is the number
    of source words that the model does not know. `n_best` has the best first, if a list was kept.
    """

    line: Count
    source: Words = Field(validation_alias=AliasChoices("source_tokens", "source"))
    target: Words = Field(validation_alias=AliasChoices("tokens", "target", "text"))
    alignment: list[list[float]] | None = None
    finished: bool = True
    source_unknown: Count = 0
    n_best: list[NBestTranslation] = []

    @model_validator(mode="after")
    def _shape(self) -> Self:
        """An alignment has the shape of its words, on each side with or without the end symbol."""
        if self.alignment is not None:
            rows, columns = len(self.alignment), {len(row) for row in self.alignment}
            target, source = len(self.target), len(self.source)
            if rows not in (target, target + 1) or not columns <= {source, source + 1} or len(columns) > 1:
                raise ValueError(
                    f"expected an alignment of {target} (+1) target x {source} (+1) source words"
                )
        return self


def provenance_path(translations: Path) -> Path:
    """Return the path of the record of translations: `NAME.provenance.json` beside NAME.jsonl, compressed or not."""
    return translations.with_name(
        f"{name_without_compression(translations).removesuffix('.jsonl')}.provenance.json"
    )


def sha256_of_lines(path: Path) -> str:
    """Return the SHA-256 of a file's lines, whether the file is compressed or not."""
    total = hashlib.sha256()
    for line in read_lines(path):
        total.update(f"{line}\n".encode())
    return total.hexdigest()


def read_translations(path: str | Path) -> Iterator[TranslationRecord]:
    """Yield the records that `nmt test-set decode` or `align` wrote."""
    path = Path(path)
    if provenance_path(path).is_file():
        check_unaltered(path)
    for number, line in enumerate(read_lines(path), start=1):
        yield parse_json_settings(TranslationRecord, line, f"{path}, line {number}", "make the file again")


def read_plain(path: str | Path, count: int) -> list[list[str]]:
    """Read another system's tokenized translations, one per line, of a set with this number of sentences."""
    lines = [line.split() for line in read_lines(path)]
    if len(lines) != count:
        raise UserError(
            f"{path} has {len(lines)} lines, the test set {count}: expected one translation per line, tokenized"
        )
    return lines


# --- how a file was made ----------------------------------------------------------------------------------------------


class _Weights(BaseModel, extra="allow"):
    name: str
    sha256: str


class _Provenance(BaseModel, extra="allow"):
    """The keys that are checked; the record has others."""

    mode: str
    settings: dict[str, Any]
    models: list[_Weights]
    sentences: int
    seconds: float
    device: str
    made_with: dict[str, Any]
    lines: str | None = None
    """The checksum of the translations' lines, which the first versions did not have."""


def initial_provenance(
    mode: str, settings: Decoding, weights: Sequence[Path], device: str, average: Average = "probability"
) -> dict[str, Any]:
    """Return what is known before the first sentence of a translation with models of these weights.

    Code and weights may change before it ends.
    """
    return {
        "mode": mode,
        "settings": settings.model_dump(mode="json"),
        "models": [{"name": file.parent.name, "sha256": sha256(file)} for file in weights],
        **({"average": average} if len(weights) > 1 else {}),
        "device": device,
        "made_with": describe_environment(),
    }


def write_provenance(
    record: Mapping[str, Any], translations: Path, sentences: int, seconds: float, resumed: bool
) -> None:
    """Write the record beside finished translations.

    Args:
        record: of `initial_provenance`.
        translations: the file.
        sentences: number of its sentences.
        seconds: time of translating, with that of killed processes.
        resumed: whether processes were killed; code and machine are those of the last process.
    """
    provenance_path(translations).unlink(missing_ok=True)  # that of earlier ones
    done = {"sentences": sentences, "seconds": round(seconds, 3), "resumed": resumed}
    lines = sha256_of_lines(translations)
    write_json(provenance_path(translations), {**record, **done, "lines": lines})


def write_model_names(translations: Path, names: Sequence[str]) -> int:
    """Write the models' names into the record beside translations, and return the number of sentences."""
    record = read_provenance(translations)
    models = [{**model, "name": name} for model, name in zip(record["models"], names, strict=True)]
    write_json(provenance_path(translations), {**record, "models": models})
    return int(record["sentences"])


def read_provenance(translations: Path) -> dict[str, Any]:
    """Read the record beside a file of translations. Raise a UserError if it is missing, or not such a record."""
    return read_settings(_Provenance, provenance_path(translations), "decode again").model_dump()


def check_unaltered(translations: Path) -> None:
    """Raise a UserError unless the record beside translations belongs to them."""
    if read_provenance(translations)["lines"] not in (None, sha256_of_lines(translations)):
        raise UserError(
            f"{translations}: altered since it was decoded: {provenance_path(translations)} has another checksum;"
            " decode again"
        )
