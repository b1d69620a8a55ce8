"""Settings of decoding: beam search, systems of several models, rescoring, the sweep, translating raw text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.config.base import BatchSize, Identifier, Settings, Share, Threads, Width, WithoutDefaults
from nmt.config.text import Languages, Tokenization

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


class SystemEntry(Settings):
    """A system that trains nothing: runs that translate together, or one that translates in another way.

    `decoding` holds only what differs from the shared block.
    """

    label: str
    members: Annotated[list[Identifier], Field(min_length=1, max_length=100)]
    average: Average = "probability"
    decoding: Decoding


class RescoredEntry(Settings):
    """Another system's n-best lists rescored by the members, or without members as an oracle would choose."""

    label: str
    lists: Identifier
    """Whose: a name in `n_best_lists`, or a run or system in use."""
    members: Annotated[list[Identifier], Field(min_length=1, max_length=100)] | None = None
    average: Average = "probability"
    weight: Share = 0.5
    """The members' share of the mixed score."""


class Grid(Settings):
    """Decoding settings that a sweep tries: each of these values with each."""

    beams: Annotated[list[Width], Field(min_length=1)]
    normalize_by_length: Annotated[list[bool], Field(min_length=1)]
    min_length: Annotated[list[MinLength], Field(min_length=1)]
    unknown: Annotated[list[Unknown], Field(min_length=1)]


class Sweep(Grid):
    """The sweep over decoding settings, a target of its own."""

    models: Annotated[list[Identifier], Field(min_length=1)]


class SweepRun(Grid, Search):
    """All that decides a sweep's scores, besides model and text: what `nmt sweep --settings` reads."""


class TextSettings(Settings):
    """What a model's folder says so that the model can translate raw text: text.json, which `nmt package` writes."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """What `nmt translate` does unless it is told otherwise."""
