"""The bootstrap over sentences and seeds: held against sacrebleu's samples for one run, and how often it is right."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest

from nmt.evaluation.bleu import BleuCounts, count_matches, multi_bleu
from pipeline.results.bootstrap import Bootstrap, SampledBleu

SAMPLES = 50

sentences = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
seeds = st.integers(0, 2**33)


def counts_of(hypotheses: list[str], references: list[str]) -> list[BleuCounts]:
    return [count_matches(*pair) for pair in zip(hypotheses, references, strict=True)]


@st.composite
def texts(draw: st.DrawFn, count: int) -> tuple[list[str], list[list[str]]]:
    """References, and so many translations of them."""
    number = draw(st.integers(1, 12))
    lines = st.lists(sentences, min_size=number, max_size=number)
    references = draw(st.lists(sentences.filter(bool), min_size=number, max_size=number))
    return references, [draw(lines) for _ in range(count)]


@given(texts(2), seeds)
@settings(max_examples=60, deadline=None)
def test_with_one_run_each_scores_and_samples_are_sacrebleus(
    text: tuple[list[str], list[list[str]]], seed: int
) -> None:
    references, systems = text
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
    ours = [SampledBleu([counts_of(system, references)], bootstrap) for system in systems]
    for system, theirs in zip(ours, results["BLEU"], strict=True):
        assert system.bleu == theirs.score
        assert system.samples.mean() == pytest.approx(theirs.mean)
    assert ours[1].p_value(ours[0]) == ours[0].p_value(ours[1])
    assert ours[0].p_value(ours[0]) == 1


@given(texts(4), seeds, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_runs_does_not_matter(
    text: tuple[list[str], list[list[str]]], seed: int, rng: random.Random
) -> None:
    references, systems = text
    runs = [counts_of(system, references) for system in systems]
    bootstrap = Bootstrap(SAMPLES, seed)
    one, two, other = (
        SampledBleu(found, bootstrap) for found in (runs[:3], rng.sample(runs[:3], 3), runs[3:])
    )
    assert two.interval() == one.interval() and two.bleu == pytest.approx(one.bleu)
    if abs(one.bleu - other.bleu) > 1e-9:
        assert two.p_value(other) == pytest.approx(one.p_value(other), abs=0.05)


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
        significant += (second.p_value(first) or 0) < 0.05
    assert 0.03 < significant / repeats < 0.07
