"""The paper's numbers in workflow/papers/bahdanau2015.yaml, held against the paper."""

from __future__ import annotations

from nmt.report.papers import ScoreTable, TrainingTable, read_paper
from tests.table_inputs import PAPER


def test_paper_holds_all_numbers_of_both_tables() -> None:
    tables = read_paper(PAPER).tables
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
