"""Cleaning before tokenization: repair of malformed characters, and removal of pairs.

The limits are those of Moses' clean-corpus-n.perl. As there, words are separated by white space.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from nmt.settings.text import Cleaning


@dataclass(frozen=True)
class Fault:
    """A kind of malformed characters, and what takes their place."""

    name: str
    pattern: re.Pattern[str]
    repaired: str


FAULTS = (
    Fault("byte_order_mark", re.compile("\\A\ufeff+"), ""),
    Fault("carriage_return", re.compile(r"\r+\Z"), ""),
    # what str.splitlines, editors and many programs take for the end of a line
    Fault("line_separators", re.compile("[\x0b\x0c\x85\u2028\u2029]|\r(?!\r*\\Z)"), " "),
    # exactly those that tokenizer.perl deletes and that are no white space to it
    Fault("control_characters", re.compile("[\x00-\x08\x0e-\x1f]"), ""),
)
"""Faults in the order of their repair, after invalid UTF-8."""

FAULT_NAMES = ("invalid_utf8", *(fault.name for fault in FAULTS))
REASONS = ("empty", "too_long", "ratio")
"""Reasons for the removal of a pair; the first that applies is counted."""
SIDES = ("source", "target")

_FAULTY = re.compile("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\ufeff\udc80-\udcff]")
_ESCAPED = re.compile("[\udc80-\udcff]")


class Cleaner:
    """Cleans the pairs of a text, and counts.

    The counts are: `pairs`; `kept` pairs; removed pairs for each of `REASONS`; `source_words` and `target_words`; the
    words of the kept pairs, with the prefix `kept_`; and lines with invalid UTF-8 or one of `FAULTS`, as `source_FAULT`
    and `target_FAULT`.
    """

    def __init__(self, settings: Cleaning) -> None:
        self._most = settings.max_words or float("inf")
        self._ratio = settings.max_ratio or float("inf")
        self._found: Counter[str] = Counter()

    def __call__(self, source: str, target: str) -> tuple[str, str] | None:
        """Return the repaired pair; None if it is removed.

        Bytes that are not UTF-8 come as Python's `surrogateescape` has them.
        """
        found = self._found
        pair = self._repaired("source", source), self._repaired("target", target)
        words = len(pair[0].split()), len(pair[1].split())
        found["pairs"] += 1
        found["source_words"] += words[0]
        found["target_words"] += words[1]
        if reason := self._reason(*words):
            found[reason] += 1
            return None
        found["kept"] += 1
        found["kept_source_words"] += words[0]
        found["kept_target_words"] += words[1]
        return pair

    @property
    def counts(self) -> dict[str, int]:
        """All counts so far."""
        names = ["pairs", "kept", *REASONS]
        for side in SIDES:
            names += [f"{side}_words", f"kept_{side}_words", *(f"{side}_{fault}" for fault in FAULT_NAMES)]
        return {name: self._found[name] for name in names}

    def _reason(self, source: int, target: int) -> str | None:
        fewer, more = min(source, target), max(source, target)
        if not fewer:
            return "empty"
        if more > self._most:
            return "too_long"
        return "ratio" if more > self._ratio * fewer else None

    def _repaired(self, side: str, line: str) -> str:
        if not _FAULTY.search(line):
            return line
        if _ESCAPED.search(line):
            self._found[f"{side}_invalid_utf8"] += 1
            line = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for fault in FAULTS:
            if fault.pattern.search(line):
                self._found[f"{side}_{fault.name}"] += 1
                line = fault.pattern.sub(fault.repaired, line)
        return line
