"""Settings of decoding: beam search, systems of several models, rescoring, translating raw text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import BatchSize, Settings, Threads, Width, WithoutDefaults, Words
from nmt.settings.text import Languages, Tokenization

MinLength = Literal["half", "none"]
"""When a translation may end: behind half the source's length, or any time."""


Unfinished = Literal["widen", "retry", "best"]
"""What follows a search in which no translation ends: wider beams; first the same beam with the unknown word allowed,
as in the authors' code; or the best unfinished translation, which is taken in the end in any case."""


Unknown = Literal["allowed", "excluded"]
"""Whether translations of the column "All" may hold the unknown word; those of "No UNK" may where
`Unfinished` is `retry`."""


Device = Literal["auto", "cpu", "cuda"]
"""auto: the GPU where there is one."""


class Decoding(WithoutDefaults):
    """Beam search; the defaults are the authors' (see docs/fidelity/bahdanau2015.md)."""

    max_length_factor: Annotated[int, Field(ge=1, le=1000)]
    unfinished: Unfinished
    widest_beam: Width
    """A search in which nothing finishes is tried again until its beam was at least this wide."""
    widening_budget: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Work of a sentence's further searches together, in multiples of the first one's; None: as much as they take."""
    batch_size: BatchSize
    device: Device
    threads: Threads
    beam: Width
    normalize_by_length: bool
    min_length: MinLength
    unknown: Unknown
    n_best: Width


Average = Literal["probability", "log_probability"]
"""What several models that translate together take the mean of, word by word."""


class TextSettings(Settings):
    """What a model's folder says so that the model can translate raw text: text.json, of `nmt model package`."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """What `nmt translate` does unless it is told otherwise."""


UnknownWords = Literal["keep", "forbid", "copy"]
"""Words that the model cannot write: [UNK] stays, is forbidden, or gives way to the source word with most attention."""


SearchPrecision = Literal["fp32", "bf16", "int8"]
"""The number type of the factors of a search's matrix products."""


class Computing(Settings):
    """How a trained model computes for its user, who calls from Python or the command line. None: as the model says."""

    device: Device = "auto"
    threads: Threads | None = None
    precision: SearchPrecision = "fp32"
    batch_size: BatchSize | None = None


class Asked(Settings):
    """What its user asks of translations, from Python or on the command line. None: as the model decodes."""

    beam_size: Width | None = None
    n_best: Width = 1
    """Widens a beam that is narrower."""
    unknown: UnknownWords | None = None
    tokenized: bool = False
    max_words: Words = 100
    """Longer lines are translated in pieces of so many tokens."""
