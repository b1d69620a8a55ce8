"""The k largest of each row against a full stable sort, ties and all."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.decoding import top_k
from nmt.decoding.top_k import largest, largest_of_many


@given(
    st.integers(1, 4), st.integers(1, 90), st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.booleans()
)  # fmt: skip
def test_it_is_a_stable_sort(rows: int, width: int, k: int, levels: int, seed: int, lost: bool) -> None:
    """Few levels make many ties."""
    drawn = np.random.default_rng(seed).integers(0, levels, (rows, width)).astype(np.float32)
    values = torch.from_numpy(drawn)
    if lost:
        values.masked_fill_(values == 0, -torch.inf)
    k = min(k, width)
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    chunk, top_k.CHUNK = top_k.CHUNK, 4
    try:
        for found in (largest(values, k), largest_of_many(values, k)):
            torch.testing.assert_close(found[0], expected[:, :k], rtol=0, atol=0)
            assert found[1].equal(columns[:, :k])
    finally:
        top_k.CHUNK = chunk


@pytest.mark.parametrize("width", [30_000, 30_001])
def test_long_rows(width: int) -> None:
    generator = torch.Generator().manual_seed(1)
    wide = torch.randint(0, 5000, (8, width + 3), generator=generator).float()
    values = wide[:, :width]  # no memory of its own, as where ids have no word
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    found = largest_of_many(values, 10)
    assert found[0].equal(expected[:, :10])
    assert found[1].equal(columns[:, :10])


def test_what_is_no_number_breaks_nothing() -> None:
    _, columns = largest(torch.full((2, 9), torch.nan), 3)
    assert columns.max() < 9
