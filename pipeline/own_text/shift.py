"""Finds shifts between the sides of a text: line i of the source belongs to line i + offset of the target.

If a line is missing on one side, the lengths of the sentences agree with those of shifted lines from there on.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

WINDOW = 100
"""Number of pairs whose lengths are compared together."""
MAX_OFFSET = 1000
"""Largest shift that is found, in lines."""
MIN_CORRELATION = 0.6
"""A window counts as shifted if its lengths correlate at least so much with those of the shifted lines, and twice as
much as without the shift. By chance this happens for two offsets in 10^11."""

Lengths = NDArray[np.float64]


@dataclass(frozen=True)
class Shift:
    """From about line number `line` on, line i of the source seems to belong to line i + `offset` of the target.

    The shift begins there or within the next 200 lines. pairs: how many pairs seem to be shifted, anywhere in the text.
    """

    line: int
    offset: int
    pairs: int


@dataclass
class PairLengths:
    """The lengths of both sides of each pair of a text, in characters."""

    source: array[int] = field(default_factory=lambda: array("I"))
    target: array[int] = field(default_factory=lambda: array("I"))

    def add(self, source: str, target: str) -> None:
        """Add the lengths of a pair."""
        self.source.append(len(source))
        self.target.append(len(target))

    def find_shift(self) -> Shift | None:
        """Return the first shift of the text, or None if there is none."""
        # Compare logarithms of the lengths: if a translation is always 10% longer, they differ by a constant.
        source = np.log1p(np.array(self.source, dtype=np.float64))
        target = np.log1p(np.array(self.target, dtype=np.float64))

        # 1. windows that cover the text; the last two overlap
        last_start = len(source) - WINDOW
        if last_start < 0:
            return None
        starts = [*range(0, last_start, WINDOW), last_start]

        # 2. the shifted windows: start -> offset
        offsets: dict[int, int] = {}
        for start in starts:
            offset = _find_offset(source, target, start)
            if offset:
                offsets[start] = offset
        if not offsets:
            return None

        # 3. the shift may begin in the window before the first window that is clearly shifted
        start = min(offsets)
        line = max(1, start - WINDOW + 1)
        return Shift(line=line, offset=offsets[start], pairs=WINDOW * len(offsets))


def _find_offset(source: Lengths, target: Lengths, start: int) -> int:
    """Return by how many lines the target is shifted in the window that begins at `start`; 0 if no shift is clear."""
    # 1. most windows are not shifted
    source_window = source[start : start + WINDOW]
    unshifted_correlation = _correlate(source_window, target[np.newaxis, start : start + WINDOW])[0]
    if unshifted_correlation > 0.5:
        return 0

    # 2. correlate the source window with each target window up to MAX_OFFSET lines away
    low = max(0, start - MAX_OFFSET)
    high = min(len(target), start + WINDOW + MAX_OFFSET)
    correlations = _correlate(source_window, sliding_window_view(target[low:high], WINDOW))  # (offsets,)

    # 3. the best target window, if it is clearly better than the window without a shift
    best_index = int(correlations.argmax())
    max_correlation = correlations[best_index]
    if max_correlation < MIN_CORRELATION or unshifted_correlation > max_correlation / 2:
        return 0
    return best_index - (start - low)


def _correlate(source_window: Lengths, target_windows: Lengths) -> Lengths:
    """Return the correlation of the lengths of a source window with those of each target window, (windows, WINDOW)."""
    source_deviations = source_window - source_window.mean()
    target_deviations = target_windows - target_windows.mean(axis=1, keepdims=True)
    norms = np.sqrt((source_deviations**2).sum() * (target_deviations**2).sum(axis=1))
    correlations: Lengths = (target_deviations @ source_deviations) / np.maximum(norms, 1e-9)
    return correlations
