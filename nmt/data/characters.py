"""Classes of characters by their Unicode properties: what is a letter, an emoji, or a script without spaces.

They are the insides of brackets in patterns of the library `regex` (`(?V1)`), which knows the properties that Python
lacks. JavaScript lacks some of them, too, so the playground gets the ranges of characters (`format_ranges`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import regex

JOINERS = "\u180e\u200b\u200c\u200d"
"""Characters without width within words: of Mongolian, of scripts without spaces, of Persian and Indian scripts."""
_MARK_OF_A_SCRIPT = (
    r"[\p{P}--[\p{Script=Common}\p{Script=Inherited}\p{Terminal_Punctuation}\p{Ps}\p{Pe}\p{Pi}\p{Pf}]]"
)
"""Punctuation that belongs to a single script, and neither ends a phrase nor opens or closes one."""
BORDER = rf"{_MARK_OF_A_SCRIPT}&&[\p{{Line_Break=Break_After}}\p{{Pd}}]"
"""Such marks after which a line may be broken: between words or syllables, without spaces. Tibetan tsheg, maqaf."""
IN_WORD = rf"{_MARK_OF_A_SCRIPT}--[{BORDER}]"
"""All others of them are parts of words: geresh, the question mark of Armenian, the abbreviation sign of Hindi."""
LETTER = rf"\p{{L}}\p{{M}}{JOINERS}[{IN_WORD}]"
"""Letters, and what belongs to them: accents, vowel signs, joiners."""
DIGIT = r"\p{Nd}\p{Nl}"
MARK_BETWEEN_LETTERS = (
    r"[\p{Word_Break=MidLetter}\p{Word_Break=MidNumLet}\p{Word_Break=Single_Quote}]"
    r"--[.\p{East_Asian_Width=W}\p{East_Asian_Width=F}]"
)
"""Marks between two letters that are part of the word (Unicode Standard Annex #29, WB6): O'Donnell, EU:s, col·lega."""
MARK_BETWEEN_DIGITS = r"['’\p{Word_Break=MidNum}]--[,;\p{East_Asian_Width=W}\p{East_Asian_Width=F}]"
"""Marks between two digits that are part of the number (WB11): 1'000. Commas are left to Moses' rules."""
UNSPACED = (
    r"[\p{Line_Break=Complex_Context}\p{Line_Break=Ideographic}\p{Line_Break=Conditional_Japanese_Starter}"
    r"\p{Line_Break=Aksara}\p{Line_Break=Aksara_Prebase}\p{Line_Break=Aksara_Start}]&&[\p{L}\p{M}]"
)
"""Letters of scripts without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Javanese, others."""
IDEOGRAPH = r"[\p{Line_Break=Ideographic}\p{Line_Break=Conditional_Japanese_Starter}]&&[\p{L}\p{M}]"
"""Those of them that have no spaces at all: Chinese characters and kana."""
WIDE_PUNCTUATION = r"\p{P}&&[\p{East_Asian_Width=W}\p{East_Asian_Width=F}]"
"""Punctuation as wide as a Chinese character, which has its space in itself."""
CLOSING = r"[\p{Terminal_Punctuation}\p{Pe}]--\p{ASCII}"
"""Marks beyond ASCII before which there is no space: full stops, commas and question marks of all scripts, brackets."""
OPENING = r"\p{Ps}--[\p{ASCII}‚„]"
"""Brackets beyond ASCII after which there is no space. Low quotation marks are left to Moses' rules."""
EXTENDER = r"\p{Grapheme_Cluster_Break=Extend}\p{Grapheme_Cluster_Break=ZWJ}"
"""Characters that no word begins with, since they change the one before: accents, skin tones, joiners."""

_ONE_EMOJI = "\\p{Emoji}(?:\\p{EMod}|\ufe0f?\u20e3|\ufe0f|[\U000e0020-\U000e007e]+\U000e007f)"
_LINKED_EMOJI = rf"\u200D(?:\p{{RI}}\p{{RI}}|(?:{_ONE_EMOJI}|\p{{Emoji}}))"
EMOJI = rf"\p{{RI}}\p{{RI}}|{_ONE_EMOJI}(?:{_LINKED_EMOJI})*|\p{{Emoji}}(?:{_LINKED_EMOJI})+"
"""Pattern of an emoji of several characters (Unicode Technical Standard #51, 1.4.9): a flag, a family, a keycap."""


@cache
def list_characters(character_class: str) -> str:
    """Return all characters of a class, in the order of their code points."""
    return "".join(regex.findall(f"(?V1)[{character_class}]", _list_all_characters()))


@cache
def _list_all_characters() -> str:
    """Return all characters but surrogates, which are halves of characters."""
    return "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))


def format_ranges(characters: Iterable[str], escape: str) -> str:
    """Return the inside of a class of these characters in a pattern: "abcx" -> "a-cx".

    escape: the format of a code point, such as \\u{{{:x}}} of JavaScript.
    """
    ranges: list[list[int]] = []  # first and last code points of consecutive characters
    for code in sorted(set(map(ord, characters))):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(
        escape.format(start) if start == end else f"{escape.format(start)}-{escape.format(end)}"
        for start, end in ranges
    )


def compile_pattern(pattern: str, classes: Mapping[str, str] = MappingProxyType({})) -> regex.Pattern[str]:
    """Return the compiled form of a pattern. classes: name in the pattern -> class of characters."""
    for name, character_class in classes.items():
        pattern = pattern.replace(name, f"[{character_class}]")
    return regex.compile(f"(?V1){pattern}")


def format_for_browser(pattern: str, classes: Mapping[str, str]) -> str:
    """Return a pattern for JavaScript with the flag u: the characters of the classes in place of their names."""
    for name, character_class in classes.items():
        pattern = pattern.replace(name, format_ranges(list_characters(character_class), "\\u{{{:x}}}"))
    return pattern


UNSPACED_LETTER = compile_pattern(r"(<unspaced>\p{M}*)", {"<unspaced>": rf"[{UNSPACED}]--\p{{M}}"})
"""Pattern of a letter, with its marks, of a script without spaces between words."""


def count_letters_or_word(word: str) -> int:
    """Return the number of letters of a clause in a script without spaces, or 1 for any other word."""
    return 1 if word.isascii() else max(1, len(UNSPACED_LETTER.findall(word)))
