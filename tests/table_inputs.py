"""Scores and summaries of runs, and Tables 1 and 2 made of them, for tests."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nmt.io.files import read_json
from pipeline.config.display import ReportSettings
from pipeline.results.build import filter_reported
from pipeline.results.papers import ScoreTable, TrainingTable, read_paper
from pipeline.results.seeds import group_by_model
from pipeline.results.tables.scores import Measurements, score_table
from pipeline.results.tables.training import training_table
from pipeline.results.tables.writer import Table, render_forms
from tests.report_settings import report_settings
from tests.running import ROOT

PAPER = ROOT / "workflow" / "papers" / "bahdanau2015.yaml"
MODELS = {
    "rnnencdec-30": "RNNencdec-30",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-50-star": "RNNsearch-50*",
}
DEVICE = "CPU_2 & 50% of $1 #3 {x} ~^\\"
SEEDS = {1: (10.0, 1.0, 30.0, 1000), 2: (11.0, 2.0, 30.5, 1000), 3: (15.0, 6.0, 31.0, 1600)}
"""Of each seed of RNNsearch-50 in `several_seeds`: BLEU, hours, dev NLL, updates."""


def settings(**changes: Any) -> str:
    """Settings of the report, as JSON."""
    return json.dumps(report_settings(MODELS, figure2_models=["rnnsearch-50"], reported=True) | changes)


def score(model: str, seed: int, bleu_all: float, bleu_no_unk: float | None) -> dict[str, Any]:
    """What `evaluate` writes, of no sentences."""
    counts = {"sentences_all": 3003, "sentences_no_unk": 737}
    scores = {"bleu_all": bleu_all, "bleu_no_unk": bleu_no_unk, "signature": "nrefs:1|tok:none"}
    return {"model": model, "seed": seed, **scores, **counts, "by_sentence": [], "by_sentence_no_unk": []}


def summary(model: str, seed: int, **numbers: Any) -> dict[str, Any]:
    """What `train` writes, as far as tables read it."""
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


def five_models(folder: Path) -> Path:
    """Write scores and summaries of the five models, a seed each; RNNencdec-30 has no BLEU without unknown words."""
    for index, model in enumerate(MODELS):
        no_unk = None if model == "rnnencdec-30" else 20 + index
        write(
            folder,
            str(index),
            score(model, 1, 10.005 + index, no_unk),
            summary(model, 1, updates=1234 + index),
        )
    return folder


def several_seeds(folder: Path) -> Path:
    """Write scores and summaries of a model with a single seed and one with three, whose files stand in no order."""
    single = summary("rnnencdec-50", 1, hours=1.0, epochs=0.5, train_nll=20.0, device="CPU")
    write(folder, "1", score("rnnencdec-50", 1, 5.0, 10.0), single)
    for place, seed in enumerate((3, 1, 2), start=2):
        bleu, hours, nll, updates = SEEDS[seed]
        numbers = {"hours": hours, "dev_nll": nll, "updates": updates}
        run = summary("rnnsearch-50", seed, epochs=0.5, train_nll=20.0, device="CPU", **numbers)
        write(folder, str(place), score("rnnsearch-50", seed, bleu, 2 * bleu), run)
    return folder


def write(folder: Path, name: str, scores: dict[str, Any], trained: dict[str, Any]) -> None:
    """Write both files of a run."""
    (folder / f"{name}.score.json").write_text(json.dumps(scores))
    (folder / f"{name}.summary.json").write_text(json.dumps(trained))


def make(number: int, inputs: Path, folder: Path, settings: str) -> Path:
    """Write Table 1 or 2 of a folder's runs, in the order of their files, into another one, which is returned."""
    scores, summaries = (sorted(inputs.glob(f"*.{kind}.json")) for kind in ("score", "summary"))
    return write_table(PAPER, f"table{number}", settings, folder / f"table{number}", scores, summaries)


def write_table(
    paper: Path,
    name: str,
    settings: str,
    stem: Path,
    scores: Iterable[Path],
    summaries: Iterable[Path],
    dev_scores: Iterable[Path] = (),
) -> Path:
    """Write a paper's table of scores or of training in its three forms; returns their folder."""
    wanted = ReportSettings.model_validate_json(settings)
    read = read_paper(paper)
    table = filter_reported(read.tables[name], wanted)
    trained = group_by_model(read_json(path) for path in summaries)
    if isinstance(table, TrainingTable):
        return write_forms(training_table(table, read.name, trained, wanted), stem)
    assert isinstance(table, ScoreTable)
    test, dev = (group_by_model(read_json(path) for path in paths) for paths in (scores, dev_scores))
    return write_forms(
        score_table(table, read.name, Measurements({"test": test, "dev": dev}, trained), wanted), stem
    )


def write_forms(table: Table, stem: Path) -> Path:
    """Write a table as STEM.csv, .md and .tex; returns their folder."""
    for form, text in render_forms(table).items():
        stem.with_name(f"{stem.name}.{form}").write_text(text, encoding="utf-8")
    return stem.parent


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
