"""The papers' numbers in workflow/papers, held against the papers."""

import pytest

from pipeline.results.papers import PAPERS_FOLDER, ScoreTable, TrainingTable, read_paper


def test_bahdanau_2015_tables() -> None:
    tables = read_paper(PAPERS_FOLDER / "bahdanau2015.yaml").tables
    table1, table2 = tables["table1"], tables["table2"]
    assert isinstance(table1, ScoreTable) and isinstance(table2, TrainingTable)
    scores = {model: tuple(row.scores.values()) for model, row in table1.reported.items()}
    assert scores == {
        "rnnencdec-30": (13.93, 24.19),
        "rnnsearch-30": (21.50, 31.44),
        "rnnencdec-50": (17.82, 26.71),
        "rnnsearch-50": (26.75, 34.16),
        "rnnsearch-50-star": (28.45, 36.15),
        "moses": (33.30, 35.63),
    }
    training = {
        model: (row.updates, row.epochs, row.hours, row.train_nll, row.dev_nll)
        for model, row in table2.reported.items()
    }
    assert training == {
        "rnnencdec-30": (846_000, 6.4, 109, 28.1, 53.0),
        "rnnencdec-50": (600_000, 4.5, 108, 44.0, 43.6),
        "rnnsearch-30": (471_000, 3.6, 113, 26.7, 47.2),
        "rnnsearch-50": (288_000, 2.2, 111, 40.7, 38.1),
        "rnnsearch-50-star": (667_000, 5.0, 252, 36.7, 35.2),
    }


def score_table(paper: str, table: str) -> ScoreTable:
    found = read_paper(PAPERS_FOLDER / f"{paper}.yaml").tables[table]
    assert isinstance(found, ScoreTable)
    return found


def scores(paper: str, table: str) -> dict[str, tuple[float, ...]]:
    """The reported rows of a table, in the order of its columns."""
    found = score_table(paper, table)
    return {
        system: tuple(
            float(str(row.scores[name]).removeprefix("~")) for name in found.columns if name in row.scores
        )
        for system, row in found.reported.items()
    }


def test_cho_2014b_table1() -> None:
    """Columns: development and test set, all sentences, then those without unknown words."""
    assert scores("cho2014b", "cho2014b_table1a") == {
        "rnnencdec-30": (13.15, 13.92, 21.01, 23.45),
        "grconv-30": (9.97, 9.97, 17.19, 18.22),
        "moses": (30.64, 33.30, 32.77, 35.63),
        "moses-rnnenc": (31.48, 34.64),
        "moses-lstm": (32, 35.65),
    }
    assert scores("cho2014b", "cho2014b_table1b") == {
        "rnnencdec-30": (19.12, 20.99, 24.73, 27.03, 27.81),
        "grconv-30": (16.60, 17.50, 21.74, 22.94),
        "moses": (28.92, 32.00, 32.20, 35.40, 33.08),
    }


def test_reported_score_format() -> None:
    found = score_table("sutskever2014", "sutskever2014_table2")
    shown = {name: row.format("test") for name, row in found.reported.items()}
    assert (shown["oracle"], shown["wmt14-best"], shown["moses"]) == ("~45", "37.0", "33.30")
    assert found.reported["oracle"].format("dev") == ""


def test_sutskever_2014_tables() -> None:
    direct = scores("sutskever2014", "sutskever2014_table1")
    assert [*sum(direct.values(), ())] == [28.45, 33.3, 26.17, 30.59, 33.0, 33.27, 34.5, 34.81]
    rescored = scores("sutskever2014", "sutskever2014_table2")
    assert [*sum(rescored.values(), ())] == [33.3, 34.54, 37.0, 35.61, 35.85, 36.5, 45]


def test_training_words_of_bahdanau_2015() -> None:
    words = read_paper(PAPERS_FOLDER / "bahdanau2015.yaml").data
    totals = {stage: counts.pop("total") for stage, counts in words.items()}
    assert totals == {"tokens": 850_000_000, "selected": 348_000_000}
    for stage, total in totals.items():
        assert sum(words[stage].values()) == pytest.approx(total, rel=0.001)
