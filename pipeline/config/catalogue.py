"""Entries of the catalogues: where text comes from, which systems translate it."""

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from nmt.settings.base import Fraction, Identifier, Names, PositiveInt, Seed, Settings
from nmt.settings.decoding import Average, Decoding

Md5 = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]

FilePath = Annotated[str, Field(pattern=r"^[^{}]+$")]
"""A path that becomes part of a rule's files, in which Snakemake would take braces for wildcards."""
NonemptyNames = Annotated[Names, Field(min_length=1)]
Split = Literal["train", "dev", "test"]


class Source(Settings):
    """The address of a file, its size and its checksums."""

    url: Annotated[str, Field(pattern=r"^(https?|file)://[^\[\]]*$")]
    """Official address."""
    path: Annotated[str, Field(pattern=r"^[^/{}]([^{}]*[^/{}])?$")] = ""
    """Path under a mirror and under data/archives. "": the path in the address."""
    bytes: PositiveInt | None = None
    """Size, verified if it is given, as the checksums are."""
    md5: Md5 | None = None
    """Checksum."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Checksum."""

    @model_validator(mode="before")
    @classmethod
    def _complete_path(cls, values: Any) -> Any:
        """Return values that are not validated yet. If they have no path, it is the path in the address."""
        if isinstance(values, dict) and isinstance(values.get("url"), str) and not values.get("path"):
            return {**values, "path": urlsplit(values["url"]).path.strip("/")}
        return values


def hide_secrets(text: str) -> str:
    """Return an address, or a message with addresses, without user, password, query and fragment, which may be secret.

    Example: https://user:password@host/path?token=secret -> https://host/path
    """
    without_user = re.sub(r"://[^/?\s]*@", "://", text)
    # in a message of urllib3, the path alone may follow "url: "; the name of a folder may contain # or ?
    return re.sub(r"((?:://|url: /)[^\s?#]*)[?#]\S*", r"\1", without_user)


class Archive(Source):
    """A file to download, and other files with the same members. Sizes and checksums are checked."""

    license: str | None = None
    """SPDX identifier of the licence, such as CC-BY-NC-SA-4.0, for the record of results."""
    alternatives: list[Source] = Field(default=[])
    """Other archives with the same members, tried in order if no source has the file itself."""


class Member(Settings):
    """One side of a corpus. The text is an archive of the catalogue, or a file of the user's, or a member of it."""

    archive: Identifier | None = None
    """Name in `archives`."""
    file: FilePath | None = None
    """A file of your own, instead of an archive (docs/own-text.md)."""
    member: str | None = None
    """Path of this side in the archive. null: the archive is the text."""
    md5: Md5 | None = None
    """Checksum of the member in the archive."""

    @model_validator(mode="after")
    def _check_one_origin(self) -> Self:
        has_archive, has_file = self.archive is not None, self.file is not None
        if has_archive == has_file:
            raise ValueError("a side of a corpus is in either an `archive` or a `file`")
        return self


class GrammarCorpus(Settings):
    """A corpus that the project's own grammar writes."""

    split: Split
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
    """Number of parts that are prepared in parallel. No result depends on it."""
    pairs: PositiveInt | None = None
    """Number of pairs that the archives must hold. null: any number."""
    tokenized: bool = False
    """Whether the text is already tokenized (docs/data.md#tokenized-text)."""

    @property
    def sides(self) -> dict[str, Member]:
        """Both sides by name, or no sides if the text is generated."""
        sides = {"source": self.source, "target": self.target}
        return {name: side for name, side in sides.items() if side}

    @model_validator(mode="after")
    def _check_one_origin(self) -> Self:
        expected_sides = 2 if self.grammar is None else 0
        if len(self.sides) != expected_sides:
            raise ValueError("a corpus has either `source` and `target`, or `grammar`")
        if self.grammar and (self.pairs or self.tokenized):
            raise ValueError(
                "a corpus with `grammar` cannot have `tokenized`, or `pairs` outside of `grammar`"
            )
        return self


class SystemEntry(Settings):
    """A system that trains nothing: runs that translate together, or one run with a different decoding.

    `decoding` holds only what differs from the shared block.
    """

    label: str
    """Name in tables and figures."""
    members: NonemptyNames
    """Runs of the models in use (`rnnsearch-50`; its second seed is `rnnsearch-50.seed-2`)."""
    average: Average = "probability"
    """Mean of the members at each word: of probability or of log_probability."""
    decoding: Decoding
    """Differences from the shared `decoding`."""


class RescoredEntry(Settings):
    """Another system's n-best lists, rescored by the members, or without members by an oracle."""

    label: str
    """Name in tables."""
    n_best_list: Identifier
    """A name in `n_best_lists`, or a run or system in use (with its `decoding.n_best`)."""
    members: NonemptyNames | None = None
    """Runs whose log-probability is interpolated with the scores of the lists. null: an oracle, which chooses by
    sentence BLEU."""
    average: Average = "probability"
    """As in `systems`."""
    weight: Fraction = 0.5
    """Weight of the members in the interpolated score."""


class GrammarSettings(Settings):
    """The generated language of the demo."""

    seed: Seed
    """Seed of lexicon and sentences."""
    max_words: Annotated[int, Field(ge=12, le=1000)]
    """Maximum words of an English sentence, with the full stop."""
    lexicon: PositiveInt
    """Number of invented pairs of rare words, besides the hand-written core."""
    zipf_exponent: Annotated[float, Field(gt=0, le=10)]
    """Exponent of Zipf's law."""
