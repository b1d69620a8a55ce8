"""Sides of a text that are off by some lines: from there on, lengths of sentences agree with those of other lines."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

WINDOW = 100
"""Pairs whose lengths are compared together."""
REACH = 10
"""Largest shift that is found, in lines."""
AGREES = 0.5
"""Least correlation of the lengths of a shifted window. The right lines have at most half of it."""
LONGEST = 65_535

Lengths = NDArray[np.float64]


@dataclass(frozen=True)
class Shift:
    """From `line` (from 1) on, line i of the source seems to belong to line i + `offset` of the target.

    pairs: how many in all seem to be off.
    """

    line: int
    offset: int
    pairs: int


@dataclass
class LengthsOfPairs:
    """The lengths of both sides of a text's pairs, in characters."""

    source: array[int] = field(default_factory=lambda: array("H"))
    target: array[int] = field(default_factory=lambda: array("H"))

    def add(self, source: str, target: str) -> None:
        """Add those of a pair."""
        self.source.append(min(len(source), LONGEST))
        self.target.append(min(len(target), LONGEST))

    def shift(self) -> Shift | None:
        """Return the first shift of a text, if there is one."""
        source, target = (np.log1p(np.array(side, dtype=np.float64)) for side in (self.source, self.target))
        shifted = 0
        first: tuple[int, int] | None = None
        last = len(source) - WINDOW
        for start in [*range(0, last, WINDOW), last] if last >= 0 else []:
            if offset := _best_offset(source, target, start):
                shifted += WINDOW
                first = first or (start, offset)
        if first is None:
            return None
        return Shift(1 + _first_line(source, target, *first), first[1], shifted)


def _best_offset(source: Lengths, target: Lengths, start: int) -> int:
    """Return by how many lines the target is off in the window that begins at `start`: 0 unless that is clear."""
    low, high = max(0, start - REACH), min(len(target), start + WINDOW + REACH)
    windows = sliding_window_view(target[low:high], WINDOW)  # (offsets, WINDOW)
    own = source[start : start + WINDOW] - source[start : start + WINDOW].mean()
    others = windows - windows.mean(axis=1, keepdims=True)
    norms = np.sqrt((own**2).sum() * (others**2).sum(axis=1))
    correlations = (others @ own) / np.maximum(norms, 1e-9)
    best = int(correlations.argmax())
    clear = correlations[best] >= AGREES and correlations[start - low] <= correlations[best] / 2
    return best - (start - low) if clear else 0


def _first_line(source: Lengths, target: Lengths, start: int, offset: int) -> int:
    """Return the line, from 0, from which on the shifted lengths agree better, near the window at `start`."""
    lines = np.arange(max(0, start - WINDOW, -offset), min(len(source), start + WINDOW, len(target) - offset))
    ratio = np.median(target[lines + offset] - source[lines])
    in_place = np.abs(target[lines] - source[lines] - ratio)
    shifted = np.abs(target[lines + offset] - source[lines] - ratio)
    worse = np.concatenate([[0.0], np.cumsum(in_place - shifted)])
    best = int(worse.argmin())
    return best + int(lines[0]) if best else max(0, start - WINDOW)
