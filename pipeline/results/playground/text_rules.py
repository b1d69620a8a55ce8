"""The rules that text.js needs: normalization, abbreviations of a language, and classes of characters."""

from typing import Any

from nmt.data import detokenization, normalization
from nmt.data.characters import format_ranges
from nmt.data.moses import load_moses_rules, sacremoses
from nmt.data.parts_of_words import PartsOfWords
from nmt.settings.text import Normalization

_NUMERIC = "#NUMERIC_ONLY#"
"""What sacremoses writes after an abbreviation that keeps its full stop only before a number."""


def collect_rules(language: str, form: Normalization) -> dict[str, Any]:
    """Return the rules for text in a source language.

    Returns:
        `normalization`: the rules of a form of normalization. `parts`: marks and emoji that Moses' rules would cut from
        their words. `prefixes`: abbreviations that keep their full stop, always (`plain`) or before a number
        (`numeric`). `classes`: ranges of characters for [...] in a pattern. `wrongSpace`: the pattern of spaces that no
        language has.
    """
    tokenizer = load_moses_rules(language, form)
    prefixes: dict[str, list[str]] = {"plain": [], "numeric": []}
    for prefix in tokenizer.NONBREAKING_PREFIXES:
        if _NUMERIC in prefix:  # "No #NUMERIC_ONLY#"
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
    classes = {name: format_ranges(letters, "\\u{{{:x}}}") for name, letters in characters.items()}
    cjk_ranges = sacremoses.util.CJKChars().ranges
    classes["cjk"] = "".join(f"\\u{{{start:x}}}-\\u{{{end:x}}}" for start, end in cjk_ranges)
    return {
        "normalization": normalization.make_browser_rules(form),
        "parts": None if form == "none" else PartsOfWords(language).make_browser_rules(),
        "prefixes": prefixes,
        "classes": classes,
        "wrongSpace": detokenization.make_browser_pattern(),
    }
