"""Results of runs (scores, summaries, settings) from JSON files, joined by model and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import read_json
from pipeline.results.seeds import Row

_NUMBERS = {
    *("seed", "updates", "epochs", "hours", "train_nll", "dev_nll", "hidden_units", "embedding_size"),
    *("perplexity", "log_probability", "words"),
    *("bleu_all", "bleu_no_unk", "sentences_all", "sentences_no_unk"),
}

Runs = Mapping[str, Sequence[Row]]
"""Results of each run, by model."""


def read_row(path: Path, keys: Sequence[str]) -> Row:
    """Read a JSON object. Raises a `UserError` if a key is missing or a number is none."""
    row: Row = read_json(path)
    if not isinstance(row, dict):
        raise UserError(f"{path}: found {type(row).__name__}, expected an object; make the file again")
    missing = [key for key in keys if key not in row]
    if missing:
        raise UserError(f"{path}: key {missing[0]!r} is missing; make the file again")
    for key in _NUMBERS & row.keys():
        if not isinstance(row[key], int | float | None):
            raise UserError(f"{path}: {key!r} is {row[key]!r}, expected a number; make the file again")
    return row


def by_model(rows: Iterable[Row]) -> dict[str, Row]:
    """Return results by their model, one of each."""
    return {row["model"]: row for row in rows}


def by_run(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return results by their model, in the order given, those of a model together."""
    runs: dict[str, list[Row]] = {}
    for row in rows:
        runs.setdefault(row["model"], []).append(row)
    return runs


def same_runs(scores: Runs, others: Runs, name: str) -> dict[str, list[Row]]:
    """Return what `others` hold of the runs that have a score, in the order of the scores.

    Raises a `UserError` for a score without one.
    """
    found: dict[str, list[Row]] = {}
    for model, rows in scores.items():
        by_seed = {other["seed"]: other for other in others.get(model, [])}
        for seed in (row["seed"] for row in rows):
            if seed not in by_seed:
                at = f" with seed {seed}" if by_seed else ""
                raise UserError(f"model {model!r} has a score but no {name}{at}: the files are of other runs")
        found[model] = [by_seed[row["seed"]] for row in rows]
    return found
