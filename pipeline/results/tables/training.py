"""Tables of learning statistics with a row or two per model."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pipeline.config.display import ReportSettings
from pipeline.results.papers import ReportedTraining, TrainingTable
from pipeline.results.runs import Runs
from pipeline.results.seeds import LEARNING, Row, merged_summary, with_deviation
from pipeline.results.tables.notes import grouped, reported_note, seeds_note, training_note
from pipeline.results.tables.writer import Table, enough, fixed, make_frame

_DECIMALS = {"epochs": 1, "hours": 0, "train_nll": 1, "dev_nll": 1}
"""The paper's decimals."""
_TRAINING = ["updates", "epochs", "hours", "device", "train_nll", "dev_nll"]
_SIZES = ["optimizer", "hidden_units", "embedding_size", "parameters", "stopped_by", "train_pairs", "seed"]
_KEPT = "best_update"
"""Key for the update of a run's best weights."""
COLUMNS = [
    "model",
    *_TRAINING,
    *(f"reported_{name}" for name in _TRAINING),
    *_SIZES,
    "id",
    *(f"{name}_std" for name in LEARNING),
    "seeds",
    _KEPT,
]


def training_table(table: TrainingTable, paper: str, summaries: Runs, settings: ReportSettings) -> Table:
    """Return learning statistics; rows in the order of `summaries`, but a model type stays together."""
    models = [{**merged_summary(runs), **_kept(runs)} for runs in summaries.values()]
    model_types = list(dict.fromkeys(summary["model_type"] for summary in models))
    ordered = sorted(models, key=lambda summary: model_types.index(summary["model_type"]))
    rows = [_row(summary, settings, table.reported.get(summary["model"])) for summary in ordered]
    cells = []
    for row in rows:
        cells.append(_cells(row["model"], row, ""))
        if row["id"] in table.reported:
            cells.append(_cells(f"{row['model']}, reported", row, "reported_"))
    headers = ["Model", "Updates", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
    notes = [
        "NLL: mean negative log-probability in nats per sentence.",
        *_dev_note(ordered, settings),
        training_note(rows),
        *_kept_note(rows),
        f"Stopped by: {grouped((str(row['stopped_by']), row['model']) for row in rows)}.",
        *seeds_note(rows),
    ]
    if table.reported:
        notes.append(reported_note(paper, table.called))
    shown = pd.DataFrame(cells, columns=headers)
    return Table(make_frame([_plain(row) for row in rows], COLUMNS), shown, ("Model", "Device"), notes=notes)


def _dev_note(summaries: Sequence[Row], settings: ReportSettings) -> list[str]:
    """Return a note on models whose development NLL is not that of all sentences."""
    limited = [each for each in summaries if each.get("dev_sentences") == "within_limit"]
    if not limited:
        return []
    limits = ((f"up to {each['max_words']} words", settings.label(each["model"])) for each in limited)
    return [f"Dev. NLL: of sentences no longer than those that a model learned from: {grouped(limits)}."]


def _kept(runs: Sequence[Row]) -> Row:
    """Return the update of each run's weights, for the CSV, and for readers if it is not the last one."""
    updates = {run["seed"]: (run[_KEPT], run["updates"]) for run in runs if run.get(_KEPT) is not None}
    earlier = any(update != last for update, last in updates.values())
    texts = [f"{update:,} of {last:,}" for update, last in updates.values()]
    plain = runs[0].get(_KEPT) if len(runs) == 1 else " ".join(str(update) for update, _ in updates.values())
    return {_KEPT: plain, "kept": texts if earlier else []}


def _kept_note(rows: Sequence[Row]) -> list[str]:
    """Return a note on weights that are not of the last update. A continued model may keep its first ones."""
    kept = [(" / ".join(row["kept"]), row["model"]) for row in rows if any(row["kept"])]
    return [f"Best by development score, and so kept: the weights of update {grouped(kept)}."] if kept else []


def _row(summary: Row, settings: ReportSettings, reported: ReportedTraining | None) -> Row:
    model = summary["model"]
    return {
        **{name: summary.get(name) for name in (*_TRAINING, *_SIZES, "seeds", _KEPT, "kept")},
        **{f"{name}_std": summary[f"{name}_std"] for name in LEARNING},
        **{f"reported_{name}": getattr(reported, name) if reported else None for name in _TRAINING},
        "id": model,
        "model": settings.label(model),
    }


def _plain(row: Row) -> Row:
    """Return the CSV's form: own numbers with four decimals, reported ones as the paper gives them."""
    reported = {
        f"reported_{name}": fixed(row[f"reported_{name}"], count) for name, count in _DECIMALS.items()
    }
    own = {name: fixed(row[name], 4) for name in (*_DECIMALS, *(f"{name}_std" for name in LEARNING))}
    return {**row, **own, **reported}


def _cells(label: str, row: Row, prefix: str) -> list[str]:
    """Return a row for readers, of this run's numbers or of the reported ones."""
    cells = {}
    for name, decimals in _DECIMALS.items():
        value = row[f"{prefix}{name}"]
        std = row.get(f"{prefix}{name}_std")
        cells[name] = "" if value is None else with_deviation(value, std, enough(value, decimals))
    updates, std = row[f"{prefix}updates"], row.get(f"{prefix}updates_std")
    cells["updates"] = "" if updates is None else f"{updates:,.0f}" + (f" ± {std:,.0f}" if std else "")
    cells["device"] = row[f"{prefix}device"] or ""
    return [label, *(cells[name] for name in _TRAINING)]
