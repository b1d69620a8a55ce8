"""What text.js needs of Moses' rules: abbreviations of a language, and classes of characters as parts of patterns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nmt.data.tokenization import sacremoses

_NUMERIC = "#NUMERIC_ONLY#"


def rules(source: str) -> dict[str, Any]:
    """The rules for text of a source language."""
    moses = sacremoses.MosesTokenizer(lang=source)
    known = moses.NONBREAKING_PREFIXES
    classes = {
        "alpha": moses.IsAlpha,
        "alnum": moses.IsAlnum,
        "number": moses.IsN,
        "lower": moses.IsLower,
        "currency": moses.IsSc,
    }
    return {
        "prefixes": {
            "plain": [word for word in known if _NUMERIC not in word],
            "numeric": [word.rpartition(" ")[0] for word in known if _NUMERIC in word],
        },
        "classes": {name: _pattern(_ranges(map(ord, characters))) for name, characters in classes.items()}
        | {"cjk": _pattern(sacremoses.util.CJKChars().ranges)},
    }


def _ranges(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of each row of neighbours."""
    ordered = sorted(set(codes))
    first = 0
    for place, code in enumerate(ordered):
        if place + 1 == len(ordered) or ordered[place + 1] != code + 1:
            yield ordered[first], code
            first = place + 1


def _pattern(ranges: Iterable[tuple[int, int]]) -> str:
    """The inside of a class in a regular expression of JavaScript with the flag u."""
    return "".join(
        f"\\u{{{first:x}}}" + (f"-\\u{{{last:x}}}" if last > first else "") for first, last in ranges
    )
