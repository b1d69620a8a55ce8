"""Entries of the catalogues: where text comes from, which systems translate it."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, Field, model_validator

from nmt.settings.base import Identifier, Names, PositiveInt, Seed, Settings, Share
from nmt.settings.decoding import Average, Decoding

Md5 = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


def _without_braces(path: str) -> str:
    if {"{", "}"} & set(path):
        raise ValueError("expected no braces, which are Snakemake's wildcards: rename it")
    return path


FilePath = Annotated[str, Field(min_length=1), AfterValidator(_without_braces)]
"""A path that becomes part of a rule's files."""


class Source(Settings):
    """The address of a file, and what is known of it."""

    url: Annotated[str, Field(pattern=r"^(https?|file)://")]
    path: Annotated[str, Field(pattern=r"^[^/{}][^{}]*[^/{}]$")]
    """Its path under a mirror, without braces, which Snakemake takes for wildcards."""
    bytes: PositiveInt | None = None
    md5: Md5 | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


def public(source: str, text: str | None = None) -> str:
    """Return a source, or a text about it, without user, password and query, which may be secret.

    Args:
        source: a folder or an address.
        text: what is told of it; None: the source itself.
    """
    if "://" not in source:
        return source if text is None else text
    try:
        parts = urlsplit(source)
    except ValueError:  # no address that anybody can ask
        return "an address that cannot be read" if text is None else text.replace(source, "the address")
    user, _, host = parts.netloc.rpartition("@")
    address = urlunsplit((parts.scheme, host, parts.path, "", ""))
    shown = source if text is None else text
    for secret, instead in ((source, address), (f"{user}@" if user else "", ""), (parts.query, "...")):
        shown = shown.replace(secret, instead) if secret else shown
    return shown


class Archive(Source):
    """A file to download, and others with the same members. All that is known of it is checked."""

    alternatives: list[Source] = Field(default=[])
    """Other archives, tried in order if no source has the file itself."""


class Member(Settings):
    """One side of a corpus. The text is an archive of the catalogue, or a file of the user's, or a member of it."""

    archive: Identifier | None = None
    file: FilePath | None = Field(default=None, exclude_if=lambda file: file is None)
    member: str | None = None
    md5: Md5 | None = None
    """Checksum of the member (as it lies in the archive), whatever archive it came in."""

    @model_validator(mode="after")
    def _one_place(self) -> Member:
        if (self.archive is None) == (self.file is None):
            raise ValueError("a side of a corpus is in either an `archive` or a `file`")
        return self


class GrammarCorpus(Settings):
    """A corpus that the project's own grammar writes."""

    split: Literal["train", "dev", "test"]
    pairs: PositiveInt


class Corpus(Settings):
    """A catalogue entry: either two sides from somewhere or generated text."""

    source: Member | None = None
    target: Member | None = None
    grammar: GrammarCorpus | None = None
    shards: Annotated[int, Field(ge=1, le=500)] = 1
    """Shards of the text. The command that makes them names each, and a command has at most 128 KB."""
    pairs: PositiveInt | None = None
    """Pairs that the archives must hold; None: any number."""
    tokenized: bool = False
    """Whether the text is tokenized already."""

    @property
    def sides(self) -> dict[str, Member]:
        """Return source and target, unless the text is generated."""
        return {name: side for name, side in (("source", self.source), ("target", self.target)) if side}

    @model_validator(mode="after")
    def _one_origin(self) -> Corpus:
        files = self.source is not None and self.target is not None
        neither = self.source is None and self.target is None
        if not (files and self.grammar is None) and not (neither and self.grammar is not None):
            raise ValueError("a corpus has either `source` and `target`, or `grammar`")
        if self.grammar is not None and (self.pairs is not None or self.tokenized):
            raise ValueError(
                "generated text has no `pairs` beside those of `grammar`, and is not `tokenized`"
            )
        return self


class SystemEntry(Settings):
    """A system that trains nothing: runs that translate together, or one run with another decoding.

    `decoding` holds only what differs from the shared block.
    """

    label: str
    members: Annotated[Names, Field(min_length=1, max_length=100)]
    average: Average = "probability"
    decoding: Decoding


class RescoredEntry(Settings):
    """Another system's n-best lists, rescored by the members, or without members by an oracle."""

    label: str
    lists: Identifier
    """The lists: a name in `n_best_lists`, or a run or system in use."""
    members: Annotated[Names, Field(min_length=1, max_length=100)] | None = None
    average: Average = "probability"
    weight: Share = 0.5
    """The members' share of the mixed score."""


class GrammarSettings(Settings):
    """The generated language of the demo."""

    seed: Seed
    max_words: Annotated[int, Field(ge=12, le=1000)]
    """Longest sentence in words. Every kind of clause fits into the least value."""
    lexicon: Annotated[int, Field(ge=1, le=100_000)]
    zipf_exponent: Annotated[float, Field(gt=0, le=10)]
