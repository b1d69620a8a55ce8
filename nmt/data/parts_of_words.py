"""Marks that are part of a word, and emoji of several characters: Moses' rules would cut all of them.

The words of most languages have apostrophes within (Ankara'da, п'ять, foto's), some at an end (ta', 's avonds), or
colons, dots and quotes (EU:s, col·lega, צה"ל). English, French and Italian have rules of Moses for apostrophes, so only
emoji are hidden there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nmt.data.characters import (
    EMOJI,
    MARK_BETWEEN_DIGITS,
    MARK_BETWEEN_LETTERS,
    compile_pattern,
    format_for_browser,
    list_characters,
)
from nmt.data.moses import PLACEHOLDERS

MOSES_APOSTROPHES = ("en", "fr", "it")
"""Languages for whose apostrophes Moses has rules."""
WITHOUT_APOSTROPHES = ("ja", "ko", "yue", "zh")
"""Languages whose words have no apostrophes: a word may follow a quotation mark without a space ('평화'를)."""
_APOSTROPHES = "'’‘"
_WORD = r"[\p{L}\p{M}\p{N}]"

_MARKS = (
    rf"(?<={_WORD})[<marks between letters>](?=\p{{L}})"
    r"|(?<=\p{N})[<marks between digits>](?=\p{N})"
    r'|(?<=\p{Script=Hebrew}\p{M}*)"(?=\p{Script=Hebrew})'
)
_UNPAIRED = (
    rf"(?<!{_WORD})(?<opening>[{_APOSTROPHES}])(?=[\p{{L}}\p{{N}}])|(?<={_WORD})[{_APOSTROPHES}](?!{_WORD})"
)
"""Pattern of apostrophes at the start of a word (group `opening`) or at its end."""
_EMOJI_CHARACTERS = "\u200d\u20e3\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff"
"""Characters of which each emoji of several characters has one, as the inside of brackets in a pattern."""


class PartsOfWords:
    """Hides marks within words, and emoji, from the rules of Moses for a language."""

    def __init__(self, language: str) -> None:
        self._classes = {
            "<marks between letters>": MARK_BETWEEN_LETTERS,
            "<marks between digits>": MARK_BETWEEN_DIGITS,
        }
        # Catalan's apostrophes are not hidden, either. So a word after an article (l ' home) is a token of its own, and
        # the detokenizer joins both.
        self._apostrophes_are_marks = language not in (*MOSES_APOSTROPHES, *WITHOUT_APOSTROPHES, "ca")
        if not self._apostrophes_are_marks:
            self._classes = {name: f"[{marks}]--[{_APOSTROPHES}]" for name, marks in self._classes.items()}
        self._pattern = EMOJI if language in MOSES_APOSTROPHES else f"{EMOJI}|{_MARKS}"

        # A line without any of these characters has no part to hide. To find this out is ten times faster than to look
        # for parts, and most lines have none.
        marks = ""
        if language not in MOSES_APOSTROPHES:
            marks = '"' + _APOSTROPHES + "".join(map(list_characters, self._classes.values()))
        self._part_character = re.compile(f"[{_EMOJI_CHARACTERS}{re.escape(marks)}]")
        self._compiled_pattern = compile_pattern(self._pattern, self._classes)
        self._compiled_unpaired = compile_pattern(_UNPAIRED)

    def hide(self, line: str) -> tuple[str, dict[str, str]]:
        """Return a line with placeholders, which Moses takes for letters, and the part that each placeholder hides.

        Example: "O'Donnell" -> "O\U00100000Donnell", {"\U00100000": "'"}. An emoji has spaces around its placeholder.
        """
        if not self._part_character.search(line):
            return line, {}

        placeholders: dict[str, str] = {}  # part -> placeholder
        hidden_line = ""
        position = 0  # in `line`, the end of the previous part
        for start, part in sorted(self._find_parts(line)):
            if part not in placeholders:
                if len(placeholders) == len(PLACEHOLDERS):
                    continue  # no placeholder is left, so this part is not hidden
                placeholders[part] = PLACEHOLDERS[len(placeholders)]
            placeholder = placeholders[part]
            hidden_line += line[position:start]
            hidden_line += placeholder if len(part) == 1 else f" {placeholder} "
            position = start + len(part)
        parts = {placeholder: part for part, placeholder in placeholders.items()}
        return hidden_line + line[position:], parts

    def _find_parts(self, line: str) -> Iterator[tuple[int, str]]:
        """Yield the position and the text of each hidden part."""
        for match in self._compiled_pattern.finditer(line):
            yield match.start(), match[0]
        if not self._apostrophes_are_marks:
            return

        # An apostrophe at the start of a word and a later one at the end of a word are quotation marks. Any other
        # apostrophe is part of its word.
        open_quotes = []
        for match in self._compiled_unpaired.finditer(line):
            if match["opening"]:
                open_quotes.append((match.start(), match[0]))
            elif open_quotes:
                open_quotes.pop()
            else:
                yield match.start(), match[0]
        yield from open_quotes

    def make_browser_rules(self) -> dict[str, Any]:
        """Return these rules for text.js."""
        return {
            "pattern": format_for_browser(self._pattern, self._classes),
            "unpaired": _UNPAIRED if self._apostrophes_are_marks else None,
            "placeholders": PLACEHOLDERS,
        }
