"""Table 3: which sentences it shows, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.evaluation.translations import TranslationRecord
from pipeline.config.display import ReportSettings
from pipeline.results.example_sentences import find_paper_sentences, sample_indices
from pipeline.results.papers import SentenceTable, read_paper
from pipeline.results.tables.sentences import SetTexts, sentence_table
from tests.report_settings import report_settings
from tests.running import ROOT
from tests.table_inputs import rows_of, write_forms

OPENING = "This will change my future with my family"
OWN = "&quot; This will change my future with my family , &quot; the man said ."
LONG = "the house , which " + "very " * 28 + "old [UNK] was , is l&apos; un ."
TABLE = {"kind": "sentences", "called": "Table 3", "groups": [{"openings": ["not there", OPENING]}]}
MODELS = {"rnnencdec-50": "RNNencdec-50", "rnnsearch-50": "RNNsearch-50"}


def test_paper_sentences_are_found_however_they_were_tokenized() -> None:
    sources = [line.split() for line in ("a b", OWN, "this  will  change", "“This will change")]
    assert find_paper_sentences(sources, [OPENING, "A B", "no such sentence"]) == [1, 0]


def test_sampling_depends_on_the_seed() -> None:
    candidates = list(range(40, 50))
    sample = sample_indices(candidates, 5, seed=1)
    assert set(sample) <= set(candidates) and len(set(sample)) == 5
    assert sample == sample_indices(candidates, 5, seed=1) != sample_indices(candidates, 5, seed=2)
    assert len(sample_indices(candidates[:2], 5, seed=1)) == 2


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The table of a test set of four sentences, one of them the paper's own, two long."""
    sources = ["short .", LONG, OWN, LONG.replace("old", "new")]
    translations = {
        model: [
            TranslationRecord(
                line=line, source=source, target=f"l ’ homme {model.upper()} [UNK] . {line} &#124; *"
            )
            for line, source in enumerate(sources)
        ]
        for model in MODELS
    }
    references = [f"qu&apos; il , le {line} ." for line in range(4)]
    settings = report_settings(MODELS, table3_models=list(MODELS), table3_sentences=3)
    table = SentenceTable.model_validate(TABLE)
    sets = {"test": SetTexts(references, translations, {})}
    return write_forms(
        sentence_table(table, sets, ReportSettings.model_validate(settings)), tmp_path / "table3"
    )


def test_paper_sentence_comes_first(made: Path) -> None:
    rows = rows_of(made / "table3.csv")
    assert [row["line"] for row in rows[::4]] == [
        "2",
        *sorted({"1", "3"}, key=[row["line"] for row in rows[4::4]].index),
    ]
    assert [row["sentence"] for row in rows[:4]] == ["Source", "Reference", "RNNencdec-50", "RNNsearch-50"]
    assert rows[0]["text"] == '"This will change my future with my family," the man said.'
    assert rows[1]["text"] == "qu'il, le 2."
    assert rows[3]["text"] == "l’homme RNNSEARCH-50 [UNK]. 2 | *"
    text = (made / "table3.md").read_text(encoding="utf-8")
    assert (
        "1 of the paper's own sentences, 2 drawn at random (seed 1) from those of 30 words or more"
        in " ".join(text.split())
    )


def test_groups_of_both_sets(tmp_path: Path) -> None:
    """Cho et al. (2014b), Table 2."""
    sets = {}
    for set_, prefix, lengths in (("test", "", (3, 12, 31, 40, 9)), ("dev", "dev-", (8, 33))):
        records = [
            TranslationRecord(line=line, source=["mot"] * length, target=[f"{prefix}m{line}"])
            for line, length in enumerate(lengths)
            if length != 40
        ]
        references, moses = (
            [f"{prefix}{name} {line}" for line in range(len(lengths))] for name in ("reference", "moses")
        )
        sets[set_] = SetTexts(references, {"m": records}, {"moses": moses})
    table = read_paper(ROOT / "workflow" / "papers" / "cho2014b.yaml").tables["cho2014b_table2"]
    assert isinstance(table, SentenceTable)
    wanted = ReportSettings.model_validate(report_settings({"m": "M", "moses": "Moses"}, table3_models=["m"]))
    write_forms(sentence_table(table, sets, wanted), tmp_path / "out")
    rows = rows_of(tmp_path / "out.csv")
    found = [(row["set"], row["line"], row["sentence"], row["text"]) for row in rows]
    shown = [(set_, line) for set_, line, what, _ in found if what == "Source"]
    assert sorted(shown[:2]) == [("dev", "1"), ("test", "2")]  # the long ones
    assert sorted(shown[2:]) == [("dev", "0"), ("test", "0"), ("test", "4")]
    for set_, prefix, line in (("dev", "dev-", "1"), ("test", "", "2")):
        texts = [text for *where, what, text in found if where == [set_, line] and what != "Source"]
        assert texts == [f"{prefix}reference {line}", f"{prefix}m{line}", f"{prefix}moses {line}"]
    text = " ".join((tmp_path / "out.md").read_text(encoding="utf-8").split())
    assert (
        "Sentences of the development and the test set without unknown words: 2 drawn at random (seed 1)"
        in text
    )
    assert "from those of 31 words or more, 3 drawn" in text
    assert "1 to 9 words" in text
