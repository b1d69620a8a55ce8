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
from pipeline.results.papers import ReportedScores, ScoreColumn, ScoreTable
from pipeline.results.tables.scores import Measurements, make_score_table
from pipeline.results.tables.significance import COLUMNS, make_significance_table
from pipeline.results.tables.writer import render_latex
from tests.latex import assert_compiles
from tests.report_settings import report_settings
from tests.table_inputs import score, summary

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


def compare(systems: Texts, samples: int, seed: int = 1, sentences: int = SENTENCES) -> dict[str, Any]:
    """The comparison of the systems on the first sentences."""
    references = REFERENCES[:sentences]
    counts = {}
    texts = {}
    for name, runs in systems.items():
        counts[name] = [list(map(count_matches, run[:sentences], references)) for run in runs]
        texts[name] = [detokenize(run[:sentences]) for run in runs]
    column = intervals.ColumnTranslations(counts, texts, detokenize(references))
    return intervals.compare(column, Bootstrap(samples, seed))


def compare_both(systems: Texts, samples: int) -> dict[str, Any]:
    """Both columns of Table 1; the second one has the first half of the sentences."""
    return {"all": compare(systems, samples), "no_unk": compare(systems, samples, sentences=SENTENCES // 2)}


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
        counts = list(map(count_matches, texts, REFERENCES))
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
    make_significance_table({"all": found, "no_unk": nothing}, settings())


def settings(**changes: Any) -> ReportSettings:
    labels = {model: model.capitalize() for model in ONE_RUN}
    return ReportSettings.model_validate(report_settings(labels, reported=True) | changes)


def test_table1_with_moses() -> None:
    # 1. what the package says of three models and Moses, which has no seed
    found = compare_both(WITH_MOSES, 100)
    scores = {}
    for model in WITH_MOSES:
        bleu = [found[mode]["systems"][model]["bleu"] for mode in ("all", "no_unk")]
        scores[model] = [score(model, None if model == "moses" else 1, *bleu)]
    summaries = {model: [summary(model, 1, model_type="rnnsearch")] for model in ONE_RUN}
    spec = ScoreTable(
        kind="scores",
        title="Table 1",
        columns={"all": ScoreColumn(header="All"), "no_unk": ScoreColumn(header="No UNK°", mode="no_unk")},
        reported={
            "good": ReportedScores(label="Good", scores={"all": 10, "no_unk": 99.5}),
            "moses": ReportedScores(label="Moses", quoted=True, scores={"all": 33.30, "no_unk": 35.63}),
        },
    )
    table = make_score_table(spec, "They", Measurements({"test": scores}, summaries, found), settings())

    # 2. the form for programs
    rows = {row["id"]: row for row in table.data.to_dict("records")}
    good, moses = rows["good"], rows["moses"]
    bleu_all = scores["good"][0]["bleu_all"]
    assert good["bleu_all"] == f"{bleu_all:.2f}"
    assert float(good["low_all"]) < bleu_all < float(good["high_all"])
    assert good["difference_all"] == f"{float(good['bleu_all']) - 10:+.2f}"
    assert good["difference_no_unk"].startswith("-")
    assert (moses["bleu_all"], moses["difference_all"], moses["seeds"]) == ("100.00", "+66.70", None)

    # 3. the form for readers
    assert table.display.iloc[0, 8].startswith("−")
    assert list(table.display.columns) == [
        "Model", "All", "95%", "No UNK°", "95%", "All, reported", "No UNK°, reported", "Δ All", "Δ No UNK°",
        "13a", "chrF",
    ]  # fmt: skip
    assert table.group_starts == [3]
    assert_compiles(table1=render_latex(table))


def test_significance_table() -> None:
    table = make_significance_table(compare_both(ONE_RUN, 200), settings(bootstrap_samples=200))
    rows = table.display.to_numpy().tolist()
    assert [row[:2] for row in rows] == [["Similar", "Good"], ["Bad", "Good"], ["Bad", "Similar"]]
    assert rows[0][3].endswith("(n.s.)")
    # no sample of 200 contradicts: p is at most 1 / 201
    assert rows[1][3] == "≤ 0.005"
    # the bad model's BLEU less the good one's, in both forms
    assert rows[1][2].startswith("−")
    by_pair = table.data.set_index(["column", "model", "compared_with"])["difference"]
    assert float(by_pair["all", "Bad", "Good"]) < 0
    assert len(table.data) == 6 and set(table.data["sentences"]) == {SENTENCES, SENTENCES // 2}
    assert list(table.data.columns) == COLUMNS and table.data["p"].between(0, 1).all()
