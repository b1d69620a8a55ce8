"""BLEU of equal groups of sentences: by length and rank of words (Sutskever et al., 2014, Figure 3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.vocabulary import Vocabulary
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.figures.score_groups import compute_mean_rank, plot_score_groups
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import MIN_SENTENCES, bleu_by_rank
from tests.running import ROOT


def sentence(right: int, words: int) -> dict[str, object]:
    counts = {"correct": [right] * 4, "total": [100] * 4, "hypothesis_words": 100, "reference_words": 100}
    return {"source_length": words, "reference_length": words, "source_unknown": 0, **counts}


@given(st.lists(st.integers(1, 99), min_size=1, max_size=60), st.integers(2, 9))
def test_groups_partition_sorted_sentences(lengths: list[int], count: int) -> None:
    lengths = lengths * MIN_SENTENCES
    count = min(count, len(lengths) // MIN_SENTENCES)
    rows = [sentence(words, words) for words in lengths] + [sentence(1, 0)]
    found, bounds = bleu_by_rank(rows, [*map(float, lengths), 0.0], count, Bootstrap(0, 0))
    sizes = [group.sentence_count for group in found]
    assert sum(sizes) == len(lengths) and max(sizes) - min(sizes) <= 1
    assert len(found) == count
    ordered = sorted(lengths)
    assert bounds[0] == ordered[0]
    for group, last in zip(found, bounds[1:], strict=True):
        inside, ordered = ordered[: group.sentence_count], ordered[group.sentence_count :]
        assert last == inside[-1]
        # equal counts of n-grams: the group's BLEU is the mean share of right ones
        assert group.bleu == pytest.approx(sum(inside) / len(inside), abs=1e-4)


def test_mean_rank_of_words() -> None:
    known = Vocabulary([("the", 9), ("cat", 5), ("sat", 1)])
    assert compute_mean_rank(known, ["the", "the", "sat"]) == pytest.approx(5 / 3)
    assert compute_mean_rank(known, ["cat", "zebra", "[UNK]"]) == pytest.approx((2 + 4 + 4) / 3)
    assert compute_mean_rank(known, []) == 0


def test_ticks_are_the_boundaries_of_the_groups() -> None:
    inputs = Inputs(ROOT / "results" / "packages" / "sutskever2014-demo")
    left, _ = plot_score_groups(inputs).get_axes()
    ticks = [int(text.get_text()) for text in left.get_xticklabels()]
    lengths = [len(line.split()) for line in inputs.read_text("source")]
    assert len(ticks) == 1 + inputs.settings.score_groups and ticks == sorted(ticks)
    assert (ticks[0], ticks[-1]) == (min(lengths), max(lengths))
