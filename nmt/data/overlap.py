"""Counts sentences of the test and development sets that occur in the training text.

Each side is compared twice: token by token, and by letters and digits alone, without case. Only the sentences of the
held-out sets are in memory.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from nmt.io.text_files import read_lines

_NO_LETTERS = re.compile(r"[\W_]+")
SIDES = ("source", "target")
WAYS = ("same", "alike")
_NONE: set[str] = set()


def letters(line: str) -> str:
    """Return the letters (with their marks) and digits of a line, without case, after undoing Moses' escapes."""
    # NFKC, since an accent may be a character of its own or not, and since ligatures and wide or raised digits only
    # set the same text otherwise
    text = unicodedata.normalize("NFKC", html.unescape(line))
    return _NO_LETTERS.sub(_marks, text).casefold()


def _marks(found: re.Match[str]) -> str:
    """Return the combining marks in what Python takes for no letters: they are the vowels of Hindi, Thai and others."""
    text = found[0]
    return "" if text.isascii() else "".join(mark for mark in text if unicodedata.category(mark)[0] == "M")


class HeldOut:
    """The sentences of held-out sets, and how many pairs of a text share a side with each set.

    The counts are `SET_{same,alike}_{source,target,both}`. With `both`, both sides are in the same set.
    """

    def __init__(self, corpora: Mapping[str, Sequence[tuple[Path, Path]]]) -> None:
        """Read the token files (source, target) of all shards of each set. Empty lines are not sentences."""
        self._names = list(corpora)
        self._found: Counter[str] = Counter()
        self._sets: dict[tuple[str, str], dict[str, set[str]]] = {
            (way, side): {} for way in WAYS for side in SIDES
        }
        for name, shards in corpora.items():
            for paths in shards:
                for side, path in zip(SIDES, paths, strict=True):
                    for line in read_lines(path):
                        self._add(name, side, line)

    def _add(self, name: str, side: str, line: str) -> None:
        if key := letters(line):
            self._sets["same", side].setdefault(line, set()).add(name)
            self._sets["alike", side].setdefault(key, set()).add(name)

    def count(self, source: str, target: str) -> None:
        """Count a pair of lines of tokens."""
        keys = {"same": (source, target), "alike": (letters(source), letters(target))}
        for way, pair in keys.items():
            sources, targets = (
                self._sets[way, side].get(key, _NONE) for side, key in zip(SIDES, pair, strict=True)
            )
            for side, names in (("source", sources), ("target", targets), ("both", sources & targets)):
                self._found.update(f"{name}_{way}_{side}" for name in names)

    @property
    def counts(self) -> dict[str, int]:
        """All counts so far."""
        names = [f"{name}_{way}_{side}" for name in self._names for way in WAYS for side in (*SIDES, "both")]
        return {name: self._found[name] for name in names}
