"""Counts sentences of the test and development sets that occur in the training text, and drops them if requested.

Each side is compared twice: token by token, and by letters and digits alone, without case. Only the sentences of the
held-out sets are in memory. A dropped pair becomes an empty line on both sides, so that line numbers do not change.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.settings.text import Overlap

_NO_LETTERS = re.compile(r"[\W_]+")
SIDES = ("source", "target")
WAYS = ("same", "alike")


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


@dataclass(frozen=True)
class HeldOut:
    """The held-out sets that contain a sentence, by side: `same` by the whole line, `alike` by letters and digits."""

    same: dict[str, dict[str, set[str]]] = field(default_factory=lambda: {side: {} for side in SIDES})
    alike: dict[str, dict[str, set[str]]] = field(default_factory=lambda: {side: {} for side in SIDES})

    @classmethod
    def read(cls, corpora: Mapping[str, Sequence[tuple[Path, Path]]]) -> HeldOut:
        """Read the token files of held-out corpora. Empty lines are not sentences."""
        found = cls()
        for name, shards in corpora.items():
            for paths in shards:
                for side, path in zip(SIDES, paths, strict=True):
                    for line in read_lines(path):
                        found.add(name, side, line)
        return found

    def add(self, name: str, side: str, line: str) -> None:
        """Add a sentence of a set."""
        if key := letters(line):
            self.same[side].setdefault(line, set()).add(name)
            self.alike[side].setdefault(key, set()).add(name)

    def sets(self, pair: tuple[str, str]) -> dict[str, tuple[set[str], set[str]]]:
        """Return the sets that contain the two sides of a pair, in each of `WAYS`."""
        keys = {"same": pair, "alike": (letters(pair[0]), letters(pair[1]))}
        return {
            way: (table["source"].get(keys[way][0], set()), table["target"].get(keys[way][1], set()))
            for way, table in (("same", self.same), ("alike", self.alike))
        }


def overlap(
    source: Path,
    target: Path,
    held_out: Mapping[str, Sequence[tuple[Path, Path]]],
    settings: Overlap,
    counts: Path,
    outputs: tuple[Path, Path] | None = None,
) -> dict[str, int]:
    """Count, in a shard of training text, the pairs that share a side with a held-out set.

    Args:
        source: token file.
        target: the other side.
        held_out: token files, shard by shard, of each set.
        settings: which pairs are dropped, if `outputs` are given.
        counts: JSON file for the counts `SET_{same,alike}_{source,target,both}` and `dropped`.
        outputs: files for both sides without the dropped pairs.
    """
    sentences = HeldOut.read(held_out)
    names = [f"{name}_{way}_{side}" for name in held_out for way in WAYS for side in (*SIDES, "both")]
    found: Counter[str] = Counter()
    with ExitStack() as stack:
        progress = stack.enter_context(Progress.over_files([source, target], f"overlap {source}"))
        writers = [stack.enter_context(write_lines(path)) for path in outputs or ()]
        for pair in read_pairs(source, target, progress):
            sets = sentences.sets(pair)
            found.update(_names(sets))
            gone = bool(writers) and _goes(sets["alike" if settings.alike else "same"], settings.drop)
            found["dropped"] += gone
            for writer, line in zip(writers, pair, strict=False):
                writer.write("" if gone else line)
    result = {name: found[name] for name in [*names, "dropped"]}
    write_json(counts, result)
    return result


def _names(sets: Mapping[str, tuple[set[str], set[str]]]) -> Iterator[str]:
    """Yield the names of the counts that include a pair."""
    for way, (source, target) in sets.items():
        yield from (f"{name}_{way}_source" for name in source)
        yield from (f"{name}_{way}_target" for name in target)
        yield from (f"{name}_{way}_both" for name in source & target)


def _goes(sides: tuple[set[str], set[str]], drop: str) -> bool:
    """Return whether a pair is dropped. With `both`, both sides must be in the same set, as for the counts."""
    source, target = sides
    return {
        "none": False,
        "source": bool(source),
        "target": bool(target),
        "either": bool(source or target),
        "both": bool(source & target),
    }[drop]
