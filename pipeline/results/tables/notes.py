"""Notes below several tables: the training of models, the meaning of ±, the source of reported numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pipeline.config.display import ReportSettings
from pipeline.results.runs import Runs
from pipeline.results.seeds import Row


def reported_note(paper: str, table: str) -> str:
    """Return the note with the source of a table's reported numbers."""
    return f"Reported: what {paper} give in their {table}; not computed by this run."


def training_note(rows: Sequence[Row]) -> str:
    """Return how the models of these rows were trained."""
    recipes = (
        "{optimizer}, {hidden_units} hidden units, {updates:,} updates".format(**row)
        + (" on average" if row["updates_std"] else "")
        for row in rows
    )
    return f"Trained with {grouped(zip(recipes, (row['model'] for row in rows), strict=True))}."


def seeds_note(rows: Sequence[Row]) -> list[str]:
    """Return what ± means, if a model has several runs; the last part of a table's notes that depends on seeds."""
    if all(row["seeds"] == 1 for row in rows):
        return []
    counts = grouped((_seeds(row), row["model"]) for row in rows)
    return [
        f"±: standard deviation (n - 1) over runs that differ in the seed of their start values: {counts}."
    ]


def variance_note(what: str, too: str, runs: Collection[int]) -> str:
    """Return which variance is in an interval or a p, of systems with so many runs each.

    `too` says how few seeds distort it: "narrow" or "small".
    """
    parts = []
    if max(runs, default=1) > 1:
        parts.append(
            f"Of several seeds {what} is of their mean, over sentences and seeds; few seeds make it too {too}."
        )
    if min(runs, default=1) == 1:
        parts.append(f"Of one run {what} is over sentences alone: what another seed changes is not in it.")
    return " ".join(parts)


def unfinished_note(scores: Runs, settings: ReportSettings) -> list[str]:
    """Return a note with the numbers of translations that no search brought to an end, from each run's scores."""
    counts = {
        name: (sum(run.get("unfinished_all", 0) for run in runs), sum(run["sentences_all"] for run in runs))
        for name, runs in scores.items()
    }
    left = [(f"{n:,} of {all:,}", settings.label(name)) for name, (n, all) in counts.items() if n]
    if not left:
        return []
    return [f"Translations that no search brought to an end, scored as they stand: {grouped(left)}."]


def _seeds(row: Row) -> str:
    return f"{row['seeds']} seeds" if row["seeds"] > 1 else "1 seed"


def grouped(pairs: Iterable[tuple[str, str]]) -> str:
    """Return `a (x, y); b (z)` from pairs of a text and a label."""
    groups: dict[str, list[str]] = {}
    for text, label in pairs:
        groups.setdefault(text, []).append(label)
    return "; ".join(f"{text} ({', '.join(labels)})" for text, labels in groups.items())
