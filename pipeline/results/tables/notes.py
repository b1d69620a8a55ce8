"""Notes of several tables: the training of models, the meaning of ±, the source of reported numbers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pipeline.config.artifacts import ReportSettings
from pipeline.results.seeds import Result, Results


def reported_note(paper_name: str, table_title: str) -> str:
    """Return the note on the source of the reported numbers."""
    return f"Reported: what {paper_name} give in their {table_title}; not computed by this run."


def training_note(summaries: Sequence[Result], settings: ReportSettings) -> str:
    """Return the note on the training of models. `summaries` has the merged summary of each model."""
    recipes = {}
    for summary in summaries:
        updates = summary["updates"]
        recipe = f"{summary['optimizer']}, {summary['hidden_units']} hidden units, {round(updates.value):,} updates"
        if updates.std:
            recipe += " on average"
        recipes[summary["model"]] = recipe
    return f"Trained with {group_labels(recipes, settings)}."


def seeds_note(seed_counts: Mapping[str, int], settings: ReportSettings) -> list[str]:
    """Return the note on the meaning of ±, or no note if no model has several seeds.

    seed_counts: the number of seeds of each model.
    """
    if max(seed_counts.values(), default=1) == 1:
        return []
    counts = {model: f"{count} seeds" if count > 1 else "1 seed" for model, count in seed_counts.items()}
    return [
        "±: standard deviation (n - 1) over runs that differ in the seed of their start values: "
        f"{group_labels(counts, settings)}."
    ]


def variance_note(statistic: Literal["interval", "p-value"], run_counts: Collection[int]) -> str:
    """Return the note on whether an interval or a p-value covers the choice of sentences alone, or of seeds as well.

    run_counts: the number of runs of each system.
    """
    note = []
    subject, bias = ("it", "narrow") if statistic == "interval" else ("p", "small")
    if max(run_counts, default=1) > 1:
        note.append(
            f"Of several seeds {subject} is of their mean, over sentences and seeds; few seeds make it too {bias}."
        )
    if min(run_counts, default=1) == 1:
        note.append(f"Of one run {subject} is over sentences alone: what another seed changes is not in it.")
    return " ".join(note)


def unfinished_note(scores: Results, settings: ReportSettings) -> list[str]:
    """Return the note on translations without an end-of-sentence symbol, or no note if all have it."""
    counts = {}
    for system, runs in scores.items():
        unfinished_count = sum(run.get("unfinished_all", 0) for run in runs)
        sentence_count = sum(run["sentences_all"] for run in runs)
        if unfinished_count:
            counts[system] = f"{unfinished_count:,} of {sentence_count:,}"
    if not counts:
        return []
    groups = group_labels(counts, settings)
    return [f"Translations that no search brought to an end, scored as they stand: {groups}."]


def group_labels(texts: Mapping[str, str], settings: ReportSettings) -> str:
    """Return each text once, with the labels of its systems: {"x": "a", "z": "b", "y": "a"} is `a (X, Y); b (Z)`."""
    labels_by_text: dict[str, list[str]] = {}
    for system, text in texts.items():
        labels_by_text.setdefault(text, []).append(settings.label(system))
    return "; ".join(f"{text} ({', '.join(labels)})" for text, labels in labels_by_text.items())
