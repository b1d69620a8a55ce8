"""Word alignments that people have made or a grammar knows, in the two usual forms.

Pharaoh: one sentence per line, `i-j` a sure link between source word i and target word j, `i?j` (or `ipj`) a possible
one, both counted from 0. WPT (Mihalcea and Pedersen, 2003): one link per line, `sentence i j [S|P]`, all three
counted from 1; a sentence without a line has no gold.
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

_PHARAOH = re.compile(r"(\d+)([-?p])(\d+)")
_WPT = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s.*)?")


@dataclass
class Gold:
    """The links of a sentence, and where they stand; every sure link is a possible one too."""

    where: str
    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    def add(self, link: Link, sure: bool) -> None:
        """Add a link."""
        self.possible.add(link)
        if sure:
            self.sure.add(link)

    def check(self, source_words: int, target_words: int) -> None:
        """Refuse a link outside a pair of so many words."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise UserError(
                    f"{self.where}: link {source}-{target} (from 0) is outside a pair of {source_words} and "
                    f"{target_words} words; it belongs to another text or tokenization"
                )


def read_gold(paths: Sequence[Path]) -> dict[int, Gold]:
    """Links by line of the test set, from 0; Pharaoh files follow one another as the test corpora do."""
    lines = [
        (f"{path}, line {number}", line) for path in paths for number, line in enumerate(read_lines(path), 1)
    ]
    first = next((line.strip() for _, line in lines if line.strip()), "")
    return _wpt(lines) if _WPT.fullmatch(first) else _pharaoh(lines)


def _pharaoh(lines: Sequence[tuple[str, str]]) -> dict[int, Gold]:
    found = {}
    for number, (where, line) in enumerate(lines):
        gold = found[number] = Gold(where)
        for item in line.split():
            match = _PHARAOH.fullmatch(item)
            if not match:
                raise UserError(f"{where}: found {item!r}, expected links such as 0-0; make the file again")
            gold.add((int(match[1]), int(match[3])), sure=match[2] == "-")
    return found


def _wpt(lines: Sequence[tuple[str, str]]) -> dict[int, Gold]:
    found: dict[int, Gold] = {}
    for where, line in lines:
        if not line.strip():
            continue
        match = _WPT.fullmatch(line.strip())
        if not match or "0" in {match[place].lstrip("0") or "0" for place in (1, 2, 3)}:
            raise UserError(
                f"{where}: found {line.strip()[:40]!r}, expected `sentence source target [S|P]`, counted from 1"
            )
        gold = found.setdefault(int(match[1]) - 1, Gold(where))
        gold.add((int(match[2]) - 1, int(match[3]) - 1), sure=match[4] != "P")
    return found
