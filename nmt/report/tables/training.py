"""Tables of learning statistics, a row or two for each model."""

from __future__ import annotations

import pandas as pd

from nmt.config.schema import Report
from nmt.evaluation.seeds import LEARNING, Row, merged_summary, with_deviation
from nmt.report.papers import ReportedTraining, TrainingTable
from nmt.report.run_results import Runs
from nmt.report.tables.notes import grouped, reported_note, seeds_note, training_note
from nmt.report.tables.writer import Table, enough, fixed, frame

_TRAINING = ["updates", "epochs", "hours", "device", "train_nll", "dev_nll"]
_SIZES = ["optimizer", "hidden_units", "embedding_size", "parameters", "stopped_by", "train_pairs", "seed"]
COLUMNS = [
    "model",
    *_TRAINING,
    *(f"reported_{name}" for name in _TRAINING),
    *_SIZES,
    "id",
    *(f"{name}_std" for name in LEARNING),
    "seeds",
]


def training_table(table: TrainingTable, paper: str, summaries: Runs, settings: Report) -> Table:
    """Learning statistics; rows in the order of `summaries`, but a family stays together."""
    models = [merged_summary(runs) for runs in summaries.values()]
    families = list(dict.fromkeys(summary["family"] for summary in models))
    ordered = sorted(models, key=lambda summary: families.index(summary["family"]))
    rows = [_row(summary, settings, table.reported.get(summary["model"])) for summary in ordered]
    cells = [line for row in rows for line in _cells(row, row["id"] in table.reported)]
    headers = ["Model", "Updates (×10⁵)", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
    notes = [
        "NLL: mean negative log-probability in nats per sentence.",
        training_note(rows),
        f"Stopped by: {grouped((str(row['stopped_by']), row['model']) for row in rows)}.",
        *seeds_note(rows),
    ]
    if table.reported:
        notes.append(reported_note(paper, table.called))
    shown = pd.DataFrame(cells, columns=headers)
    return Table(frame([_plain(row) for row in rows], COLUMNS), shown, ("Model", "Device"), notes=notes)


def _row(summary: Row, settings: Report, reported: ReportedTraining | None) -> Row:
    model = summary["model"]
    return {
        **{name: summary.get(name) for name in (*_TRAINING, *_SIZES, "seeds")},
        **{f"{name}_std": summary[f"{name}_std"] for name in LEARNING},
        **{f"reported_{name}": getattr(reported, name) if reported else None for name in _TRAINING},
        "id": model,
        "model": settings.short_label(model),
    }


def _plain(row: Row) -> Row:
    """The CSV's form: own numbers with four decimals, reported ones as the paper gives them."""
    decimals = {"epochs": 1, "hours": 0, "train_nll": 1, "dev_nll": 1}
    reported = {f"reported_{name}": fixed(row[f"reported_{name}"], count) for name, count in decimals.items()}
    own = {name: fixed(row[name], 4) for name in (*decimals, *(f"{name}_std" for name in LEARNING))}
    return {**row, **own, **reported}


def _cells(row: Row, with_reported: bool) -> list[list[str]]:
    lines = [_training_cells(row["model"], row, "")]
    if with_reported:
        lines.append(_training_cells(f"{row['model']}, reported", row, "reported_"))
    return lines


def _training_cells(label: str, row: Row, prefix: str) -> list[str]:
    def cell(name: str, decimals: int, unit: float = 1) -> str:
        value, std = row[f"{prefix}{name}"], row.get(f"{prefix}{name}_std")
        if value is None:
            return ""
        return with_deviation(value / unit, std / unit if std else None, enough(value / unit, decimals))

    return [
        label,
        cell("updates", 2, unit=1e5),
        cell("epochs", 1),
        cell("hours", 0),
        row[f"{prefix}device"] or "",
        cell("train_nll", 1),
        cell("dev_nll", 1),
    ]
