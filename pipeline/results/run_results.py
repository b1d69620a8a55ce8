"""Results of runs (scores, summaries, settings) from JSON files, joined by model and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.evaluation.seeds import Row
from nmt.io.files import read_json

_NUMBERS = {
    *("seed", "updates", "epochs", "hours", "train_nll", "dev_nll", "hidden_units", "embedding_size"),
    *("perplexity", "log_probability", "words"),
    *("bleu_all", "bleu_no_unk", "sentences_all", "sentences_no_unk"),
}

Runs = Mapping[str, Sequence[Row]]
"""Results of each run, by model."""


def read_by_model(paths: Iterable[Path], keys: Sequence[str]) -> dict[str, Row]:
    """Read JSON files that name their model, one of each model, in the order given.

    Raises a `UserError` for a file without one of `keys` or a model that comes twice.
    """
    rows: dict[str, Row] = {}
    for path in paths:
        row = _read(path, ("model", *keys))
        if row["model"] in rows:
            raise UserError(f"{path}: model {row['model']!r} is given twice; give one file per model")
        rows[row["model"]] = row
    return rows


def read_runs(paths: Iterable[Path], keys: Sequence[str]) -> dict[str, list[Row]]:
    """Read JSON files that name their model and seed, in the order given, those of a model together.

    Raises a `UserError` for a file without one of `keys` or a run that comes twice.
    """
    runs: dict[str, list[Row]] = {}
    for path in paths:
        row = _read(path, ("model", "seed", *keys))
        others = runs.setdefault(row["model"], [])
        if row["seed"] in [other["seed"] for other in others]:
            text = f"model {row['model']!r} is given twice with seed {row['seed']}"
            raise UserError(f"{path}: {text}; give one file per model and seed")
        others.append(row)
    return runs


def _read(path: Path, keys: Sequence[str]) -> Row:
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


def same_runs(scores: Runs, others: Runs, name: str, option: str) -> dict[str, list[Row]]:
    """Return what `others` hold of the runs that have a score, in the order of the scores.

    Raises a `UserError` for a score without one.
    """
    found: dict[str, list[Row]] = {}
    for model, rows in scores.items():
        by_seed = {other["seed"]: other for other in others.get(model, [])}
        for seed in (row["seed"] for row in rows):
            if seed not in by_seed:
                at = f" with seed {seed}" if by_seed else ""
                text = f"model {model!r} has a score but no {name}{at}"
                raise UserError(f"{text}; give its {name}.json with {option}")
        found[model] = [by_seed[row["seed"]] for row in rows]
    return found
