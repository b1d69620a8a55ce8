"""Intervals, paired significance and today's metrics, held against sacrebleu called on its own."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from nmt.data.tokenization import Detokenizer, Tokenizer
from nmt.evaluation.bleu import sentence_counts
from nmt.settings.text import Tokenization
from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import Bootstrap, interval
from pipeline.results.comparison import EvaluatedText, compare
from pipeline.results.papers import Column, ReportedScores, ScoreTable
from pipeline.results.tables.scores import Measured, score_table
from pipeline.results.tables.significance import COLUMNS, significance
from pipeline.results.tables.writer import as_tex
from tests.bitexts import write_text
from tests.latex import assert_compiles
from tests.plain_csv import read_plain
from tests.report_settings import report_settings
from tests.running import MIRROR
from tests.table_inputs import write_forms
from tests.translators import MOSES

WORDS = [
    "le", "la", "un", "une", "chat", "chien", "maison", "rouge",
    "vert", "grand", "petit", "dort", "mange", "voit", "aime",
]  # fmt: skip
SENTENCES = 60
FRENCH = Detokenizer("fr", MOSES)
Translations = dict[str, list[list[Path]]]
NEWSTEST = MIRROR / "wmt14" / "test-full.tgz"


def sentence(rng: random.Random) -> list[str]:
    return [*rng.choices(WORDS, k=rng.randint(6, 14)), "."]


def damaged(rng: random.Random, words: list[str], share: float) -> list[str]:
    """A translation in which this share of the words is wrong."""
    return [rng.choice(WORDS) if rng.random() < share else word for word in words]


def decode(path: Path, texts: dict[int, list[str]]) -> Path:
    return write_text(
        path,
        (
            json.dumps({"line": line, "source": f"s{line}", "text": " ".join(words)})
            for line, words in texts.items()
        ),
    )


@pytest.fixture
def evaluated_text(tmp_path: Path) -> EvaluatedText:
    rng = random.Random(0)
    tokens = [" ".join(sentence(rng)) for _ in range(SENTENCES)]
    return text_of(tmp_path, tokens, [line.replace(" .", ".") for line in tokens], FRENCH)


def references(test: EvaluatedText) -> list[list[str]]:
    return [line.split() for line in test.reference.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def translations(evaluated_text: EvaluatedText, tmp_path: Path) -> Translations:
    """A good model, one nearly as good, and a bad one, of one run each."""
    found = {}
    for name, share, seed in (("good", 0.2, 1), ("similar", 0.21, 2), ("bad", 0.6, 3)):
        rng = random.Random(seed)
        texts = {line: damaged(rng, words, share) for line, words in enumerate(references(evaluated_text))}
        known = {line: texts[line] for line in range(0, SENTENCES, 2)}
        found[name] = [
            [decode(tmp_path / f"{name}.{mode}", t) for mode, t in (("all", texts), ("no_unk", known))]
        ]
    return found


def hypotheses(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_scores_are_those_of_sacrebleu(
    translations: Translations, evaluated_text: EvaluatedText, tmp_path: Path
) -> None:
    found = compare(translations, {"moses": evaluated_text.reference}, evaluated_text, samples=300, seed=7)
    everything, known = found["all"], found["no_unk"]
    assert (everything["sentences"], known["sentences"]) == (SENTENCES, SENTENCES // 2)
    tokens = [" ".join(words) for words in references(evaluated_text)]
    raw = (tmp_path / "raw").read_text(encoding="utf-8").splitlines()
    for model, ((path, _),) in translations.items():
        system = everything["systems"][model]
        texts = hypotheses(path)
        plain = sacrebleu.corpus_bleu(texts, [tokens], tokenize="none", force=True, smooth_method="none")
        assert system["bleu"] == pytest.approx(plain.score, abs=1e-5)
        detokenized = [text.replace(" .", ".") for text in texts]
        assert system["sacrebleu"] == pytest.approx(sacrebleu.corpus_bleu(detokenized, [raw]).score, abs=1e-5)
        assert system["chrf"] == pytest.approx(sacrebleu.corpus_chrf(detokenized, [raw]).score, abs=1e-5)
    assert everything["systems"]["moses"]["bleu"] == known["systems"]["moses"]["bleu"] == 100
    p = {(pair["first"], pair["second"]): pair["p"] for pair in everything["pairs"]}
    assert len(p) == 6
    assert p["good", "bad"] < 0.01 and p["similar", "bad"] < 0.01 and p["good", "similar"] > 0.05
    assert "bs:300" in everything["signatures"]["bleu"] and "seed:7" in everything["signatures"]["bleu"]
    assert "tok:13a" in everything["signatures"]["sacrebleu"]


def test_intervals_and_p_follow_from_sentences_drawn_anew(
    translations: Translations, evaluated_text: EvaluatedText
) -> None:
    samples, seed = 200, 7
    found = compare(translations, {"moses": evaluated_text.reference}, evaluated_text, samples, seed)["all"]
    tokens = [" ".join(words) for words in references(evaluated_text)]
    lines = np.random.default_rng(seed).choice(SENTENCES, size=(samples, SENTENCES), replace=True)
    bleu = {}
    for model in ("good", "similar"):
        texts = hypotheses(translations[model][0][0])
        bleu[model] = np.array(
            [
                sacrebleu.corpus_bleu(
                    [texts[line] for line in sample],
                    [[tokens[line] for line in sample]],
                    tokenize="none",
                    force=True,
                    smooth_method="none",
                ).score
                for sample in lines
            ]
        )
        system = found["systems"][model]
        expected = np.percentile(bleu[model], [2.5, 97.5])
        assert [system["low"], system["high"]] == pytest.approx(expected, abs=1e-5)
        # a figure's interval of the same sentences is this one
        pairs = zip(texts, tokens, strict=True)
        counts = [sentence_counts(*both) for both in pairs]
        assert interval([counts], Bootstrap(samples, seed)) == pytest.approx(expected, abs=1e-9)
    differences = bleu["similar"] - bleu["good"]
    (pair,) = (pair for pair in found["pairs"] if (pair["first"], pair["second"]) == ("good", "similar"))
    as_far = np.sum(np.abs(differences - differences.mean()) >= abs(pair["difference"]))
    assert pair["p"] == pytest.approx((as_far + 1) / (samples + 1), abs=1e-6)
    # no BLEU is above 100, so no bound is
    assert [found["systems"]["moses"][bound] for bound in ("low", "high")] == [100, 100]


def test_scores_of_several_seeds_are_means(translations: Translations, evaluated_text: EvaluatedText) -> None:
    """And so are the interval, the difference and p: never those of the first run."""
    alone = compare(translations, {}, evaluated_text, 200, 1)["all"]
    together = {"model": translations["good"] + translations["bad"], "similar": translations["similar"]}
    both = compare(together, {"moses": evaluated_text.reference}, evaluated_text, 200, 1)
    system = both["all"]["systems"]["model"]
    for metric in ("bleu", "sacrebleu", "chrf"):
        values = [alone["systems"][name][metric] for name in ("good", "bad")]
        assert system[metric] == pytest.approx(np.mean(values), abs=1e-5)
        assert system[f"{metric}_std"] == pytest.approx(np.std(values, ddof=1), abs=1e-5)
    assert system["runs"] == 2 and "runs" not in both["all"]["systems"]["similar"]
    # two runs that differ so much: the interval reaches from one to the other, and holds the mean of both
    assert system["low"] < alone["systems"]["bad"]["high"] < system["bleu"]
    assert system["bleu"] < alone["systems"]["good"]["low"] < system["high"]
    p = {(pair["first"], pair["second"]): pair for pair in both["all"]["pairs"]}
    difference = both["all"]["systems"]["similar"]["bleu"] - system["bleu"]
    assert p["model", "similar"]["difference"] == pytest.approx(difference, abs=1e-5)
    (first,) = (pair for pair in alone["pairs"] if (pair["first"], pair["second"]) == ("similar", "bad"))
    assert first["p"] < 0.01 < p["model", "similar"]["p"]
    scores = runs(both)
    table = score_table(TABLE, "They", Measured({"test": scores}, summaries(scores), both), settings("model"))
    assert " ± " in table.shown.iloc[0, -1] and " ± " in table.shown.iloc[0, -2]
    assert table.frame["low_all"][0] == f"{system['low']:.2f}"


def text_of(folder: Path, tokens: list[str], raw: list[str], detokenize: Detokenizer) -> EvaluatedText:
    """A test set of these sentences, on whose source nothing depends."""
    sides = {"source": [f"s{line}" for line in range(len(raw))], "reference": tokens, "raw": raw}
    for name, lines in sides.items():
        write_text(folder / name, lines)
    return EvaluatedText(folder / "source", folder / "reference", folder / "raw", detokenize)


def todays_scores(
    folder: Path, raw: list[str], tokens: list[str], settings: Tokenization = MOSES
) -> dict[str, float]:
    """13a and chrF of a system that writes these tokens."""
    path = decode(folder / "system", dict(enumerate(line.split() for line in tokens)))
    test = text_of(folder, tokens, raw, Detokenizer("fr", settings))
    found: dict[str, float] = compare({"system": [[path, path]]}, {}, test, 0, 1)["all"]["systems"]["system"]
    return found


def test_todays_metrics_see_text_as_the_project_detokenizes_it(tmp_path: Path) -> None:
    """French apostrophes, and a currency behind its number."""
    raw = ["L’homme s’en va aujourd’hui.", "Il gagne 5 € par jour, d’accord ?", "Qu'il dorme."]
    found = todays_scores(tmp_path, raw, list(map(Tokenizer("fr", MOSES), raw)))
    assert found["sacrebleu"] == pytest.approx(100) and found["chrf"] == pytest.approx(100)


def test_what_was_not_escaped_is_not_unescaped(tmp_path: Path) -> None:
    settings = MOSES.model_copy(update={"escape": False})
    raw = ["Une page dit &lt; et rien de plus."]
    found = todays_scores(tmp_path, raw, ["Une page dit &lt; et rien de plus ."], settings)
    assert found["chrf"] == pytest.approx(100)


def test_no_samples_give_scores_alone(translations: Translations, evaluated_text: EvaluatedText) -> None:
    found = compare(translations, {}, evaluated_text, 0, 1)["all"]
    assert found["systems"]["good"]["low"] is None and found["pairs"][0]["p"] is None
    assert found["pairs"][0]["difference"] == pytest.approx(
        found["systems"]["similar"]["bleu"] - found["systems"]["good"]["bleu"], abs=1e-5
    )


def test_no_sentence_without_unknown_words(
    translations: Translations, evaluated_text: EvaluatedText, tmp_path: Path
) -> None:
    nothing = decode(tmp_path / "nothing", {})
    found = compare({"good": [[translations["good"][0][0], nothing]]}, {}, evaluated_text, 10, 1)
    assert found["no_unk"] == {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}
    significance(found, settings("good"))


def settings(*models: str) -> ReportSettings:
    labels = {model: model.capitalize() for model in models}
    return ReportSettings.model_validate_json(json.dumps(report_settings(labels, reported=True)))


TABLE = ScoreTable(
    kind="scores",
    called="Table 1",
    columns={"all": Column(header="All"), "no_unk": Column(header="No UNK°", mode="no_unk")},
)


def moses(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    (row,) = runs(found, "moses").values()
    return {"moses": [{**row[0], "seed": None}]}


def runs(found: dict[str, Any], *others: str) -> dict[str, list[dict[str, Any]]]:
    systems = {column: found[column]["systems"] for column in ("all", "no_unk")}
    return {
        model: [
            {
                "model": model,
                "seed": 1,
                **{f"bleu_{column}": systems[column][model]["bleu"] for column in systems},
                **{f"sentences_{column}": found[column]["sentences"] for column in systems},
                "signature": "tok:none",
            }
        ]
        for model in systems["all"]
        if (model in others if others else model != "moses")
    }


def summaries(models: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    recipe = {"optimizer": "adam", "hidden_units": 8, "updates": 10, "epochs": 1.0, "hours": 1.0}
    same = {"seed": 1, "family": "rnnsearch", "train_nll": 1.0, "dev_nll": 1.0}
    return {model: [{"model": model, **same, **recipe}] for model in models}


def test_table_1_has_intervals_differences_and_a_measured_moses(
    translations: Translations, evaluated_text: EvaluatedText, tmp_path: Path
) -> None:
    found = compare(translations, {"moses": evaluated_text.reference}, evaluated_text, 100, 1)
    scores = runs(found)
    reported = {
        "good": ReportedScores(label="Good", scores={"all": 10, "no_unk": 99.5}),
        "moses": ReportedScores(label="Moses", quoted=True, scores={"all": 33.30, "no_unk": 35.63}),
    }
    described = TABLE.model_copy(update={"reported": reported})
    measured = Measured({"test": scores | moses(found)}, summaries(scores), found)
    table = score_table(described, "They", measured, settings(*scores))
    rows = {row["id"]: row for row in table.frame.to_dict("records")}
    bleu = found["all"]["systems"]["good"]["bleu"]
    assert rows["good"]["bleu_all"] == f"{bleu:.2f}"
    assert float(rows["good"]["low_all"]) < bleu < float(rows["good"]["high_all"])
    assert rows["good"]["difference_all"] == f"{float(f'{bleu:.2f}') - 10:+.2f}"
    assert rows["good"]["difference_no_unk"].startswith("-")
    assert table.shown.iloc[0, 8].startswith("−")
    assert rows["moses"]["bleu_all"] == "100.00" and rows["moses"]["difference_all"] == "+66.70"
    assert rows["moses"]["sentences_no_unk"] == SENTENCES // 2
    assert list(table.shown.columns) == [
        "Model", "All", "95%", "No UNK°", "95%", "All, reported", "No UNK°, reported", "Δ All", "Δ No UNK°",
        "13a", "chrF",
    ]  # fmt: skip
    assert table.rules == [3]
    assert r"$\Delta$ All" in as_tex(table)
    write_forms(table, tmp_path / "table1")
    assert_compiles(tmp_path / "table1.tex")


def test_the_table_of_significance(
    translations: Translations, evaluated_text: EvaluatedText, tmp_path: Path
) -> None:
    found = compare(translations, {}, evaluated_text, 200, 1)
    report = settings(*translations).model_copy(update={"bootstrap_samples": 200})
    table = significance(found, report)
    rows = table.shown.to_numpy().tolist()
    assert [row[:2] for row in rows] == [["Similar", "Good"], ["Bad", "Good"], ["Bad", "Similar"]]
    assert rows[0][3].endswith("(n.s.)")
    # no sample of 200 contradicts: p is at most 1 / 201
    assert rows[1][3] == "≤ 0.005"
    # the bad model's BLEU less the good one's, in all three forms
    assert rows[1][2].startswith("−")
    by_pair = table.frame.set_index(["column", "model", "compared_with"])["difference"]
    assert float(by_pair["all", "Bad", "Good"]) < 0
    assert len(table.frame) == 6 and set(table.frame["sentences"]) == {SENTENCES, SENTENCES // 2}
    write_forms(table, tmp_path / "significance")
    assert_compiles(tmp_path / "significance.tex")
    plain = read_plain(
        tmp_path / "significance.csv", COLUMNS, words={"column", "model", "compared_with", "signature"}
    )
    assert plain["difference"][1] < 0 and plain["p"].between(0, 1).all()
