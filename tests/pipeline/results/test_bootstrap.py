"""The bootstrap over sentences and seeds: compared with sacrebleu's for one run, and how often it is right."""

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
    return [vars(count_matches(*pair)) for pair in zip(hypotheses, references, strict=True)]


@st.composite
def corpora(draw: st.DrawFn, system_count: int) -> Corpus:
    sentences = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
    size = draw(st.integers(1, 12))
    references = draw(st.lists(sentences.filter(bool), min_size=size, max_size=size))
    systems = [draw(st.lists(sentences, min_size=size, max_size=size)) for _ in range(system_count)]
    return references, systems


@given(corpora(2), st.integers(0, 2**33))
@settings(max_examples=60, deadline=None)
def test_scores_and_samples_of_one_run_are_sacrebleus(corpus: Corpus, seed: int) -> None:
    references, systems = corpus
    bootstrap = Bootstrap(SAMPLES, seed)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SACREBLEU_SEED", str(bootstrap.sacrebleu_seed))
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


def test_p_is_below_5_percent_in_about_5_percent_of_random_exchanges() -> None:
    """Of the translations of two systems, so that no difference means anything."""
    rng, repeats = np.random.default_rng(1), 500
    references = [[f"w{word}" for word in rng.integers(50, size=rng.integers(5, 25))] for _ in range(100)]
    systems = [
        counts_of(
            [" ".join(word if rng.random() > 0.25 else "x" for word in words) for words in references],
            [" ".join(words) for words in references],
        )
        for _ in range(2)
    ]
    significant = 0
    for seed in range(1, repeats + 1):
        pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in zip(*systems, strict=True)]
        first, second = (SampledBleu([[*side]], Bootstrap(100, seed)) for side in zip(*pairs, strict=True))
        significant += (second.compute_p_value(first) or 0) < 0.05
    assert 0.03 < significant / repeats < 0.07
