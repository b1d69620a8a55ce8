"""The k largest values of each row, exact and always in the same order, without sorting the row.

Shapes: R rows, V columns. Equal values are in the order of their columns, whatever the order of `topk`, which is used
only to find the k-th value, or to sort distinct numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 128
"""Columns in a chunk. The largest value of a chunk decides whether its columns are searched one by one."""


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest values of each row and their columns, (R, k), largest first; equal values by column."""
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
    """Return the same as `largest`. This is fast for long rows, which are read once.

    The k largest values are in the k chunks with the largest maxima (the first ones of equal maxima): each of these
    chunks has a value that comes before all values of the other chunks.
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
