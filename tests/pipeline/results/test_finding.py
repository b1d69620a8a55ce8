"""The finding in words: which sentences, and what it says of them."""

from __future__ import annotations

from typing import Any

from pipeline.config.display import ReportSettings
from pipeline.results.finding import finding
from tests.report_settings import report_settings
from tests.table_inputs import MODELS


def row(length: int, share: float) -> dict[str, Any]:
    """A sentence of as many words as its reference, whose n-grams are right to a share of them."""
    total = [max(0, length - n) for n in range(4)]
    return {
        "source_length": length,
        "reference_length": length,
        "sentences": 1,
        "correct": [round(share * n) for n in total],
        "total": total,
        "hypothesis_words": length,
        "reference_words": length,
    }


def rows(long: float) -> list[dict[str, Any]]:
    """Sixty sentences of 10 words, right to 80%; thirty of 51 to 60, right to another share; one that is longer."""
    return [row(10, 0.8)] * 60 + [row(51 + n % 10, long) for n in range(30)] + [row(90, 0.0)]


def told(long: dict[str, float], number: int = 91, **changes: Any) -> str:
    values = {model: [{"by_sentence": rows(share)[:number]}] for model, share in long.items()}
    return finding(values, ReportSettings.model_validate(report_settings(MODELS) | changes))


def test_it_tells_how_models_fare_on_the_longest_sentences() -> None:
    text = told({"rnnsearch-50": 0.8, "rnnencdec-50": 0.1})
    assert text.startswith("At 51 to 60 words (30 of 91 test sentences) RNNsearch-50 ")
    assert text.endswith("; RNNencdec-50 falls from 25.5 BLEU to 10.1.")
    text = told({"rnnsearch-50": 0.8, "rnnencdec-50": 0.6})
    assert text.endswith(
        "RNNsearch-50 has 80.0 BLEU (76.7 on all); RNNencdec-50 keeps 60.0 of its 62.1 BLEU."
    )


def test_of_several_seeds_it_tells_the_mean() -> None:
    runs = {"rnnsearch-50": [{"by_sentence": rows(share)} for share in (0.8, 0.6)]}
    text = finding(runs, ReportSettings.model_validate(report_settings(MODELS)))
    assert text.endswith("RNNsearch-50 has 70.0 BLEU (69.4 on all).")


def test_few_long_sentences_are_joined_by_shorter_ones() -> None:
    assert told({"rnnsearch-50": 0.8}, 75).startswith("At 10 to 60 words (75 of 75 test sentences) RNNsearch")


def test_nothing_to_say() -> None:
    assert told({"rnnsearch-50": 0.8}, figure2_max_words=9) == "No test sentence has at most 9 words."
