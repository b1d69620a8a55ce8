"""Minibatches against App. B.2, on small bitexts."""

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.batches import (
    WORDS_PER_SENTENCE,
    Batch,
    PairsWithinLimit,
    batches_by_length,
    pad_pairs,
    training_batches,
    word_mask,
)
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END
from tests.bitexts import write_bitext
from tests.messages import refused

LENGTHS = [(3, 5), (9, 1), (2, 2), (12, 3), (4, 4), (1, 8), (6, 6), (5, 2), (3, 3), (7, 11)]
LONGER_LENGTHS = [max(lengths) for lengths in LENGTHS]


@pytest.fixture(scope="module")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """Ten pairs; the words of pair i are all i + 2, so that a batch shows which pairs it holds."""
    pairs = [([i + 2] * source, [i + 2] * target) for i, (source, target) in enumerate(LENGTHS)]
    return write_bitext(tmp_path_factory.mktemp("bitext"), pairs)


def pair_numbers(batch: Batch) -> list[int]:
    return [int(word) - 2 for word in batch.source[0]]


def test_groups_are_sorted_and_split(bitext):
    """Two groups of B.2: fetch in order, wrapping around; sort by the longer side; split."""
    usable = [i for i, length in enumerate(LONGER_LENGTHS) if length <= 9]
    expected = []
    for start in (0, 6):
        group = [usable[(start + i) % len(usable)] for i in range(6)]
        group.sort(key=LONGER_LENGTHS.__getitem__)
        expected += [group[:2], group[2:4], group[4:]]
    batches = training_batches(
        PairsWithinLimit(bitext, 9), batch_size=2, batches_per_sort=3, source_eos=True, start_update=0
    )
    assert [pair_numbers(batch) for batch in islice(batches, 6)] == expected


@given(
    start=st.integers(0, 40),
    max_words=st.integers(5, 12),
    size=st.integers(1, 4),
    group=st.integers(1, 5),
    seed=st.none() | st.integers(0, 2**63 - 1),
)
@settings(max_examples=40)
def test_resumed_batches_equal_unbroken_run(bitext, start, max_words, size, group, seed):
    pairs = PairsWithinLimit(bitext, max_words, seed)
    unbroken = islice(training_batches(pairs, size, group, True, 0), start, start + 5)
    resumed = islice(training_batches(pairs, size, group, True, start), 5)
    for unbroken_batch, resumed_batch in zip(unbroken, resumed, strict=True):
        for tensor, resumed_tensor in zip(unbroken_batch.tensors(), resumed_batch.tensors(), strict=True):
            assert torch.equal(tensor, resumed_tensor)


@pytest.mark.parametrize("max_words", [3, 5, 9, 12])
def test_seeded_order_has_each_pair_once(bitext, max_words):
    usable = [i for i, length in enumerate(LONGER_LENGTHS) if length <= max_words]
    orders = set()
    for seed in range(30):
        pairs = PairsWithinLimit(bitext, max_words, seed)
        order = pairs.take(0, 2 * len(usable)).tolist()
        assert sorted(order[: len(usable)]) == usable
        assert order[len(usable) :] == order[: len(usable)]
        assert pairs.rows.tolist() == usable, "samples of all runs are of the same pairs"
        orders.add(tuple(order))
    assert len(orders) > len(usable) // 2


def test_no_pair_within_limit_is_refused(tmp_path):
    long = write_bitext(tmp_path, [([2] * 9, [2] * 9)])
    with refused():
        PairsWithinLimit(long, 5)


def test_padding_and_end_symbols():
    ids = [np.array([4, 5], dtype=np.uint16), np.array([6], dtype=np.uint16)]
    batch = pad_pairs(ids, ids[::-1], source_eos=True)
    assert batch.source.t().tolist() == [[4, 5, END], [6, END, END]]
    assert word_mask(batch.source_lengths, 3).t().tolist() == [[True, True, True], [True, True, False]]
    assert batch.target.t().tolist() == [[6, END, END], [4, 5, END]]
    assert batch.target.flatten()[batch.positions].tolist() == [6, 4, END, 5, END]
    assert (batch.positions % len(batch)).tolist() == [0, 1, 0, 1, 1]
    assert (batch.source_lengths.tolist(), batch.target_lengths.tolist()) == ([3, 2], [2, 3])
    assert pad_pairs(ids[:1], ids[:1], source_eos=False).source.t().tolist() == [[4, 5]]


@given(st.lists(st.integers(1, 4000), max_size=40), st.integers(1, 8))
def test_batches_by_length(lengths, size):
    batches = list(batches_by_length(lengths, size))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        max_length = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * max_length <= size * WORDS_PER_SENTENCE
        assert len(batch) <= size
