"""Tables of scores as in a paper's file: systems by columns. A column is BLEU on some sentences of a set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.display import ReportSettings
from pipeline.results.bootstrap import Bootstrap, bootstrap_interval
from pipeline.results.papers import ScoreColumn, ScoreTable
from pipeline.results.seeds import Mean, Result, Results, merge_summaries, sentence_rows
from pipeline.results.sentence_groups import select_by_length
from pipeline.results.tables.notes import (
    reported_note,
    seeds_note,
    training_note,
    unfinished_note,
    variance_note,
)
from pipeline.results.tables.writer import Table, format_difference, format_number, make_frame

MODERN_METRICS = ("sacrebleu", "chrf")
"""BLEU with sacrebleu's own tokenization, and chrF: what systems are compared by now."""


@dataclass(frozen=True)
class Measurements:
    """The inputs of a table of scores."""

    scores: Mapping[str, Results]
    """For each set ("dev", "test") the scores of all systems, in the order of the rows. A system that is no run of a
    model has no seed."""
    summaries: Results
    """Of the runs of each model."""
    comparison: Mapping[str, Any] | None = None
    """What `compare` found on the test set, by mode."""


@dataclass(frozen=True)
class Cell:
    """The scores of one system in one column; None or "" for a missing one."""

    bleu: Mean = field(default_factory=Mean)
    """On tokens."""
    sentences: int | None = None
    """Number of sentences of the column."""
    interval: tuple[float, float] | None = None
    """95% bootstrap interval of BLEU."""
    modern_scores: Mapping[str, Mean] = field(default_factory=dict)
    """By metric; only of all sentences of the test set."""
    reported: str = ""
    """BLEU as the paper prints it: "28.45", or "~45"."""

    def difference(self) -> float | None:
        """Return BLEU minus the reported one, both as they are printed; None unless there are both."""
        if self.bleu.value is None or not self.reported:
            return None
        return float(format_number(self.bleu.value, 2)) - float(self.reported.removeprefix("~"))

    def format_bleu(self) -> str:
        """Return text like `26.75 ± 0.31`."""
        return self.bleu.format(2)

    def format_interval(self) -> str:
        """Return text like `25.90 to 27.61`."""
        return f"{self.interval[0]:.2f} to {self.interval[1]:.2f}" if self.interval else ""

    def format_reported(self) -> str:
        """Return the reported BLEU."""
        return self.reported

    def format_difference(self) -> str:
        """Return text like `−1.70`."""
        difference = self.difference()
        return "" if difference is None else format_difference(difference, 2)

    def format_sacrebleu(self) -> str:
        """Return BLEU with sacrebleu's own tokenization."""
        return self.modern_scores["sacrebleu"].format(2) if self.modern_scores else ""

    def format_chrf(self) -> str:
        """Return chrF."""
        return self.modern_scores["chrf"].format(2) if self.modern_scores else ""


@dataclass(frozen=True)
class SystemRow:
    """A row of the table.

    summary: of a model that was trained, its runs merged. runs: their number, 0 for a system that is no run of a model.
    signature: sacrebleu's, of the scores on tokens; "" if there are none.
    """

    system: str
    label: str
    cells: Mapping[str, Cell]
    summary: Result = field(default_factory=dict)
    runs: int = 0
    signature: str = ""

    def has_interval(self) -> bool:
        """Return whether some column has an interval."""
        return any(cell.interval for cell in self.cells.values())


def is_of_whole_test_set(column: ScoreColumn) -> bool:
    """Return whether a column has sentences of any length of the test set."""
    return column.set == "test" and column.words is None


def score_table(spec: ScoreTable, paper: str, measurements: Measurements, settings: ReportSettings) -> Table:
    """Return the table of scores: for each system BLEU, intervals, reported BLEU, differences and modern metrics.

    Args:
        spec: rows, columns, and what is reported. If nothing is, there are no columns for it, and no quoted rows.
        paper: its name in notes.
        measurements: scores, summaries and comparison.
        settings: labels, how [UNK] was decoded, bootstrap.
    """
    # 1. rows: models, other systems, and systems that only the paper has
    scores = _select_scores(spec, measurements)
    models = []
    other_systems = []
    for system, runs in scores.items():
        if runs[0]["seed"] is None:
            other_systems.append(system)
        else:
            models.append(system)
    for system, reported in spec.reported.items():
        if reported.quoted and system not in scores:
            other_systems.append(system)
    rows = []
    for system in models + other_systems:
        rows.append(_measure_system(system, scores.get(system, ()), spec, measurements, settings))

    # 2. notes, which name models in this order
    summaries = [row.summary for row in rows if row.summary]
    seed_counts = {row.system: row.runs for row in rows if row.runs}
    notes = [_score_note(spec, rows, settings), *unfinished_note(scores, settings)]
    if models:
        notes.append(training_note(summaries, settings))
        notes += seeds_note(seed_counts, settings)
    notes += _interval_note(spec, rows, measurements, settings)
    if spec.reported:
        notes.append(reported_note(paper, spec.called))

    # 3. the order of the paper's rows, if its file gives one; otherwise lines between groups of systems
    rules = [] if spec.rows else _group_rules(rows)
    rows.sort(key=lambda row: spec.find_row(row.system) or 0)

    empty_row = SystemRow("", "", dict.fromkeys(spec.columns, Cell()))
    columns = list(_csv_record(empty_row, spec))  # for a table without rows
    records = [_csv_record(row, spec) for row in rows]
    return Table(make_frame(records, columns), _display(spec, rows), rules=rules, notes=notes)


def _select_scores(spec: ScoreTable, measurements: Measurements) -> Results:
    """Return the scores of the table's systems, on the first set that has them, in the order of the last set."""
    scores: dict[str, Sequence[Result]] = {}
    for set_name in reversed(spec.sets):
        for system, runs in measurements.scores[set_name].items():
            if spec.find_row(system) is not None:
                scores[system] = runs
    return scores


def _group_rules(rows: Sequence[SystemRow]) -> list[int]:
    """Return the rows with a line above: where the order of model types starts again, and before other systems.

    Example: rows of the types [enc, search, enc, search, None] give [2, 4].
    """
    model_types = [row.summary.get("model_type") for row in rows]
    rules = []
    for row in range(1, len(rows)):
        starts_group = model_types[row] in (model_types[0], None)
        if starts_group and model_types[row] != model_types[row - 1]:
            rules.append(row)
    return rules


def _measure_system(
    system: str,
    runs: Sequence[Result],
    spec: ScoreTable,
    measurements: Measurements,
    settings: ReportSettings,
) -> SystemRow:
    """Return the row of a system. runs: its scores on some set; none for a system that only the paper has."""
    is_model = bool(runs) and runs[0]["seed"] is not None
    reported = spec.reported.get(system)
    cells = {}
    for name, column in spec.columns.items():
        reported_bleu = reported.format(name) if reported else ""
        cells[name] = _measure_cell(system, column, reported_bleu, measurements, settings)
    return SystemRow(
        system=system,
        label=reported.label if reported and not is_model else settings.label(system),
        cells=cells,
        summary=merge_summaries(measurements.summaries[system]) if is_model else {},
        runs=len(runs) if is_model else 0,
        signature=runs[0]["signature"] if runs else "",
    )


def _measure_cell(
    system: str, column: ScoreColumn, reported: str, measurements: Measurements, settings: ReportSettings
) -> Cell:
    """Return the scores of a system in a column: means over its runs, with the bootstrap interval of the mean."""
    runs = measurements.scores[column.set].get(system)
    if not runs:
        return Cell(reported=reported)

    # 1. BLEU: of all lengths as scored before, of some lengths from the counts of these sentences
    counts = [_count_sentences(run, column, settings) for run in runs]
    if column.words is None:
        bleu = Mean.of([run[f"bleu_{column.mode}"] for run in runs])
        sentences = runs[0][f"sentences_{column.mode}"]
    else:
        bleu = Mean.of([sum_counts(run).bleu if run else None for run in counts])
        sentences = len(counts[0])

    # 2. interval and modern metrics: of the whole test set from the comparison, which has the same samples
    interval = None
    modern_scores = {}
    if not is_of_whole_test_set(column):
        if counts[0]:
            interval = bootstrap_interval(counts, Bootstrap.from_settings(settings))
    elif measurements.comparison is not None:
        compared = measurements.comparison[column.mode]["systems"].get(system, {})
        if compared.get("low") is not None:
            interval = compared["low"], compared["high"]
        for metric in MODERN_METRICS:
            if metric in compared:
                modern_scores[metric] = Mean(compared[metric], compared.get(f"{metric}_std"))
    return Cell(bleu, sentences, interval, modern_scores, reported)


def _count_sentences(run: Result, column: ScoreColumn, settings: ReportSettings) -> list[BleuCounts]:
    """Return the counts for BLEU of a run's sentences in a column."""
    rows: Sequence[Mapping[str, Any]] = sentence_rows(run, column.mode)
    if column.words:
        min_words, max_words = column.words
        rows = select_by_length(rows, min_words, max_words, column.words_of or settings.figure2_length)
    return [BleuCounts.from_dict(row) for row in rows]


def _csv_record(row: SystemRow, spec: ScoreTable) -> Result:
    """Return a row for programs, with columns in this order."""
    record: Result = {"model": row.label}
    for name, cell in row.cells.items():
        record[f"bleu_{name}"] = format_number(cell.bleu.value, 2)
    for name, cell in row.cells.items():
        record[f"reported_{name}"] = cell.reported
    for name, cell in row.cells.items():
        record[f"sentences_{name}"] = cell.sentences

    for key in ("optimizer", "hidden_units", "embedding_size"):
        record[key] = row.summary.get(key)
    record["updates"] = format_number(row.summary["updates"].value, 0) if row.summary else None
    record["signature"] = row.signature
    record["id"] = row.system

    for name, cell in row.cells.items():
        record[f"bleu_{name}_std"] = format_number(cell.bleu.std, 2)
    record["seeds"] = row.runs or None
    for name, cell in row.cells.items():
        low, high = cell.interval or (None, None)
        record[f"low_{name}"] = format_number(low, 2)
        record[f"high_{name}"] = format_number(high, 2)
        if is_of_whole_test_set(spec.columns[name]):
            for metric in MODERN_METRICS:
                record[f"{metric}_{name}"] = format_number(cell.modern_scores.get(metric, Mean()).value, 2)
    for name, cell in row.cells.items():
        difference = cell.difference()
        record[f"difference_{name}"] = "" if difference is None else f"{difference:+.2f}"
    return record


def _display(spec: ScoreTable, rows: Sequence[SystemRow]) -> pd.DataFrame:
    """Return the form for readers: BLEU and its interval, then reported BLEU, differences and modern metrics."""
    # 1. the header of each column, the column of its cells, and what of them it shows
    layout: list[tuple[str, str, Callable[[Cell], str]]] = []
    for name, column in spec.columns.items():
        layout.append((column.header, name, Cell.format_bleu))
        if any(row.cells[name].interval for row in rows):
            layout.append(("95%", name, Cell.format_interval))
    if spec.reported:
        for name, column in spec.columns.items():
            layout.append((f"{column.header}, reported", name, Cell.format_reported))
        for name, column in spec.columns.items():
            layout.append((f"Δ {column.header}", name, Cell.format_difference))
    for name, column in spec.columns.items():
        if column.mode == "all" and any(row.cells[name].modern_scores for row in rows):
            layout.append(("13a", name, Cell.format_sacrebleu))
            layout.append(("chrF", name, Cell.format_chrf))

    # 2. the texts
    texts = []
    for row in rows:
        row_texts = [row.label]
        for _, name, format_cell in layout:
            row_texts.append(format_cell(row.cells[name]))
        texts.append(row_texts)
    return pd.DataFrame(texts, columns=["Model", *(header for header, _, _ in layout)])


def _interval_note(
    spec: ScoreTable, rows: Sequence[SystemRow], measurements: Measurements, settings: ReportSettings
) -> list[str]:
    """Return the note on intervals and modern metrics; none if the table has neither."""
    sentences = []
    run_counts = [row.runs or 1 for row in rows if row.has_interval()]
    if run_counts:
        samples, seed = settings.bootstrap_samples, settings.bootstrap_seed
        sentences.append(f"95%: bootstrap interval ({samples:,} samples, seed {seed}).")
        sentences.append(variance_note("it", "narrow", run_counts))
    if measurements.comparison and any(map(is_of_whole_test_set, spec.columns.values())):
        signatures = measurements.comparison["all"]["signatures"]
        sentences.append(
            f"13a ({signatures['sacrebleu']}) and chrF ({signatures['chrf']}): all sentences, detokenized, "
            "against the reference as it came; for comparison with today's systems, not with the paper."
        )
    return [" ".join(sentences)] if sentences else []


def _score_note(spec: ScoreTable, rows: Sequence[SystemRow], settings: ReportSettings) -> str:
    """Return the note on the columns: the metric, their sentences, and how [UNK] was treated."""
    # 1. the metric, and the lengths of sentences
    signatures = sorted({row.signature for row in rows if row.signature})
    lengths = []
    for column in spec.columns.values():
        if column.words:
            side = column.words_of or settings.figure2_length
            sides = "source and reference" if side == "both" else side
            lengths.append(f"{column.words[0]} to {column.words[1]} words ({sides})")
    of_lengths = f", of sentences of {' and '.join(dict.fromkeys(lengths))}" if lengths else ""
    sentences = [f"BLEU on tokens, cased ({' or '.join(signatures)}){of_lengths}."]

    # 2. columns of all sentences
    columns = [(name, column) for name, column in spec.columns.items() if column.mode == "all"]
    if columns:
        counts = [f"{column.header}: {_format_sentences(rows, name)} sentences" for name, column in columns]
        unknown = "may be written" if settings.unknown == "allowed" else "forbidden here too"
        sentences.append(f"{'; '.join(counts)}, [UNK] {unknown}.")

    # 3. columns of sentences without unknown words
    names = [name for name, column in spec.columns.items() if column.mode == "no_unk"]
    if names:
        counts = [_format_sentences(rows, name) for name in names]
        listed_counts = counts[-1]
        if len(counts) > 1:
            listed_counts = f"{', '.join(counts[:-1])} and {counts[-1]}"
        retry = " unless no translation ended without it" if settings.if_no_eos == "retry" else ""
        sentences.append(
            f"°: the {listed_counts} sentences without an unknown word in source and reference, [UNK] forbidden{retry}."
        )
    if settings.subwords:
        sentences.append(
            "Models read and write subword units: only a word with a character that is none is unknown."
        )
    return " ".join(sentences)


def _format_sentences(rows: Sequence[SystemRow], name: str) -> str:
    """Return the number of sentences of a column, as `737` or, if systems have different ones, as `737 to 740`."""
    counts = [row.cells[name].sentences for row in rows]
    numbers = {count for count in counts if count is not None} or {0}
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
