"""Minibatches against App. B.2, on small bitexts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

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
    evaluation_batches,
    pad_pairs,
    training_batches,
    word_mask,
)
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END
from tests.bitexts import write_bitext
from tests.messages import refused

LENGTHS = [(3, 5), (9, 1), (2, 2), (12, 3), (4, 4), (1, 8), (6, 6), (5, 2), (3, 3), (7, 11)]


@pytest.fixture
def bitext(tmp_path: Path) -> Bitext:
    """Ten pairs; the words of pair i are all i + 2, so that a batch shows which pairs it holds."""
    return write_bitext(tmp_path, [([i + 2] * s, [i + 2] * t) for i, (s, t) in enumerate(LENGTHS)])


def members(batch: Batch) -> list[int]:
    return [int(word) - 2 for word in batch.source[0]]


def order_by_hand(limit: int, size: int, group: int) -> list[list[int]]:
    """Two groups of B.2: fetch in order, wrapping around; sort by the longer side; split."""
    usable = [i for i, lengths in enumerate(LENGTHS) if max(lengths) <= limit]
    found = []
    for start in (0, size * group):
        fetched = [usable[(start + k) % len(usable)] for k in range(size * group)]
        fetched.sort(key=lambda i: max(LENGTHS[i]))
        found += [fetched[k : k + size] for k in range(0, len(fetched), size)]
    return found


def test_groups_are_fetched_in_order_sorted_and_split(bitext: Bitext) -> None:
    found = [
        members(batch) for batch in islice(training_batches(PairsWithinLimit(bitext, 9), 2, 3, True, 0), 6)
    ]
    assert found == order_by_hand(9, 2, 3)


def test_pairs_with_a_side_over_the_limit_are_never_seen(bitext: Bitext) -> None:
    seen = {
        i
        for batch in islice(training_batches(PairsWithinLimit(bitext, 8), 3, 2, True, 0), 20)
        for i in members(batch)
    }
    assert seen == {i for i, lengths in enumerate(LENGTHS) if max(lengths) <= 8}


@given(
    first=st.integers(0, 40),
    limit=st.integers(5, 12),
    size=st.integers(1, 4),
    group=st.integers(1, 5),
    seed=st.none() | st.integers(0, 2**63 - 1),
)
@settings(max_examples=40)
def test_batches_from_any_update_are_those_of_an_unbroken_run(
    tmp_path_factory: pytest.TempPathFactory, first: int, limit: int, size: int, group: int, seed: int | None
) -> None:
    pairs = [([i + 2] * s, [i + 2] * t) for i, (s, t) in enumerate(LENGTHS)]
    bitext = write_bitext(tmp_path_factory.mktemp("bitext"), pairs)
    unbroken = islice(
        training_batches(PairsWithinLimit(bitext, limit, seed), size, group, True, 0), first, first + 5
    )
    resumed = islice(training_batches(PairsWithinLimit(bitext, limit, seed), size, group, True, first), 5)
    for one, other in zip(unbroken, resumed, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one.tensors(), other.tensors(), strict=True))


@pytest.mark.parametrize("limit", [3, 5, 9, 12])
def test_a_seed_draws_an_order_in_which_every_pass_holds_every_pair_once(bitext: Bitext, limit: int) -> None:
    usable = [i for i, lengths in enumerate(LENGTHS) if max(lengths) <= limit]
    orders = [PairsWithinLimit(bitext, limit, seed).take(0, 2 * len(usable)).tolist() for seed in range(30)]
    for order in orders:
        assert sorted(order[: len(usable)]) == usable
        assert order[len(usable) :] == order[: len(usable)]
    assert len({tuple(order) for order in orders}) > len(usable) // 2
    again = PairsWithinLimit(bitext, limit, 3)
    assert again.take(0, len(usable)).tolist() == orders[3][: len(usable)]
    assert again.rows.tolist() == usable, "samples of all runs are of the same pairs"


def test_no_pair_within_the_limit_is_an_error_that_names_the_text(tmp_path: Path) -> None:
    long = write_bitext(tmp_path, [([2] * 9, [2] * 9)])
    with refused():
        PairsWithinLimit(long, 5)


def test_padding_and_end_symbols() -> None:
    ids = [np.array([4, 5], dtype=np.uint16), np.array([6], dtype=np.uint16)]
    batch = pad_pairs(ids, ids[::-1], True)
    assert batch.source.t().tolist() == [[4, 5, END], [6, END, END]]
    assert word_mask(batch.source_lengths, 3).t().tolist() == [[True, True, True], [True, True, False]]
    assert batch.target.t().tolist() == [[6, END, END], [4, 5, END]]
    assert batch.target.flatten()[batch.positions].tolist() == [6, 4, END, 5, END]
    assert (batch.positions % len(batch)).tolist() == [0, 1, 0, 1, 1]
    assert (batch.source_lengths.tolist(), batch.target_lengths.tolist()) == ([3, 2], [2, 3])


def test_the_source_end_can_be_left_out() -> None:
    ids = [np.array([4, 5], dtype=np.uint16)]
    assert pad_pairs(ids, ids, False).source.t().tolist() == [[4, 5]]


def test_evaluation_sees_each_pair_once(bitext: Bitext) -> None:
    found = [members(batch) for batch in evaluation_batches(bitext, np.arange(10), 4, True)]
    assert sorted(i for batch in found for i in batch) == list(range(10))
    longest = [max(max(LENGTHS[i]) for i in batch) for batch in found]
    assert longest == sorted(longest)


def test_buckets_are_of_words_and_each_has_an_end_symbol_on_top() -> None:
    """So the paper's batches of up to 50 words have ten shapes, and the longest are not padded."""
    ids = [np.full(words, 3, dtype=np.uint16) for words in range(1, 51)]
    shapes = [pad_pairs([one], [one], True, 5).source.shape for one in ids]
    assert sorted(set(shapes)) == [(length, 1) for length in range(6, 52, 5)]


@given(st.lists(st.integers(1, 4000), max_size=40), st.integers(1, 8))
def test_batches_hold_each_sentence_once_and_few_words(lengths: list[int], size: int) -> None:
    found = list(batches_by_length(lengths, size))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= size * WORDS_PER_SENTENCE
        assert len(batch) <= size
