"""The rules that text.js needs: normalization, abbreviations of a language, and classes of characters."""

from collections.abc import Iterable
from typing import Any

from nmt.data import normalization
from nmt.data.moses import load_moses_rules, sacremoses
from nmt.settings.text import Normalization

_NUMERIC = "#NUMERIC_ONLY#"
"""What sacremoses writes after an abbreviation that keeps its full stop only before a number."""


def collect_rules(language: str, form: Normalization) -> dict[str, Any]:
    """Return the rules of text in a source language.

    Returns:
        `normalization`: the rules of a form of normalization; `prefixes`: abbreviations that keep their full stop,
        always (`plain`) or before a number (`numeric`); `classes`: the inside of a class of characters in a pattern.
    """
    tokenizer = load_moses_rules(language, form)
    prefixes: dict[str, list[str]] = {"plain": [], "numeric": []}
    for prefix in tokenizer.NONBREAKING_PREFIXES:
        if _NUMERIC in prefix:
            prefixes["numeric"].append(prefix.rpartition(" ")[0])
        else:
            prefixes["plain"].append(prefix)

    characters = {
        "alpha": tokenizer.IsAlpha,
        "alnum": tokenizer.IsAlnum,
        "number": tokenizer.IsN,
        "lower": tokenizer.IsLower,
        "currency": tokenizer.IsSc,
        "detokenized": sacremoses.MosesDetokenizer.IsAlpha,  # what the detokenizer takes for letters
    }
    classes = {name: _format_class(_find_ranges(letters)) for name, letters in characters.items()}
    classes["cjk"] = _format_class(sacremoses.util.CJKChars().ranges)
    return {"normalization": normalization.make_browser_rules(form), "prefixes": prefixes, "classes": classes}


def _find_ranges(characters: Iterable[str]) -> list[tuple[int, int]]:
    """Return the first and last code points of ranges of consecutive characters: "abcx" -> [(97, 99), (120, 120)]."""
    ranges: list[tuple[int, int]] = []
    for code in sorted(set(map(ord, characters))):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return ranges


def _format_class(ranges: Iterable[tuple[int, int]]) -> str:
    """Return the inside of a class of characters in a regular expression of JavaScript with the flag u."""
    pattern = ""
    for start, end in ranges:
        pattern += f"\\u{{{start:x}}}"
        if end > start:
            pattern += f"-\\u{{{end:x}}}"
    return pattern
