"""The headline: which sentences it is about, and what it says of them."""

from typing import Any

from nmt.evaluation.bleu import BleuCounts, corpus_bleu
from pipeline.config.artifacts import ReportSettings
from pipeline.results.headline import describe_longest_sentences
from tests.report_settings import report_settings
from tests.table_inputs import MODELS


def sentence(length: int, fraction: float) -> dict[str, Any]:
    """A sentence of as many words as its reference, with this fraction of its n-grams right."""
    total = [max(0, length - n) for n in range(4)]
    return {
        "source_length": length,
        "reference_length": length,
        "correct": [round(fraction * n) for n in total],
        "total": total,
        "hypothesis_words": length,
        "reference_words": length,
    }


def sentences(long_fraction: float) -> list[dict[str, Any]]:
    """Sixty sentences of 10 words, 80% right; thirty of 51 to 60 words, another fraction right; a longer one."""
    long_sentences = [sentence(51 + n % 10, long_fraction) for n in range(30)]
    return [sentence(10, 0.8)] * 60 + long_sentences + [sentence(90, 0.0)]


def headline(fractions: dict[str, list[float]], number: int = 91, **changes: Any) -> str:
    """The headline on models, with the fraction that each run has right on long sentences."""
    scores = {}
    for model, runs in fractions.items():
        scores[model] = []
        for fraction in runs:
            rows = sentences(fraction)[:number]
            bleu = corpus_bleu(BleuCounts.from_dict(row) for row in rows)
            scores[model].append({"by_sentence": rows, "bleu_all": bleu})
    return describe_longest_sentences(
        scores, ReportSettings.model_validate(report_settings(MODELS) | changes)
    )


def test_headline_compares_long_sentences_with_all() -> None:
    text = headline({"rnnsearch-50": [0.8], "rnnencdec-50": [0.1]})
    assert text.startswith("At 51 to 60 words (30 of 91 test sentences) RNNsearch-50 ")
    assert text.endswith("; RNNencdec-50 falls from 25.5 BLEU to 10.1.")
    text = headline({"rnnsearch-50": [0.8], "rnnencdec-50": [0.6]})
    assert text.endswith(
        "RNNsearch-50 has 80.0 BLEU (76.7 on all); RNNencdec-50 keeps 60.0 of its 62.1 BLEU."
    )


def test_headline_of_several_seeds_has_their_mean() -> None:
    assert headline({"rnnsearch-50": [0.8, 0.6]}).endswith("RNNsearch-50 has 70.0 BLEU (69.4 on all).")


def test_headline_adds_shorter_sentences_to_few_long_ones() -> None:
    text = headline({"rnnsearch-50": [0.8]}, 75)
    assert text.startswith("At 10 to 60 words (75 of 75 test sentences) RNNsearch")


def test_headline_without_sentences_of_these_lengths() -> None:
    text = headline({"rnnsearch-50": [0.8]}, figure2_max_words=9)
    assert text == "No test sentence has at most 9 words."
