"""Scores and summaries of runs, and the subcommands that make Tables 1 and 2 of them, for tests."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from tests.report_settings import report_settings
from tests.running import ROOT, nmt, outputs

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
    """The value of `--settings`."""
    return json.dumps(report_settings(MODELS, figure2_models=["rnnsearch-50"], reported=True) | changes)


def score(model: str, seed: int, bleu_all: float, bleu_no_unk: float | None) -> dict[str, Any]:
    """What `evaluate` writes, without its sentences."""
    counts = {"sentences_all": 3003, "sentences_no_unk": 737}
    scores = {"bleu_all": bleu_all, "bleu_no_unk": bleu_no_unk, "signature": "nrefs:1|tok:none"}
    return {"model": model, "seed": seed, **scores, **counts}


def summary(model: str, seed: int, **numbers: Any) -> dict[str, Any]:
    """What `train` writes, as far as tables read it."""
    return {
        "model": model,
        "label": "an older label",
        "family": model.split("-")[0],
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
    arguments: list[str | Path] = ["--settings", settings, "--paper", PAPER, "--table", f"table{number}"]
    for scores, summary in zip(
        *(sorted(inputs.glob(f"*.{kind}.json")) for kind in ("score", "summary")), strict=True
    ):
        arguments += ["--summary", summary]
        arguments += ["--score", scores] if number == 1 else []
    result = nmt(
        "table",
        {1: "scores", 2: "training"}[number],
        *arguments,
        *outputs(folder, f"table{number}", "csv", "md", "tex"),
    )
    assert result.returncode == 0, result.stderr
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
