"""Options of `nmt`'s commands as parts of a shell line, from the settings and the files of a rule."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

from pipeline.config.catalogue import Archive, Member
from pipeline.config.job_settings import as_json
from pipeline.config.schema import Config


def option(name: str, *values: object) -> str:
    """Return `--name VALUE...`, quoted."""
    return shlex.join([f"--{name}", *map(str, values)])


def repeated(name: str, values: Iterable[object]) -> str:
    """Return `--name VALUE` for each value."""
    return " ".join(option(name, value) for value in values)


def known(values: Iterable[tuple[str, Any]]) -> str:
    """Return `--name VALUE` for each value that is not None."""
    return " ".join(option(name, value) for name, value in values if value is not None)


# --- text -------------------------------------------------------------------------------------------------------------


def any_of(names: Iterable[str]) -> str:
    """Return the constraint of a wildcard to some names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def archive_at(config: Config, path: str) -> Archive:
    """Return the entry of the catalogue that describes a file."""
    return next(archive for archive in config.archives.values() if archive.path == path)


def place_of(config: Config, side: Member) -> str:
    """Return the file that holds a side of a corpus: an archive's, or one's own."""
    return f"data/archives/{config.archives[side.archive].path}" if side.archive else str(side.file)


def archive(config: Config, path: str) -> str:
    """Return the options for address and known checksums of an archive."""
    values = archive_at(config, path).model_dump(exclude={"alternatives"}, exclude_none=True)
    return known(values.items())


def other_sources(config: Config, path: str) -> str:
    """Return the options for mirrors, and for other archives with the same members."""
    others = archive_at(config, path).alternatives
    alternatives = [as_json(other.model_dump(exclude_none=True)) for other in others]
    return f"{repeated('mirror', config.mirrors)} {repeated('alternative', alternatives)}"


def members(config: Config, corpus: str) -> str:
    """Return the options for the members of both sides (none if the archive is the text) and their checksums."""
    entry = config.corpora[corpus]
    sides = [("source", entry.source), ("target", entry.target)]
    values = [(f"member-{side}", text.member) for side, text in sides if text]
    values += [(f"md5-{side}", text.md5) for side, text in sides if text]
    return known([*values, ("pairs", entry.pairs)])


def shards(config: Config, corpora: Iterable[str]) -> str:
    """Return `--corpus NAME SHARDS` for each corpus."""
    return " ".join(option("corpus", corpus, config.corpora[corpus].shards) for corpus in corpora)


# --- models, results --------------------------------------------------------------------------------------------------


def translators(folders: Iterable[str], average: str) -> str | list[str]:
    """Return the options for models that translate together, and for their average.

    Of a single model its folder alone, so that its translations are not made again.
    """
    first, *others = folders
    if not others:
        return first
    return [first, *(word for other in others for word in ("--model", other)), "--average", average]


def text_of_card(config: Config) -> str:
    """Return what a model's card says of its text."""
    parts = [("train", config.use.train), ("dev", config.use.dev), ("test", config.use.test)]
    corpora = " ".join(repeated(name, names) for name, names in parts)
    return f"{option('languages', config.languages.source, config.languages.target)} {corpora}"


# --- phrase-based system ----------------------------------------------------------------------------------------------


def moses_order(config: Config) -> int | str:
    """Return the order of the language model, and the amount of its monolingual text if that is limited."""
    order, words = config.moses.lm_order, config.moses.lm_words
    return f"{order} {option('also-words', words)}" if words else order
