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
    recipes = []
    for summary in summaries:
        updates = summary["updates"]
        recipe = f"{summary['optimizer']}, {summary['hidden_units']} hidden units, {round(updates.value):,} updates"
        if updates.std:
            recipe += " on average"
        recipes.append((recipe, settings.label(summary["model"])))
    return f"Trained with {group_labels(recipes)}."


def seeds_note(seed_counts: Mapping[str, int], settings: ReportSettings) -> list[str]:
    """Return the note on the meaning of ±, or no note if no model has several seeds.

    seed_counts: the number of seeds of each model.
    """
    if max(seed_counts.values(), default=1) == 1:
        return []
    labelled_counts = []
    for model, count in seed_counts.items():
        text = f"{count} seeds" if count > 1 else "1 seed"
        labelled_counts.append((text, settings.label(model)))
    return [
        "±: standard deviation (n - 1) over runs that differ in the seed of their start values: "
        f"{group_labels(labelled_counts)}."
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
    labelled_counts = []
    for system, runs in scores.items():
        unfinished_count = sum(run.get("unfinished_all", 0) for run in runs)
        sentence_count = sum(run["sentences_all"] for run in runs)
        if unfinished_count:
            text = f"{unfinished_count:,} of {sentence_count:,}"
            labelled_counts.append((text, settings.label(system)))
    if not labelled_counts:
        return []
    groups = group_labels(labelled_counts)
    return [f"Translations that no search brought to an end, scored as they stand: {groups}."]


def group_labels(labelled_texts: Sequence[tuple[str, str]]) -> str:
    """Return each text once, with its labels: [("a", "x"), ("b", "z"), ("a", "y")] becomes `a (x, y); b (z)`."""
    labels_by_text: dict[str, list[str]] = {}
    for text, label in labelled_texts:
        labels_by_text.setdefault(text, []).append(label)
    return "; ".join(f"{text} ({', '.join(labels)})" for text, labels in labels_by_text.items())
