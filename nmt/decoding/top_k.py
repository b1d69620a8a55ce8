"""The k largest of each row, exactly and always in the same order, without sorting the row.

Shapes: R rows, V columns. Equal values stand in the order of their columns, whatever `topk` makes of them: it only
says here how large the k-th value is, or orders numbers that all differ.
"""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 128
"""Columns whose largest value decides whether they are looked at one by one."""


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row and their columns, (R, k), largest first; of equal values the first column is first."""
    width = values.shape[1]
    if k >= width:
        ordered, columns = values.sort(dim=1, descending=True, stable=True)
        return ordered, columns
    threshold = values.topk(k, dim=1).values[:, -1:]
    ahead, tied = values > threshold, values == threshold
    room = k - ahead.sum(dim=1, keepdim=True)
    taken = ahead | (tied & (tied.cumsum(dim=1) <= room))
    numbers = torch.arange(width, 0, -1, device=values.device, dtype=torch.int32)
    columns = width - (taken * numbers).topk(k, dim=1).values.long()  # ascending, since the numbers descend
    columns.clamp_(max=width - 1)  # where values are not numbers, nothing was taken
    ordered, places = values.gather(1, columns).sort(dim=1, descending=True, stable=True)
    return ordered, columns.gather(1, places)


def largest_of_many(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The same as `largest`, fast for long rows, which are read once.

    The k largest lie in the k chunks whose own largest value is largest, the first of equal ones: before any value
    of another chunk there stands one of each of those.
    """
    width = values.shape[1]
    if width <= 2 * CHUNK * k:
        return largest(values, k)
    whole = width // CHUNK * CHUNK
    peaks = [values[:, :whole].view(len(values), -1, CHUNK).amax(dim=2)]
    if whole < width:
        peaks.append(values[:, whole:].amax(dim=1, keepdim=True))
    chunks = largest(torch.cat(peaks, dim=1), k)[1].sort(dim=1).values
    columns = (CHUNK * chunks.unsqueeze(2) + torch.arange(CHUNK, device=values.device)).flatten(1)
    outside = columns >= width
    columns.clamp_(max=width - 1)
    candidates = values.gather(1, columns).masked_fill_(outside, -torch.inf)
    found, places = largest(candidates, k)
    return found, columns.gather(1, places)
