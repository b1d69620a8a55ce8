"""The bootstrap over sentences and seeds: compared with sacrebleu's for one run."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest

from nmt.evaluation.bleu import count_matches, multi_bleu
from pipeline.results.bootstrap import Bootstrap, SampledBleu

SAMPLES = 50

Corpus = tuple[list[str], list[list[str]]]
"""References, and the translations of several systems."""


def counts_of(hypotheses: list[str], references: list[str]) -> list[dict[str, Any]]:
    return [count_matches(*pair) for pair in zip(hypotheses, references, strict=True)]


@st.composite
def corpora(draw: st.DrawFn, system_count: int) -> Corpus:
    sentences = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
    size = draw(st.integers(1, 12))
    references = draw(st.lists(sentences.filter(bool), min_size=size, max_size=size))
    systems = [draw(st.lists(sentences, min_size=size, max_size=size)) for _ in range(system_count)]
    return references, systems


@given(corpora(2), st.integers(1, 2**33))  # 0 would be no seed for sacrebleu
@settings(max_examples=60, deadline=None)
def test_scores_and_samples_of_one_run_are_sacrebleus(corpus: Corpus, seed: int) -> None:
    references, systems = corpus
    bootstrap = Bootstrap(SAMPLES, seed)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SACREBLEU_SEED", str(seed))
        test = PairedTest(
            [*zip("ab", systems, strict=True)],
            {"BLEU": multi_bleu()},
            [references],
            test_type="bs",
            n_samples=SAMPLES,
        )
        _, results = test()
    sampled = [SampledBleu([counts_of(system, references)], bootstrap) for system in systems]
    for system, expected in zip(sampled, results["BLEU"], strict=True):
        assert system.bleu == expected.score
        assert system.sample_scores.mean() == pytest.approx(expected.mean)
    assert sampled[1].compute_p_value(sampled[0]) == sampled[0].compute_p_value(sampled[1])
    assert sampled[0].compute_p_value(sampled[0]) == 1


@given(corpora(3), st.integers(0, 2**33), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_of_runs_does_not_matter(corpus: Corpus, seed: int, rng: random.Random) -> None:
    references, systems = corpus
    runs = [counts_of(system, references) for system in systems]
    bootstrap = Bootstrap(SAMPLES, seed)
    model, shuffled = SampledBleu(runs, bootstrap), SampledBleu(rng.sample(runs, 3), bootstrap)
    assert shuffled.compute_interval() == model.compute_interval()
    assert shuffled.bleu == pytest.approx(model.bleu)


def damage(references: list[str], fraction: float, rng: np.random.Generator) -> list[str]:
    """Translations in which this fraction of the words is wrong."""
    return [
        " ".join(word if rng.random() > fraction else "x" for word in line.split()) for line in references
    ]


RNG = np.random.default_rng(1)
REFERENCES = [" ".join(f"w{word}" for word in RNG.integers(50, size=RNG.integers(5, 25))) for _ in range(100)]


def test_interval_and_p_follow_from_samples() -> None:
    first, second = (
        SampledBleu([counts_of(damage(REFERENCES, fraction, RNG), REFERENCES)], Bootstrap(200, 7))
        for fraction in (0.2, 0.21)
    )
    interval = np.percentile(first.sample_scores[0], [2.5, 97.5])
    assert first.compute_interval() == pytest.approx(interval)
    differences = second.sample_scores[0] - first.sample_scores[0]
    difference = second.bleu - first.bleu
    extreme_count = np.sum(np.abs(differences - differences.mean()) >= abs(difference))
    assert second.compute_p_value(first) == pytest.approx((extreme_count + 1) / (200 + 1))


def test_interval_of_runs_that_differ_reaches_from_one_to_the_other() -> None:
    good, bad = (counts_of(damage(REFERENCES, fraction, RNG), REFERENCES) for fraction in (0.2, 0.6))
    both = SampledBleu([good, bad], Bootstrap(200, 1))
    (_, bad_high), (good_low, _), (low, high) = (
        sampled.compute_interval() or (0, 0)
        for sampled in (SampledBleu([bad], Bootstrap(200, 1)), SampledBleu([good], Bootstrap(200, 1)), both)
    )
    assert low < bad_high < both.bleu < good_low < high
    # two runs are drawn: good and bad with probability 1/2, twice the same with 1/4 each
    samples = both.resample()
    assert np.mean((bad_high < samples) & (samples < good_low)) == pytest.approx(1 / 2, abs=0.1)
    # those of another system are drawn independently, so they are as good with 1/4 + 1/16 + 1/16
    assert np.mean(both.resample_difference(both) == 0) == pytest.approx(3 / 8, abs=0.1)
