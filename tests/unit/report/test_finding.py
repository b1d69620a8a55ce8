"""The finding in words: whom it is about, which sentences, and what it says of them."""

from __future__ import annotations

from typing import Any

import pytest

from nmt.config.schema import Report
from nmt.errors import UserError
from nmt.report.finding import compared, finding
from tests.report_settings import report_settings
from tests.table_inputs import MODELS

FAMILIES = {model: {"family": model.split("-")[0]} for model in MODELS}
ORDER = ["rnnsearch-50", "rnnsearch-30", "rnnencdec-50", "rnnencdec-30"]


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


def scores(**long: float) -> dict[str, dict[str, Any]]:
    """Sixty sentences of 10 words, right to 80%; thirty of 51 to 60, right to a share for each family."""
    return {
        model: {
            "by_sentence": [row(10, 0.8)] * 60
            + [row(51 + n % 10, long[values["family"]]) for n in range(30)]
            + [row(90, 0.0)]
        }
        for model, values in FAMILIES.items()
    }


def settings(**changes: Any) -> Report:
    return Report.model_validate(report_settings(MODELS, figure2_models=ORDER) | changes)


def test_it_tells_how_both_kinds_fare_on_the_longest_sentences() -> None:
    text = finding(scores(rnnsearch=0.8, rnnencdec=0.1), FAMILIES, settings())
    assert text.startswith("At 50 to 60 words (30 of 91 test sentences) RNNsearch-50 ")
    assert "; RNNenc-50 falls from " in text and text.endswith(" BLEU to 10.1.")
    text = finding(scores(rnnsearch=0.8, rnnencdec=0.6), FAMILIES, settings())
    assert text.endswith("RNNsearch-50 has 80.0 BLEU (76.7 on all); RNNenc-50 keeps 60.0 of its 62.1 BLEU.")


def test_few_long_sentences_are_joined_by_shorter_ones() -> None:
    values = scores(rnnsearch=0.8, rnnencdec=0.1)
    for value in values.values():
        value["by_sentence"] = value["by_sentence"][:75]
    assert finding(values, FAMILIES, settings()).startswith("At 10 to 60 words (75 of 75 test sentences)")


def test_whom_it_is_about() -> None:
    assert compared(ORDER, FAMILIES) == ["rnnsearch-50", "rnnencdec-50"]
    assert compared(ORDER[::-1], FAMILIES) == ["rnnsearch-30", "rnnencdec-30"]
    assert compared(ORDER[2:], FAMILIES) == ["rnnencdec-50", "rnnencdec-30"]
    assert compared(ORDER[:1], FAMILIES) == ["rnnsearch-50"]
    assert compared(ORDER, {}) == ["rnnsearch-50", "rnnsearch-30"]
    with pytest.raises(UserError, match="family is 'lstn', expected"):
        compared(ORDER, {"rnnsearch-50": {"family": "lstn"}})


def test_nothing_to_say() -> None:
    values = {model: {"by_sentence": [row(61, 0.5)]} for model in ORDER}
    assert (
        finding(values, FAMILIES, settings(figure2_max_words=60)) == "No test sentence has at most 60 words."
    )
    with pytest.raises(UserError, match="names 'rnnencdec-30', which has no score"):
        finding({model: values[model] for model in ORDER[:3]}, FAMILIES, settings())
