"""Table 1: its columns, our numbers and the paper's, several seeds, and what bad input is answered."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nmt.evaluation import bleu
from tests.bitexts import write_text
from tests.latex import assert_compiles
from tests.table_inputs import (
    MODELS,
    PAPER,
    rows_of,
    score,
    settings,
    summary,
    write,
    write_table,
)

NUMBER = 1


def test_reported_scores(reported: Path) -> None:
    rows = rows_of(reported / "table1.csv")
    assert [row["model"] for row in rows] == [*MODELS.values(), "Moses"]
    star = rows[4]
    assert (star["bleu_all"], star["bleu_no_unk"]) == ("14.01", "24.00")
    assert (star["reported_all"], star["reported_no_unk"]) == ("28.45", "36.15")
    assert (star["updates"], star["hidden_units"], star["optimizer"]) == ("1238", "96", "adam")
    assert star["signature"] == "nrefs:1|tok:none"
    moses = rows[5]
    assert (moses["bleu_all"], moses["reported_all"], moses["reported_no_unk"]) == ("", "33.30", "35.63")
    assert rows[0]["bleu_no_unk"] == ""


def test_no_reported_scores_unless_requested(own: Path) -> None:
    rows = rows_of(own / "table1.csv")
    assert [row["model"] for row in rows] == list(MODELS.values())
    assert {row["reported_all"] + row["reported_no_unk"] for row in rows} == {""}
    for form in ("md", "tex"):
        text = (own / f"table1.{form}").read_text()
        assert "reported" not in text.lower() and "Moses" not in text and "28.45" not in text


def test_score_table_of_several_seeds(several: Path) -> None:
    one, three = rows_of(several / "table1.csv")
    # BLEU 10, 11, 15: mean 12, deviation sqrt((4 + 1 + 9) / 2)
    assert (three["bleu_all"], three["bleu_all_std"], three["seeds"]) == ("12.00", "2.65", "3")
    assert (three["bleu_no_unk"], three["bleu_no_unk_std"]) == ("24.00", "5.29")
    assert (one["bleu_all"], one["bleu_all_std"], one["bleu_no_unk_std"], one["seeds"]) == (
        "5.00",
        "",
        "",
        "1",
    )
    text = (several / "table1.md").read_text(encoding="utf-8")
    assert "| 12.00 ± 2.65 | 24.00 ± 5.29 |" in text
    assert "1 seed (RNNencdec-50); 3 seeds (RNNsearch-50)" in " ".join(text.split())
    # updates 1000, 1000, 1600
    assert "1,200 updates on average (RNNsearch-50)" in " ".join(text.split())


def test_tex_compiles(reported: Path) -> None:
    assert_compiles(reported / "table1.tex")


def test_columns_of_some_lengths(tmp_path: Path) -> None:
    """Cho et al. (2014b), Table 1 (b): of source words, unless the settings say otherwise."""
    words = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"]
    sets = {"dev": [12, 4, 10], "test": [3, 11, 12]}
    for name, lengths in sets.items():
        pairs = [(" ".join(words[:length]), " ".join(words)) for length in lengths]
        copies = [{"line": line, "source": source, "text": source} for line, (source, _) in enumerate(pairs)]
        translations = write_text(tmp_path / f"{name}.jsonl", map(json.dumps, copies))
        source, reference = (
            write_text(tmp_path / f"{name}.{place}", [pair[place] for pair in pairs]) for place in (0, 1)
        )
        scores = {"seed": 1, **bleu.score_model("grconv-30", translations, translations, (source, reference))}
        (tmp_path / f"{name}.json").write_text(json.dumps(scores), encoding="utf-8")
    table = (PAPER.with_name("cho2014b.yaml"), "cho2014b_table1b")
    (tmp_path / "summary.json").write_text(json.dumps(summary("grconv-30", 1)), encoding="utf-8")
    files = ([tmp_path / f"{name}.json"] for name in ("test", "summary", "dev"))
    scored = [*files]
    for length, sentences in (("source", (2, 2)), ("reference", (3, 3))):
        wanted = settings(figure2_length=length, bootstrap_samples=20)
        write_table(*table, wanted, tmp_path / "out", *scored)
        row, moses = rows_of(tmp_path / "out.csv")
        assert (int(row["sentences_dev_all"]), int(row["sentences_test_no_unk"])) == sentences
        lengths = {name: [n for n in sets[name] if length == "reference" or n >= 10] for name in sets}
        for name in sets:
            # every n-gram matches: BLEU is the brevity penalty
            brevity = 100 * math.exp(1 - 12 * len(lengths[name]) / sum(lengths[name]))
            assert float(row[f"bleu_{name}_all"]) == pytest.approx(brevity, abs=0.006)
            assert float(row[f"low_{name}_all"]) <= brevity <= float(row[f"high_{name}_all"])
        assert row["difference_test_all"] == f"{float(row['bleu_test_all']) - 17.5:+.2f}"
        assert (moses["reported_dev_all"], moses["bleu_dev_all"]) == ("28.92", "")
        text = " ".join((tmp_path / "out.md").read_text(encoding="utf-8").split())
        both = "10 to 20 words (source and reference)"
        assert f"of sentences of 10 to 20 words ({length}) and {both}. Dev., all: {sentences[0]} sent" in text
        # of the test set's three pairs two have so many words on both sides, whatever the others count
        assert row["sentences_test_both_sides"] == "2" and moses["reported_test_both_sides"] == "33.08"
        assert f"°: the {sentences[0]}, {sentences[1]} and 2 sentences without an unknown word" in text
        assert "95%: bootstrap interval (20 samples, seed 1). Of one run it is over sentences alone" in text
        assert "what Cho et al. (2014b) give in their Table 1 (b)" in text
    assert_compiles(tmp_path / "out.tex")


def test_interval_of_several_seeds(tmp_path: Path) -> None:
    """A run with every word right and one with every word wrong: of the first alone it would be 100 to 100."""
    table = (PAPER.with_name("cho2014b.yaml"), "cho2014b_table1b")
    wanted = settings(bootstrap_samples=100, reported=False)
    for seed, right in ((1, True), (2, False)):
        counts = {
            "sentences": 1,
            "correct": [10 * right] * 4,
            "total": [10] * 4,
            "hypothesis_words": 10,
            "reference_words": 10,
        }
        rows = [{"source_length": 10, "reference_length": 10, "source_unknown": 0, **counts}] * 5
        scores = score("grconv-30", seed, 100.0 * right, 100.0 * right)
        scores |= {"by_sentence": rows, "by_sentence_no_unk": rows, "unfinished_all": 4}
        write(tmp_path, str(seed), scores, summary("grconv-30", seed))
    scored, trained = ([tmp_path / f"{seed}.{kind}.json" for seed in (1, 2)] for kind in ("score", "summary"))
    write_table(*table, wanted, tmp_path / "out", scored, trained, scored)
    (row,) = rows_of(tmp_path / "out.csv")
    for column in ("dev_all", "dev_no_unk", "test_all", "test_no_unk"):
        assert [row[f"{bound}_{column}"] for bound in ("low", "high")] == ["0.00", "100.00"]
        assert row[f"bleu_{column}"] == "50.00"
    notes = " ".join((tmp_path / "out.md").read_text().split())
    assert "Of several seeds it is of their mean" in notes and "scored as they stand: 8 of 6,006 (" in notes


def test_row_order_of_paper(tmp_path: Path) -> None:
    """Sutskever et al. (2014), Table 1: systems that are no runs have scores and no summary."""
    for place, system in enumerate(["lstm-reversed", "lstm-forward", "other", "lstm-shallow"]):
        write(tmp_path, str(place), score(system, 1, 20.0 + place, None), summary(system, 1))
    ensemble = score("lstm-reversed-ensemble-5-beam-2", 1, 33.0, None) | {"seed": None}
    (tmp_path / "ensemble.json").write_text(json.dumps(ensemble), encoding="utf-8")
    scored = [*(tmp_path / f"{place}.score.json" for place in range(4)), tmp_path / "ensemble.json"]
    trained = [tmp_path / f"{place}.summary.json" for place in range(4)]
    paper = PAPER.with_name("sutskever2014.yaml")
    write_table(paper, "sutskever2014_table1", settings(), tmp_path / "out", scored, trained)
    rows = rows_of(tmp_path / "out.csv")
    ids = ["rnnsearch-50-star", "moses", "lstm-forward", "lstm-reversed", "lstm-reversed-ensemble-5-beam-2"]
    assert [row["id"] for row in rows] == [*ids, "lstm-shallow"]
    assert [row["bleu_test"] for row in rows] == ["", "", "21.00", "20.00", "33.00", "23.00"]
    assert (rows[4]["difference_test"], rows[4]["seeds"], rows[0]["reported_test"]) == ("-1.50", "", "28.45")
