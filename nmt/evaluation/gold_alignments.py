"""Gold word alignments in the two usual formats.

Pharaoh: one sentence per line; `i-j` is a sure link between source word i and target word j, `i?j` (or `ipj`) a
possible link, both counted from 0. A number before the links is that of the sentence. WPT (Mihalcea and Pedersen,
2003): one link per line, `sentence i j [S|P]`, with words counted from 1. A sentence without a line has no gold links.
Sentences are numbered from 1 or 0. If these numbers would reach beyond the test set, the smallest number is its first
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nmt.errors import UserError
from nmt.io.text_files import read_lines

Link = tuple[int, int]
"""Position of a source word, position of a target word, both from 0."""

_PHARAOH = re.compile(r"(\d{1,9})([-?p])(\d{1,9})")
_NUMBERED = re.compile(r"(\d{1,9})(?:\s+(.*))?")
_WPT = re.compile(r"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s.*)?")


@dataclass
class Gold:
    """The links of a sentence, and their place in the file. Every sure link is also a possible link."""

    where: str
    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    def add(self, link: Link, sure: bool) -> None:
        """Add a link."""
        self.possible.add(link)
        if sure:
            self.sure.add(link)

    def check(self, source_words: int, target_words: int) -> None:
        """Raise a UserError for a link outside a pair with these numbers of words."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise UserError(
                    f"{self.where}: link {source}-{target} (from 0) is outside a pair of {source_words} and "
                    f"{target_words} words; it belongs to another text or tokenization"
                )


def read_gold(paths: Sequence[Path], sentences: int) -> dict[int, Gold]:
    """Read the links of a test set with this number of sentences, by line from 0.

    Pharaoh files are given in the order of the test corpora.
    """
    lines = [
        (f"{path}, line {number}", line.strip())
        for path in paths
        for number, line in enumerate(read_lines(path), 1)
    ]
    full = [(where, line) for where, line in lines if line]
    first = full[0][1] if full else ""
    if _WPT.fullmatch(first):
        return _by_line(_wpt(full), sentences)
    if _NUMBERED.fullmatch(first):
        return _by_line(_numbered(full), sentences)
    if len(lines) > sentences:
        raise UserError(
            f"{lines[sentences][0]}: there are more lines than the {sentences} sentences of the test set; they belong "
            "to another text"
        )
    return {number: _pharaoh(where, line) for number, (where, line) in enumerate(lines)}


def _pharaoh(where: str, line: str) -> Gold:
    gold = Gold(where)
    for item in line.split():
        match = _PHARAOH.fullmatch(item)
        if not match:
            raise UserError(f"{where}: found {item[:40]!r}, expected links such as 0-0; make the file again")
        gold.add((int(match[1]), int(match[3])), sure=match[2] == "-")
    return gold


def _numbered(lines: Sequence[tuple[str, str]]) -> dict[int, Gold]:
    """Read links in Pharaoh format, by the sentence numbers before them."""
    found: dict[int, Gold] = {}
    for where, line in lines:
        match = _NUMBERED.fullmatch(line)
        if not match or int(match[1]) in found:
            raise UserError(
                f"{where}: found {line[:40]!r}, expected the number of another sentence and its links"
            )
        found[int(match[1])] = _pharaoh(where, match[2] or "")
    return found


def _wpt(lines: Sequence[tuple[str, str]]) -> dict[int, Gold]:
    """Read links in WPT format, by the numbers of their sentences."""
    found: dict[int, Gold] = {}
    for where, line in lines:
        match = _WPT.fullmatch(line)
        if not match or not int(match[2]) or not int(match[3]):
            raise UserError(
                f"{where}: found {line[:40]!r}, expected `sentence source target [S|P]`, words counted from 1"
            )
        gold = found.setdefault(int(match[1]), Gold(where))
        gold.add((int(match[2]) - 1, int(match[3]) - 1), sure=match[4] != "P")
    return found


def _by_line(numbered: dict[int, Gold], sentences: int) -> dict[int, Gold]:
    """Convert links by sentence number into links by line of the test set, from 0."""
    first, last = min(numbered), max(numbered)
    base = first if last > sentences else min(first, 1)
    if last - base >= sentences:
        raise UserError(
            f"{numbered[last].where}: sentence {last}, counted from {base}, is outside a test set of {sentences} "
            "sentences; it belongs to another text"
        )
    return {number - base: gold for number, gold in numbered.items()}
