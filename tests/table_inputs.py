"""Scores and summaries of runs, and the tables of papers made of them, for tests."""

import csv
from collections.abc import Sequence
from typing import Any

from pipeline.config.artifacts import ReportSettings
from pipeline.results.papers import PAPERS_FOLDER, ScoreTable, TrainingTable, read_paper
from pipeline.results.seeds import Result, group_by_model
from pipeline.results.tables.scores import Measurements, make_score_table
from pipeline.results.tables.training import make_training_table
from pipeline.results.tables.writer import render_formats
from pipeline.results.tables_and_figures import filter_reported
from tests.report_settings import report_settings

MODELS = {
    "rnnencdec-30": "RNNencdec-30",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-50-star": "RNNsearch-50*",
}
DEVICE = "CPU_2 & 50% of $1 #3 {x} ~^\\"

Runs = tuple[list[Result], list[Result]]
"""The scores and the summaries of some runs."""


def score(model: str, seed: int | None, bleu_all: float, bleu_no_unk: float | None) -> Result:
    """What a run's score has, of no sentences."""
    counts = {"sentences_all": 3003, "sentences_no_unk": 737}
    scores = {"bleu_all": bleu_all, "bleu_no_unk": bleu_no_unk, "signature": "nrefs:1|tok:none"}
    return {"model": model, "seed": seed, **scores, **counts, "by_sentence": [], "by_sentence_no_unk": []}


def summary(model: str, seed: int, **numbers: Any) -> Result:
    """What `nmt train` writes, as far as tables read it."""
    return {
        "model": model,
        "label": "an older label",
        "model_type": model.split("-")[0],
        "updates": 1234,
        "epochs": 6.4321,
        "hours": 0.0342,
        "device": DEVICE,
        "train_nll": 28.123456,
        "dev_nll": 3.0,
        "optimizer": "adam",
        "hidden_units": 96,
        "embedding_size": 64,
        "parameters": 100,
        "stopped_by": "updates",
        "train_pairs": 40000,
        "seed": seed,
        **numbers,
    }


def five_models() -> Runs:
    """The five models with a seed each; RNNencdec-30 has no BLEU without unknown words."""
    scores = []
    summaries = []
    for index, model in enumerate(MODELS):
        scores.append(score(model, 1, 10.005 + index, 20 + index if index else None))
        summaries.append(summary(model, 1, updates=1234 + index))
    return scores, summaries


def several_seeds() -> Runs:
    """A model with a single seed, and one with three, in no order."""
    facts = {"epochs": 0.5, "train_nll": 20.0, "device": "CPU"}
    scores = [score("rnnencdec-50", 1, 5.0, 10.0)]
    summaries = [summary("rnnencdec-50", 1, hours=1.0, **facts)]
    for seed, bleu, hours, nll, updates in (
        (3, 15, 6, 31, 1600),
        (1, 10, 1, 30, 1000),
        (2, 11, 2, 30.5, 1000),
    ):
        scores.append(score("rnnsearch-50", seed, bleu, 2 * bleu))
        summaries.append(summary("rnnsearch-50", seed, hours=hours, dev_nll=nll, updates=updates, **facts))
    return scores, summaries


def render_table(
    name: str,
    scores: Sequence[Result],
    summaries: Sequence[Result],
    dev_scores: Sequence[Result] = (),
    paper: str = "bahdanau2015",
    **changes: Any,
) -> dict[str, str]:
    """A paper's table of scores or of training as CSV, Markdown and LaTeX. changes: of the settings."""
    values = report_settings(MODELS, figure2_models=["rnnsearch-50"], reported=True) | changes
    settings = ReportSettings.model_validate(values)
    description = read_paper(PAPERS_FOLDER / f"{paper}.yaml")
    spec = filter_reported(description.tables[name], settings)
    trained = group_by_model(summaries)
    if isinstance(spec, TrainingTable):
        return render_formats(make_training_table(spec, description.name, trained, settings))
    assert isinstance(spec, ScoreTable)
    sets = {"test": group_by_model(scores), "dev": group_by_model(dev_scores)}
    nothing = {"systems": {}, "signatures": {"sacrebleu": "", "chrf": ""}}
    measurements = Measurements(sets, trained, {"all": nothing, "no_unk": nothing})
    return render_formats(make_score_table(spec, description.name, measurements, settings))


def csv_rows(forms: dict[str, str]) -> list[dict[str, str]]:
    """The rows of a rendered table's CSV."""
    return list(csv.DictReader(forms["csv"].splitlines()))


def markdown_cells(forms: dict[str, str]) -> list[list[str]]:
    """The cells of a rendered table's Markdown, by row: headers, then a line below them, then the rows."""
    table, _, _ = forms["md"].partition("\n\n")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")]


def notes_of(forms: dict[str, str]) -> str:
    """The text of a rendered table's Markdown on one line."""
    return " ".join(forms["md"].split())
