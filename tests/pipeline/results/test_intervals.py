"""Intervals, paired significance and today's metrics, held against sacrebleu called on its own."""

import random
from typing import Any

import numpy as np
import pytest
import sacrebleu

from nmt.evaluation.bleu import count_matches
from pipeline.config.artifacts import ReportSettings
from pipeline.results import intervals
from pipeline.results.bootstrap import Bootstrap, SampledBleu
from pipeline.results.tables.significance import make_significance_table
from tests.report_settings import report_settings

WORDS = [
    "le",
    "la",
    "un",
    "une",
    "chat",
    "chien",
    "maison",
    "rouge",
    "vert",
    "grand",
    "petit",
    "dort",
    "mange",
    "voit",
]
SENTENCES = 60
RNG = random.Random(0)
REFERENCES = [" ".join([*RNG.choices(WORDS, k=RNG.randint(6, 14)), "."]) for _ in range(SENTENCES)]

Texts = dict[str, list[list[str]]]
"""Tokenized translations, by system and run."""


def damage_references(seed: int, fraction: float) -> list[str]:
    """Translations in which this fraction of the words is wrong."""
    rng = random.Random(seed)
    lines = []
    for line in REFERENCES:
        words = [rng.choice(WORDS) if rng.random() < fraction else word for word in line.split()]
        lines.append(" ".join(words))
    return lines


GOOD, SIMILAR, BAD = damage_references(1, 0.2), damage_references(2, 0.21), damage_references(3, 0.6)
ONE_RUN: Texts = {"good": [GOOD], "similar": [SIMILAR], "bad": [BAD]}
WITH_MOSES: Texts = {**ONE_RUN, "moses": [REFERENCES]}


def detokenize(lines: list[str]) -> list[str]:
    return [line.replace(" .", ".") for line in lines]


def count_ngrams(lines: list[str], references: list[str]) -> list[dict[str, Any]]:
    return [vars(count_matches(*pair)) for pair in zip(lines, references, strict=True)]


def compare(systems: Texts, samples: int, seed: int = 1, sentences: int = SENTENCES) -> dict[str, Any]:
    """The comparison of the systems on the first sentences."""
    references = REFERENCES[:sentences]
    counts = {}
    texts = {}
    for name, runs in systems.items():
        counts[name] = [count_ngrams(run[:sentences], references) for run in runs]
        texts[name] = [detokenize(run[:sentences]) for run in runs]
    column = intervals.ColumnTranslations(counts, texts, detokenize(references))
    return intervals.compare(column, Bootstrap(samples, seed))


def find_pair(results: dict[str, Any], first: str, second: str) -> dict[str, Any]:
    """The comparison of two systems."""
    (pair,) = (pair for pair in results["pairs"] if (pair["first"], pair["second"]) == (first, second))
    return dict(pair)


def token_bleu(texts: list[str], references: list[str]) -> float:
    options = {"tokenize": "none", "force": True, "smooth_method": "none"}
    return float(sacrebleu.corpus_bleu(texts, [references], **options).score)


def test_scores_match_sacrebleu() -> None:
    results = compare(WITH_MOSES, samples=300, seed=7)
    assert results["sentences"] == SENTENCES
    for model, (texts,) in WITH_MOSES.items():
        system = results["systems"][model]
        raw_texts, raw_references = detokenize(texts), [detokenize(REFERENCES)]
        assert system["bleu"] == pytest.approx(token_bleu(texts, REFERENCES), abs=1e-5)
        assert system["sacrebleu"] == pytest.approx(sacrebleu.corpus_bleu(raw_texts, raw_references).score)
        assert system["chrf"] == pytest.approx(sacrebleu.corpus_chrf(raw_texts, raw_references).score)
    assert len(results["pairs"]) == 6
    assert find_pair(results, "good", "bad")["p"] < 0.01 < 0.05 < find_pair(results, "good", "similar")["p"]
    assert "bs:300" in results["signatures"]["bleu"] and "seed:7" in results["signatures"]["bleu"]
    assert "tok:13a" in results["signatures"]["sacrebleu"]


def test_intervals_and_p_match_resampling() -> None:
    samples, seed = 200, 7
    results = compare(WITH_MOSES, samples, seed)
    sampled_lines = np.random.default_rng(seed).choice(SENTENCES, size=(samples, SENTENCES), replace=True)
    scores = {}
    for model, texts in (("good", GOOD), ("similar", SIMILAR)):
        sampled_scores = []
        for lines in sampled_lines:
            sampled_scores.append(token_bleu([texts[n] for n in lines], [REFERENCES[n] for n in lines]))
        scores[model] = np.array(sampled_scores)
        bounds = np.percentile(sampled_scores, [2.5, 97.5])
        system = results["systems"][model]
        assert [system["low"], system["high"]] == pytest.approx(bounds, abs=1e-5)
        # a figure's interval of the same sentences is this one
        counts = count_ngrams(texts, REFERENCES)
        interval = SampledBleu([counts], Bootstrap(samples, seed)).compute_interval()
        assert interval == pytest.approx(bounds, abs=1e-9)
    differences = scores["similar"] - scores["good"]
    pair = find_pair(results, "good", "similar")
    extreme_count = np.sum(np.abs(differences - differences.mean()) >= abs(pair["difference"]))
    assert pair["p"] == pytest.approx((extreme_count + 1) / (samples + 1), abs=1e-6)
    # no BLEU is above 100, so no bound is
    assert [results["systems"]["moses"][bound] for bound in ("low", "high")] == [100, 100]


def test_comparison_of_several_seeds() -> None:
    """Scores, intervals, differences and p-values are those of the mean, never of the first run."""
    single = compare(ONE_RUN, 200)
    merged = compare({"model": [GOOD, BAD], "similar": [SIMILAR]}, 200)
    good, bad, model = single["systems"]["good"], single["systems"]["bad"], merged["systems"]["model"]
    for metric in ("bleu", "sacrebleu", "chrf"):
        scores = [good[metric], bad[metric]]
        assert model[metric] == pytest.approx(np.mean(scores), abs=1e-5)
        assert model[f"{metric}_std"] == pytest.approx(np.std(scores, ddof=1), abs=1e-5)
    assert model["runs"] == 2 and "runs" not in merged["systems"]["similar"]
    # two runs that differ so much: the interval reaches from one to the other, and holds the mean of both
    assert model["low"] < bad["high"] < model["bleu"] < good["low"] < model["high"]
    pair = find_pair(merged, "model", "similar")
    difference = merged["systems"]["similar"]["bleu"] - model["bleu"]
    assert pair["difference"] == pytest.approx(difference, abs=1e-5)
    assert find_pair(single, "similar", "bad")["p"] < 0.01 < pair["p"]


def test_comparison_without_samples_or_sentences() -> None:
    found = compare(ONE_RUN, 0)
    assert found["systems"]["good"]["low"] is None and found["pairs"][0]["p"] is None
    nothing = compare(ONE_RUN, 10, sentences=0)
    assert nothing == {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}
    settings = ReportSettings.model_validate(report_settings({"good": "Good"}))
    rows = make_significance_table({"all": found, "no_unk": nothing}, settings).display.to_numpy().tolist()
    assert rows[0][3:] == ["", "", ""]
