"""What text.js needs: normalization, abbreviations of a language, and classes of characters as parts of patterns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nmt.data import normalization
from nmt.data.moses import load_moses_rules, sacremoses
from nmt.settings.text import Normalization

_NUMERIC = "#NUMERIC_ONLY#"


def collect_rules(source: str, form: Normalization) -> dict[str, Any]:
    """Return the rules for text of a source language, which is normalized first."""
    tokenizer = load_moses_rules(source, form)
    known = tokenizer.NONBREAKING_PREFIXES
    classes = {
        "alpha": tokenizer.IsAlpha,
        "alnum": tokenizer.IsAlnum,
        "number": tokenizer.IsN,
        "lower": tokenizer.IsLower,
        "currency": tokenizer.IsSc,
        "detokenized": sacremoses.MosesDetokenizer.IsAlpha,  # letters, to the detokenizer
    }
    return {
        "normalization": normalization.browser_rules(form),
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
