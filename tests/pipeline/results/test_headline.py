"""The sentences that the headline is about."""

from pipeline.config.artifacts import ReportSettings
from pipeline.results.headline import _describe_change, find_longest_lengths
from tests.report_settings import report_settings

SETTINGS = ReportSettings.model_validate(report_settings({"m": "M"}))


def test_longest_sentences_are_those_of_the_last_point_of_figure2() -> None:
    # the last point is at 60 words, the end of the axis, and covers ten lengths
    assert find_longest_lengths([10] * 60 + [*range(51, 61)] * 3 + [90], SETTINGS) == range(51, 61)


def test_shorter_sentences_are_added_to_few_long_ones() -> None:
    assert find_longest_lengths([10] * 60 + [*range(51, 61)], SETTINGS) == range(10, 61)


def test_all_sentences_may_be_too_long() -> None:
    assert not find_longest_lengths([61, 90], SETTINGS)


def test_model_falls_below_80_percent_of_its_bleu() -> None:
    assert _describe_change(50.0, 50.0) == "has 50.0 BLEU (50.0 on all)"
    assert _describe_change(40.0, 50.0) == "keeps 40.0 of its 50.0 BLEU"
    assert _describe_change(39.9, 50.0) == "falls from 50.0 BLEU to 39.9"
