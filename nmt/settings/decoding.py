"""Settings of decoding: beam search, systems of several models, rescoring, translating raw text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import BatchSize, Settings, Threads, Width, WithoutDefaults, Words
from nmt.settings.text import Languages, Tokenization

MinLength = Literal["half", "none"]
"""When a translation may end: after half the source's length, or at any time."""


Unfinished = Literal["widen", "retry", "best"]
"""What is done after a search in which no translation ends. `widen`: search again with wider beams. `retry`: as in the
authors' code, first search again with the unknown word allowed. `best`: take the best unfinished translation."""


Unknown = Literal["allowed", "excluded"]
"""Whether translations of all sentences may contain the unknown word. Translations of the column "No UNK" may only
contain it if `unfinished` is `retry`."""


Device = Literal["auto", "cpu", "cuda"]
"""`auto` is the GPU if there is one."""


class Decoding(WithoutDefaults):
    """Settings of beam search. Those of the authors are in docs/fidelity/bahdanau2015.md."""

    max_length_factor: Annotated[int, Field(ge=1, le=1000)]
    unfinished: Unfinished
    widest_beam: Width
    """If nothing finishes, the search is repeated until its beam size was at least this number."""
    widening_budget: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Limit for the work of all repeated searches of a sentence, as a multiple of the first search; None: no limit."""
    batch_size: BatchSize
    device: Device
    threads: Threads
    beam: Width
    normalize_by_length: bool
    min_length: MinLength
    unknown: Unknown
    n_best: Width


Average = Literal["probability", "log_probability"]
"""The quantity that an ensemble averages, word by word."""


class TextSettings(Settings):
    """The settings with which a model translates raw text: text.json in its folder, by `nmt model package`."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """The default settings of `nmt translate`."""


UnknownWords = Literal["keep", "forbid", "copy"]
"""What is done about words that the model cannot write. [UNK] is kept, forbidden, or replaced by the source word with
most attention."""


SearchPrecision = Literal["fp32", "bf16", "int8"]
"""The number type of the factors in the matrix products of a search."""


class Computing(Settings):
    """How a trained model computes, as asked for in Python or on the command line. None is the model's own setting."""

    device: Device = "auto"
    threads: Threads | None = None
    precision: SearchPrecision = "fp32"
    batch_size: BatchSize | None = None


class Asked(Settings):
    """What is asked of translations in Python or on the command line. None is the model's own setting."""

    beam_size: Width | None = None
    n_best: Width = 1
    """A smaller beam size is raised to this number."""
    unknown: UnknownWords | None = None
    tokenized: bool = False
    max_words: Words = 100
    """Longer lines are translated in pieces of at most this many tokens."""
