"""Tables of learning statistics, with a row per model, and one for the paper's numbers of the same model."""

import math
from collections.abc import Sequence

from pipeline.config.artifacts import ReportSettings
from pipeline.results.inputs import Inputs
from pipeline.results.papers import ReportedTraining, TrainingTable
from pipeline.results.seeds import TRAINING_NUMBERS, Mean, Result, merge_summaries
from pipeline.results.tables.notes import group_labels, reported_note, seeds_note, training_note
from pipeline.results.tables.table import Table, format_number

_DECIMALS = {"updates": 0, "epochs": 1, "hours": 0, "train_nll": 1, "dev_nll": 1}
"""The paper's decimals."""
_CSV_DECIMALS = {"updates": 0, "epochs": 4, "hours": 4, "train_nll": 4, "dev_nll": 4}
"""The decimals in the CSV file."""
_STATISTICS = ("updates", "epochs", "hours", "device", "train_nll", "dev_nll")
"""The paper's columns, in its order."""
_HEADERS = ["Model", "Updates", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
_CSV_KEYS = ("optimizer", "hidden_units", "embedding_size", "parameters", "stopped_by", "train_pairs", "seed")
"""Keys of a summary that only the CSV file has."""


def make_training_table(paper_table: TrainingTable, paper_name: str, inputs: Inputs) -> Table:
    """Return the table of learning statistics, with models of one type next to each other."""
    settings, summaries = inputs.settings, inputs.summaries()

    # 1. for each model a record of the CSV file, and one or two displayed rows, the second with reported numbers
    merged_summaries = [merge_summaries(runs) for runs in summaries.values()]
    types = [summary["model_type"] for summary in merged_summaries]
    merged_summaries.sort(key=lambda summary: types.index(summary["model_type"]))
    records = []
    rows = []
    for summary in merged_summaries:
        name = summary["model"]
        label = settings.label(name)
        paper_row = paper_table.reported.get(name, ReportedTraining())
        reported: Result = {key: Mean(getattr(paper_row, key)) for key in TRAINING_NUMBERS}
        reported["device"] = paper_row.device
        records.append(_make_csv_record(label, summary, reported, run_summaries=summaries[name]))
        rows.append(_format_row(label, summary))
        if name in paper_table.reported:
            rows.append(_format_row(f"{label}, reported", reported))

    # 2. notes
    kept_updates = {}
    stop_reasons = {}
    seed_counts = {}
    for summary in merged_summaries:
        name = summary["model"]
        updates_text = _describe_kept_updates(summaries[name])
        if updates_text:
            kept_updates[name] = updates_text
        stop_reasons[name] = str(summary["stopped_by"])
        seed_counts[name] = summary["seeds"]
    notes = ["NLL: mean negative log-probability in nats per sentence."]
    notes += _dev_note(merged_summaries, settings)
    notes.append(training_note(merged_summaries, settings))
    if kept_updates:
        groups = group_labels(kept_updates, settings)
        notes.append(f"Best by development score, and so kept: the weights of update {groups}.")
    notes.append(f"Stopped by: {group_labels(stop_reasons, settings)}.")
    notes += seeds_note(seed_counts, settings)
    if paper_table.reported:
        notes.append(reported_note(paper_name, paper_table.title))
    return Table(records, _HEADERS, rows, text_columns=["Model", "Device"], notes=notes)


def _make_csv_record(
    label: str, summary: Result, reported: Result, run_summaries: Sequence[Result]
) -> Result:
    """Return the CSV record of a model, with the columns in their order.

    Args:
        label: the model's name for readers.
        summary: the merged summary of the model's runs.
        reported: the paper's numbers of the model.
        run_summaries: the summary of each run.
    """
    # 1. the statistics of the runs, then the paper's statistics
    record: Result = {"model": label}
    for prefix, values, decimals in (("", summary, _CSV_DECIMALS), ("reported_", reported, _DECIMALS)):
        for name in _STATISTICS:
            value = values[name]
            is_number = name in TRAINING_NUMBERS
            record[prefix + name] = format_number(value.value, decimals[name]) if is_number else value

    # 2. the model and its seeds
    for name in _CSV_KEYS:
        record[name] = summary.get(name)
    record["id"] = summary["model"]
    for name in TRAINING_NUMBERS:
        record[f"{name}_std"] = format_number(summary[name].std, 4)
    record["seeds"] = summary["seeds"]
    best_updates = [str(run["best_update"]) for run in run_summaries if run.get("best_update") is not None]
    record["best_update"] = " ".join(best_updates)
    return record


def _format_row(label: str, values: Result) -> list[str]:
    """Return the cells of a row for readers, with the means of a model's runs or the reported numbers."""
    cells = [label]
    for name in _STATISTICS:
        value = values[name]
        if name in TRAINING_NUMBERS:
            cells.append(value.format(_choose_decimals(value.value, _DECIMALS[name])))
        else:
            cells.append(value or "")
    return cells


def _choose_decimals(value: float | None, decimals: int) -> int:
    """Return the paper's number of decimals, or more if fewer than two digits would be left: 3 for 0.034 hours."""
    if not value:
        return decimals
    return max(decimals, 1 - math.floor(math.log10(abs(value))))


def _dev_note(merged_summaries: Sequence[Result], settings: ReportSettings) -> list[str]:
    """Return the note on models whose development NLL leaves out long sentences, or no note without such models."""
    limits = {}
    for summary in merged_summaries:
        if summary.get("dev_sentences") == "within_limit":
            limits[summary["model"]] = f"up to {summary['max_words']} words"
    if not limits:
        return []
    groups = group_labels(limits, settings)
    return [f"Dev. NLL: of sentences no longer than those that a model learned from: {groups}."]


def _describe_kept_updates(runs: Sequence[Result]) -> str:
    """Return the update after which each run saved its weights: `1,200 of 2,600 / 2,600 of 2,600`.

    Returns "" if all runs kept their last weights. If a run continues another training but never improves on it, the
    run keeps the weights of that training, and so its update.
    """
    kept_updates = []
    has_earlier_weights = False
    for run in runs:
        if run.get("best_update") is not None:
            kept_updates.append(f"{run['best_update']:,} of {run['updates']:,}")
            if run["best_update"] != run["updates"]:
                has_earlier_weights = True
    return " / ".join(kept_updates) if has_earlier_weights else ""
