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


@dataclass
class PairLengths:
    """The lengths of both sides of each pair of a text, in characters."""

    source: array[int] = field(default_factory=lambda: array("I"))
    target: array[int] = field(default_factory=lambda: array("I"))

    def add(self, source: str, target: str) -> None:
        """Add the lengths of a pair."""
        self.source.append(len(source))
        self.target.append(len(target))

    def find_shifted_line(self) -> int | None:
        """Return the line from which on the sides are shifted, to within 200 lines; None if they are not."""
        # Compare logarithms of the lengths: if a translation is always 10% longer, they differ by a constant.
        source = np.log1p(np.array(self.source, dtype=np.float64))
        target = np.log1p(np.array(self.target, dtype=np.float64))

        # windows that cover the text; the last two overlap
        last_start = len(self.source) - WINDOW
        if last_start < 0:
            return None
        starts: list[int] = [*range(0, last_start, WINDOW), last_start]
        for start in starts:
            if _is_shifted(source, target, start):
                # the shift may begin in the window before the first window that is clearly shifted
                return max(1, start - WINDOW + 1)
        return None


def _is_shifted(source: Lengths, target: Lengths, start: int) -> bool:
    """Return whether the target is clearly shifted in the window that begins at `start`."""
    # 1. most windows are not shifted
    source_window = source[start : start + WINDOW]
    unshifted_correlation = _correlate(source_window, target[np.newaxis, start : start + WINDOW])[0]
    if unshifted_correlation > 0.5:
        return False

    # 2. correlate the source window with each target window up to MAX_OFFSET lines away
    target_lines = target[max(0, start - MAX_OFFSET) : start + WINDOW + MAX_OFFSET]
    max_correlation = _correlate(source_window, sliding_window_view(target_lines, WINDOW)).max()

    # 3. the best target window must be clearly better than the window without a shift
    return bool(max_correlation >= max(MIN_CORRELATION, 2 * unshifted_correlation))


def _correlate(source_window: Lengths, target_windows: Lengths) -> Lengths:
    """Return the correlation of the lengths of a source window with those of each target window, (windows, WINDOW)."""
    source_deviations = source_window - source_window.mean()
    target_deviations = target_windows - target_windows.mean(axis=1, keepdims=True)
    norms = np.sqrt((source_deviations**2).sum() * (target_deviations**2).sum(axis=1))
    correlations: Lengths = (target_deviations @ source_deviations) / np.maximum(norms, 1e-9)
    return correlations
