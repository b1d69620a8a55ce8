"""Options of `nmt`'s commands as parts of a shell line, from the settings and the files of a rule."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

from pipeline.config.catalogue import Corpus


def option(name: str, *values: object) -> str:
    """Return `--name VALUE...`, quoted; the name may be that of a setting."""
    return shlex.join([f"--{name.replace('_', '-')}", *map(str, values)])


def known(values: Iterable[tuple[str, Any]]) -> str:
    """Return `--name VALUE` for each value that is not None."""
    return " ".join(option(name, value) for name, value in values if value is not None)


def any_of(names: Iterable[str]) -> str:
    """Return the constraint of a wildcard to some names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def members(corpus: Corpus) -> str:
    """Return what is known of both sides of a corpus (nothing if an archive is the text and has no checksum)."""
    sides = corpus.sides.items()
    values = [(f"member-{side}", text.member) for side, text in sides]
    values += [(f"md5-{side}", text.md5) for side, text in sides]
    return known([*values, ("pairs", corpus.pairs)])


def translators(folders: Iterable[str], average: str) -> str | list[str]:
    """Return the options for models that translate together, and for their average.

    Of a single model its folder alone, so that its translations are not made again.
    """
    first, *others = folders
    if not others:
        return first
    return [first, *(word for other in others for word in ("--model", other)), "--average", average]
