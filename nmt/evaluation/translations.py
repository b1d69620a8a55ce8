"""Files of translations and of alignments: JSON lines with one object per sentence, and their provenance files.

A file of translations has the same bytes whenever and wherever it is written. What differs from run to run is in its
provenance file, in the same folder: settings, weights, code, packages, machine, time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, FiniteFloat, model_validator

from nmt.errors import UserError
from nmt.evaluation.attention import measure_attention
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


class NBestTranslation(BaseModel, frozen=True, strict=True):
    """A translation in the n-best list of a sentence."""

    tokens: list[str]
    log_probability: FiniteFloat


class TranslationRecord(BaseModel, frozen=True, strict=True, validate_by_name=True):
    """A sentence, its translation, and the attention between them. Other keys of the file are ignored.

    Attributes:
        line: number of the sentence in the test set, from 0.
        source: S source tokens. The key is `source_tokens`, as in `nmt translate --json`.
        target: T target tokens, which a model has generated, or those of the reference. The key is `tokens`.
        alignment: attention, a row for each target token and a column for each source token, perhaps followed by those
            of the end symbols; (T, S) to (T + 1, S + 1). An unfinished translation has no end symbol. None: the model
            has no attention.
        log_probability: of the translation in nats, with the end symbol if it is finished; None: not recorded.
        finished: whether the translation ends with the end symbol.
        source_unknown: number of source words that the model does not know.
        n_best: the best translations, best first, if they were kept.
    """

    line: Count
    source: list[str] = Field(validation_alias="source_tokens")
    target: list[str] = Field(validation_alias="tokens")
    alignment: list[list[float]] | None = None
    log_probability: FiniteFloat | None = None
    finished: bool = True
    source_unknown: Count = 0
    n_best: list[NBestTranslation] = []

    @model_validator(mode="after")
    def _check_alignment(self) -> Self:
        """Check that the alignment has the shape of its tokens, on each side with or without the end symbol."""
        if self.alignment is None:
            return self
        T, S = len(self.target), len(self.source)
        # all rows have S columns, or all have S + 1; without target tokens, there may be no row
        column_counts = {len(row) for row in self.alignment}
        has_columns = column_counts in ({S}, {S + 1}, set())
        if not has_columns or len(self.alignment) not in (T, T + 1):
            raise ValueError(f"expected an alignment of {T} (+1) target x {S} (+1) source words")
        return self


def sha256_of_lines(path: Path) -> str:
    """Return the SHA-256 of a file's lines, whether the file is compressed or not."""
    digest = hashlib.sha256()
    for line in read_lines(path):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def read_translations(path: Path) -> Iterator[TranslationRecord]:
    """Yield the sentences of a file that `nmt test-set decode` or `align` wrote.

    Raises:
        UserError: a line is malformed, or the file was altered after its provenance file was written.
    """
    if provenance_path(path).is_file():
        check_unaltered(path)
    for number, line in enumerate(read_lines(path), start=1):
        yield parse_json_settings(TranslationRecord, line, f"{path}, line {number}", "make the file again")


# --- provenance -------------------------------------------------------------------------------------------------------


class _Weights(BaseModel, extra="allow"):
    name: str
    sha256: str


class _Provenance(BaseModel, extra="allow"):
    """The keys of a provenance file that are checked; it has others."""

    mode: str
    settings: dict[str, Any]
    models: list[_Weights]
    sentences: int
    seconds: float
    device: str
    made_with: dict[str, Any]
    attention: dict[str, float] = {}
    """The statistics of `measure_attention`; empty without attention, and in packages of earlier versions."""
    lines: str
    """The checksum of the translations' lines."""


def provenance_path(translations: Path) -> Path:
    """Return the path of the provenance file: `NAME.provenance.json` beside NAME.jsonl, compressed or not."""
    name = name_without_compression(translations).removesuffix(".jsonl")
    return translations.with_name(f"{name}.provenance.json")


def initial_provenance(
    mode: str,
    settings: Decoding,
    weights: Sequence[Path],
    device: str,
    average: Average = "probability",
) -> dict[str, Any]:
    """Return the part of a provenance file that is known before the translation begins.

    Code and weights are described before they are used, since somebody may change them during the translation.
    average: whether an ensemble averages probabilities or their logarithms.
    """
    provenance: dict[str, Any] = {
        "mode": mode,
        "settings": settings.model_dump(mode="json"),
        "models": [{"name": file.parent.name, "sha256": sha256(file)} for file in weights],
        "device": device,
        "made_with": describe_environment(),
    }
    if len(weights) > 1:
        provenance["average"] = average
    return provenance


def write_provenance(provenance: Mapping[str, Any], translations: Path) -> None:
    """Write the provenance file of finished translations.

    provenance: `initial_provenance`, and the entries that `nmt.decoding.sentence_sets.translate_file` returns.
    """
    # Remove an earlier file first, so that it does not describe these translations if the process is killed now.
    provenance_path(translations).unlink(missing_ok=True)
    alignments = (sentence.alignment or [] for sentence in read_translations(translations))
    content = {"attention": measure_attention(alignments), "lines": sha256_of_lines(translations)}
    write_json(provenance_path(translations), {**provenance, **content})


def read_provenance(translations: Path) -> dict[str, Any]:
    """Return the provenance of translations. Raise a UserError if its file is missing or malformed."""
    return read_settings(_Provenance, provenance_path(translations), "decode again").model_dump(
        exclude_unset=True
    )


def check_unaltered(translations: Path) -> None:
    """Raise a UserError unless the lines of translations have the checksum in their provenance file."""
    if read_provenance(translations)["lines"] != sha256_of_lines(translations):
        raise UserError(
            f"{translations}: altered since it was decoded: {provenance_path(translations)} has a different checksum;"
            " decode again"
        )
