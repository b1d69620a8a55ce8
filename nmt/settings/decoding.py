"""Settings of decoding: beam search, systems of several models, rescoring, the sweep, translating raw text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import BatchSize, Settings, Threads, Width, WithoutDefaults
from nmt.settings.text import Languages, Tokenization

MinLength = Literal["half", "none"]
"""When a translation may end: behind half the source's length, or any time."""


Unfinished = Literal["widen", "retry", "best"]
"""What follows a search in which no translation ends: wider beams; first the same beam with the unknown word allowed,
as in the authors' code; or the best unfinished translation, which is taken in the end in any case."""


Unknown = Literal["allowed", "excluded"]
"""Whether translations of the column "All" may hold the unknown word; those of "No UNK" may where
`Unfinished` is `retry`."""


class Search(WithoutDefaults):
    """What a sweep over decoding settings leaves as `decoding` has it."""

    max_length_factor: Annotated[int, Field(ge=1, le=1000)]
    unfinished: Unfinished
    widest_beam: Width
    """A search in which nothing finishes is tried again until its beam was at least this wide."""
    widening_budget: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Work of a sentence's further searches together, in multiples of the first one's; None: as much as they take."""
    batch_size: BatchSize
    device: Literal["auto", "cpu", "cuda"]
    threads: Threads


class Decoding(Search):
    """Beam search; the defaults are the authors' (see docs/fidelity/bahdanau2015.md)."""

    beam: Width
    normalize_by_length: bool
    min_length: MinLength
    unknown: Unknown
    n_best: Width


Average = Literal["probability", "log_probability"]
"""What several models that translate together take the mean of, word by word."""


class TextSettings(Settings):
    """What a model's folder says so that the model can translate raw text: text.json, which `nmt package` writes."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """What `nmt translate` does unless it is told otherwise."""
