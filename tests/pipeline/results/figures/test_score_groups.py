"""BLEU of equal groups of sentences: by length and rank of words (Sutskever et al., 2014, Figure 3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.vocabulary import WordVocabulary
from nmt.evaluation.bleu import BleuCounts
from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.figures.score_groups import compute_mean_rank, make_score_groups
from pipeline.results.sentence_groups import MIN_SENTENCES, bleu_by_rank
from tests.report_settings import report_settings

LABELS = {"lstm": "LSTM", "moses": "Baseline"}


def sentence(right: int, words: int) -> dict[str, object]:
    counts = BleuCounts([right] * 4, [100] * 4, 100, 100)
    return {"source_length": words, "reference_length": words, "source_unknown": 0, **vars(counts)}


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
    known = WordVocabulary([("the", 9), ("cat", 5), ("sat", 1)])
    assert compute_mean_rank(known, ["the", "the", "sat"]) == pytest.approx(5 / 3)
    assert compute_mean_rank(known, ["cat", "zebra", "[UNK]"]) == pytest.approx((2 + 4 + 4) / 3)
    assert compute_mean_rank(known, []) == 0


def test_score_groups_ticks() -> None:
    rows = [sentence(20 + place, words) for place, words in enumerate((9, 4, 30, 12))] * MIN_SENTENCES
    settings = ReportSettings.model_validate(report_settings(LABELS) | {"score_groups": 2})
    figure = make_score_groups(
        {"lstm": rows, "moses": rows}, [500.2, 10.0, 700.0, 60.0] * MIN_SENTENCES, settings
    )
    left, right = figure.get_axes()
    assert [text.get_text() for text in left.get_xticklabels()] == ["4", "9", "30"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["10", "60", "700"]
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["LSTM", "Baseline"]
    assert list(left.lines[0].get_ydata()) == pytest.approx([20.5, 22.5])
    assert list(right.lines[1].get_ydata()) == pytest.approx([22.0, 21.0])
