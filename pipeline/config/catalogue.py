"""Entries of the catalogues: where text comes from, which systems translate it."""

from __future__ import annotations

from typing import Annotated, Any, Literal
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


def check_address(url: str) -> str:
    """Return an address, or a folder, as it is.

    Raises:
        ValueError: it cannot be read.
    """
    urlsplit(url)  # raises ValueError, with its reason, for what is no address: http://[x/
    return url


class Source(Settings):
    """The address of a file, and what is known of it."""

    url: Annotated[str, Field(pattern=r"^(https?|file)://"), AfterValidator(check_address)]
    """Official address."""
    path: Annotated[str, Field(pattern=r"^[^/{}]([^{}]*[^/{}])?$")] = ""
    """Its place under a mirror and under data/archives, where PATH.json records where it came from. "": the path in the
    address."""
    bytes: PositiveInt | None = None
    """Its size. This and the checksums are verified if they are there."""
    md5: Md5 | None = None
    """Its checksum."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Its checksum."""

    @model_validator(mode="before")
    @classmethod
    def _with_path(cls, values: Any) -> Any:
        if not isinstance(values, dict) or not isinstance(values.get("url"), str):
            return values
        return {**values, "path": values.get("path") or urlsplit(values["url"]).path.strip("/")}


def hide_secrets(source: str, text: str | None = None) -> str:
    """Return a source, or a text about it, without user, password and query, which may be secret.

    Args:
        source: a folder or an address.
        text: what is told of it; None: the source itself.
    """
    if "://" not in source:
        return source if text is None else text
    parts = urlsplit(source)
    user, _, host = parts.netloc.rpartition("@")
    address = urlunsplit((parts.scheme, host, parts.path, "", ""))
    shown = source if text is None else text
    for secret, instead in ((source, address), (f"{user}@" if user else "", ""), (parts.query, "...")):
        shown = shown.replace(secret, instead) if secret else shown
    return shown


class Archive(Source):
    """A file to download, and others with the same members. All that is known of it is checked."""

    license: str | None = Field(default=None, exclude_if=lambda license: license is None)
    """Identifier of its licence at SPDX, such as CC-BY-NC-SA-4.0, for the record of results that contain its text."""
    alternatives: list[Source] = Field(default=[])
    """Other archives, of any kind, with the same members, perhaps in another folder. They have the same keys,
    and are tried in order if no source has the file itself."""


class Member(Settings):
    """One side of a corpus. The text is an archive of the catalogue, or a file of the user's, or a member of it."""

    archive: Identifier | None = None
    """Name in `archives`."""
    file: FilePath | None = Field(default=None, exclude_if=lambda file: file is None)
    """A file of your own, instead of an archive (docs/own-text.md)."""
    member: str | None = None
    """The member that holds this side. null: the archive is the text."""
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
    """train, dev or test. No sentence is in two of them."""
    pairs: PositiveInt
    """Number of pairs."""


class Corpus(Settings):
    """A catalogue entry: either two sides from somewhere or generated text."""

    source: Member | None = None
    """The side in the source language: text, .gz or .sgm."""
    target: Member | None = None
    """The side in the target language, with the same keys."""
    grammar: GrammarCorpus | None = None
    """Generated text, instead of two sides (experiments/demo)."""
    shards: Annotated[int, Field(ge=1, le=500)] = 1
    """Number of pieces that are prepared in parallel, at most 500. No result depends on it."""
    pairs: PositiveInt | None = None
    """Number of pairs that the archives must hold. null: any number."""
    tokenized: bool = False
    """Whether the text is tokenized already (docs/data.md)."""

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
    """Name in tables and figures."""
    members: Annotated[Names, Field(min_length=1, max_length=100)]
    """Runs of the models in use (`rnnsearch-50`; its second seed is `rnnsearch-50.seed-2`)."""
    average: Average = "probability"
    """The mean that is taken at each word, of probability or of log_probability."""
    decoding: Decoding
    """What differs from the shared `decoding`."""


class RescoredEntry(Settings):
    """Another system's n-best lists, rescored by the members, or without members by an oracle."""

    label: str
    """Name in tables."""
    n_best_list: Identifier
    """A name in `n_best_lists`, or a run or system in use (with its `decoding.n_best`)."""
    members: Annotated[Names, Field(min_length=1, max_length=100)] | None = None
    """Runs whose log-probability is mixed into the scores of the lists. null: the system is the oracle, which chooses
    by sentence BLEU."""
    average: Average = "probability"
    """As in `systems`."""
    weight: Share = 0.5
    """The members' share of the mixed score."""


class GrammarSettings(Settings):
    """The generated language of the demo."""

    seed: Seed
    """Seed of lexicon and sentences."""
    max_words: Annotated[int, Field(ge=12, le=1000)]
    """Longest English sentence in words, with the full stop; at least 12. Its French translation can be a quarter
    longer."""
    lexicon: Annotated[int, Field(ge=1, le=100_000)]
    """Number of invented pairs of rare words, besides the hand-written core."""
    zipf_exponent: Annotated[float, Field(gt=0, le=10)]
    """Exponent of Zipf's law."""
