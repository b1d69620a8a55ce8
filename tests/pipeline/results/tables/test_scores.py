"""Table 1: its columns, our numbers and the paper's, several seeds; other papers' columns and rows."""

import json
import math
from pathlib import Path

import pytest

from nmt.evaluation import bleu
from tests.bitexts import write_text
from tests.latex import assert_compiles
from tests.table_inputs import (
    MODELS,
    csv_rows,
    five_models,
    notes_of,
    render_table,
    score,
    several_seeds,
    summary,
)


def test_reported_scores() -> None:
    forms = render_table("table1", *five_models())
    rows = csv_rows(forms)
    assert [row["model"] for row in rows] == [*MODELS.values(), "Moses"]
    star, moses = rows[4:]
    assert (star["bleu_all"], star["bleu_no_unk"]) == ("14.01", "24.00")
    assert (star["reported_all"], star["reported_no_unk"]) == ("28.45", "36.15")
    assert (star["updates"], star["hidden_units"], star["optimizer"]) == ("1238", "96", "adam")
    assert star["signature"] == "nrefs:1|tok:none"
    assert (moses["bleu_all"], moses["reported_all"], moses["reported_no_unk"]) == ("", "33.30", "35.63")
    assert rows[0]["bleu_no_unk"] == ""
    assert_compiles(table1=forms["tex"])


def test_no_reported_scores_unless_requested() -> None:
    forms = render_table("table1", *five_models(), reported=False)
    rows = csv_rows(forms)
    assert [row["model"] for row in rows] == list(MODELS.values())
    assert {row["reported_all"] + row["reported_no_unk"] for row in rows} == {""}
    text = forms["md"] + forms["tex"]
    assert "reported" not in text.lower() and "Moses" not in text and "28.45" not in text


def test_score_table_of_several_seeds() -> None:
    forms = render_table("table1", *several_seeds(), reported=False)
    one, three = csv_rows(forms)
    # BLEU 10, 11, 15: mean 12, deviation sqrt((4 + 1 + 9) / 2)
    assert (three["bleu_all"], three["bleu_all_std"], three["seeds"]) == ("12.00", "2.65", "3")
    assert (three["bleu_no_unk"], three["bleu_no_unk_std"]) == ("24.00", "5.29")
    assert (one["bleu_all"], one["bleu_all_std"], one["seeds"]) == ("5.00", "", "1")
    assert "| 12.00 ± 2.65 | 24.00 ± 5.29 |" in forms["md"]
    notes = notes_of(forms)
    assert "1 seed (RNNencdec-50); 3 seeds (RNNsearch-50)" in notes
    assert "1,200 updates on average (RNNsearch-50)" in notes  # 1000, 1000, 1600


def test_columns_of_some_lengths(tmp_path: Path) -> None:
    """Cho et al. (2014b), Table 1 (b): of source words, unless the settings say otherwise."""
    # 1. copies of the source, so that every n-gram matches and BLEU is the brevity penalty
    words = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"]
    sets = {"dev": [12, 4, 10], "test": [3, 11, 12]}
    scores = {}
    for name, lengths in sets.items():
        lines = [" ".join(words[:length]) for length in lengths]
        copies = [json.dumps({"line": n, "source": line, "text": line}) for n, line in enumerate(lines)]
        translations = write_text(tmp_path / f"{name}.jsonl", copies)
        source = write_text(tmp_path / f"{name}.source", lines)
        reference = write_text(tmp_path / f"{name}.reference", [" ".join(words)] * len(lines))
        row = bleu.score_model("grconv-30", translations, translations, (source, reference))
        scores[name] = [{"seed": 1, **row}]

    for length, sentences in (("source", (2, 2)), ("reference", (3, 3))):
        # 2. all references have twelve words
        forms = render_table(
            "cho2014b_table1b",
            scores["test"],
            [summary("grconv-30", 1)],
            scores["dev"],
            "cho2014b",
            figure2_length=length,
            bootstrap_samples=20,
        )
        row, moses = csv_rows(forms)
        assert (int(row["sentences_dev_all"]), int(row["sentences_test_no_unk"])) == sentences
        for name in sets:
            selected = [words for words in sets[name] if length == "reference" or words >= 10]
            brevity = 100 * math.exp(1 - 12 * len(selected) / sum(selected))
            assert float(row[f"bleu_{name}_all"]) == pytest.approx(brevity, abs=0.006)
            assert float(row[f"low_{name}_all"]) <= brevity <= float(row[f"high_{name}_all"])
        assert row["difference_test_all"] == f"{float(row['bleu_test_all']) - 17.5:+.2f}"
        assert (moses["reported_dev_all"], moses["bleu_dev_all"]) == ("28.92", "")
        # of the test set's three pairs two have so many words on both sides, whatever the others count
        assert row["sentences_test_both_sides"] == "2" and moses["reported_test_both_sides"] == "33.08"

        # 3. the notes
        notes = notes_of(forms)
        both = "10 to 20 words (source and reference)"
        assert (
            f"of sentences of 10 to 20 words ({length}) and {both}. Dev., all: {sentences[0]} sent" in notes
        )
        assert f"°: the {sentences[0]}, {sentences[1]} and 2 sentences without an unknown word" in notes
        assert "95%: bootstrap interval (20 samples, seed 1). Of one run it is over sentences alone" in notes
        assert "what Cho et al. (2014b) give in their Table 1 (b)" in notes
    assert_compiles(table=forms["tex"])


def test_interval_of_several_seeds() -> None:
    """A run with every word right and one with every word wrong: of the first alone it would be 100 to 100."""
    scores = []
    for seed, right in ((1, 10), (2, 0)):
        counts = {"correct": [right] * 4, "total": [10] * 4, "hypothesis_words": 10, "reference_words": 10}
        row = {"source_length": 10, "reference_length": 10, "source_unknown": 0, **counts}
        run = score("grconv-30", seed, 10.0 * right, 10.0 * right)
        scores.append(run | {"by_sentence": [row] * 5, "by_sentence_no_unk": [row] * 5, "unfinished_all": 4})
    forms = render_table(
        "cho2014b_table1b",
        scores,
        [summary("grconv-30", seed) for seed in (1, 2)],
        scores,
        "cho2014b",
        bootstrap_samples=100,
        reported=False,
    )
    (row,) = csv_rows(forms)
    for column in ("dev_all", "dev_no_unk", "test_all", "test_no_unk"):
        assert [row[f"{bound}_{column}"] for bound in ("low", "high")] == ["0.00", "100.00"]
        assert row[f"bleu_{column}"] == "50.00"
    notes = notes_of(forms)
    assert "Of several seeds it is of their mean" in notes and "scored as they stand: 8 of 6,006 (" in notes


def test_row_order_of_paper() -> None:
    """Sutskever et al. (2014), Table 1: systems that are no runs have scores and no summary."""
    systems = ["lstm-reversed", "lstm-forward", "other", "lstm-shallow"]
    scores = [score(system, 1, 20.0 + place, None) for place, system in enumerate(systems)]
    scores.append(score("lstm-reversed-ensemble-5-beam-2", None, 33.0, None))
    summaries = [summary(system, 1) for system in systems]
    rows = csv_rows(render_table("sutskever2014_table1", scores, summaries, paper="sutskever2014"))
    ids = ["rnnsearch-50-star", "moses", "lstm-forward", "lstm-reversed", "lstm-reversed-ensemble-5-beam-2"]
    assert [row["id"] for row in rows] == [*ids, "lstm-shallow"]
    assert [row["bleu_test"] for row in rows] == ["", "", "21.00", "20.00", "33.00", "23.00"]
    assert (rows[4]["difference_test"], rows[4]["seeds"], rows[0]["reported_test"]) == ("-1.50", "", "28.45")
