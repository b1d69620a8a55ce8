"""Statistics of attention: a sharp, a uniform and a stuck model differ in them."""

import math

import pytest

from nmt.evaluation.attention import measure_attention

SHARP = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
UNIFORM = [[0.25] * 4] * 3
STUCK = [[0.0, 0.1, 0.9]] * 2


def test_statistics_of_attention():
    assert measure_attention([SHARP]) == {
        "entropy": 0.0, "max_weight": 1.0, "first_weight": 0.5, "last_weight": 0.0,
    }  # fmt: skip
    assert measure_attention([UNIFORM]) == {
        "entropy": 1.0, "max_weight": 0.25, "first_weight": 0.25, "last_weight": 0.25,
    }  # fmt: skip
    entropy = -(0.1 * math.log(0.1) + 0.9 * math.log(0.9)) / math.log(3)
    assert measure_attention([STUCK])["entropy"] == pytest.approx(entropy, abs=1e-4)
    assert measure_attention([STUCK])["last_weight"] == 0.9


def test_mean_is_over_target_positions():
    # two positions with 0.5 and 0, three with 0.25; a source of one word and a model without attention do not count
    assert measure_attention([SHARP, UNIFORM, [[1.0]], []])["first_weight"] == pytest.approx((1 + 0.75) / 5)
    assert measure_attention([]) == {}
