"""Tables of scores as in a paper's file, with a row per system. A column is BLEU on some sentences of a set."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import SampledBleu
from pipeline.results.inputs import Inputs
from pipeline.results.intervals import describe_bleu
from pipeline.results.papers import ScoreColumn, ScoreTable
from pipeline.results.seeds import Mean, Result, Results, get_scored_sentences, merge_summaries
from pipeline.results.sentence_groups import is_in_column
from pipeline.results.tables.notes import (
    reported_note,
    seeds_note,
    training_note,
    unfinished_note,
    variance_note,
)
from pipeline.results.tables.table import Table, format_difference, format_number


class Cell(NamedTuple):
    """The scores of one system in one column."""

    reported: str = ""
    """BLEU as the paper prints it, "28.45" or "~45"; "" for a missing one."""
    sentences: int | None = None
    """Number of sentences of the column; None for a system without scores."""
    metrics: Mapping[str, Any] = {}
    """BLEU on tokens (bleu, bleu_std) with its interval (low, high) and, for the whole test set, sacrebleu and chrf."""

    def get_mean(self, metric: str) -> Mean:
        """Return the mean of a metric over the runs of the system."""
        return Mean(self.metrics.get(metric), self.metrics.get(f"{metric}_std"))

    def format_interval(self) -> str:
        """Return text like `25.90 to 27.61`; "" for a missing interval."""
        if self.metrics.get("low") is None:
            return ""
        return f"{self.metrics['low']:.2f} to {self.metrics['high']:.2f}"

    def compute_difference(self) -> float | None:
        """Return BLEU minus reported BLEU, both rounded as they are printed; None if one of them is missing."""
        bleu = self.metrics.get("bleu")
        if bleu is None or not self.reported:
            return None
        return float(format_number(bleu, 2)) - float(self.reported.removeprefix("~"))


class SystemRow(NamedTuple):
    """A row of the table."""

    system: str
    label: str
    cells: Mapping[str, Cell]
    """The cells of the row by column."""
    training_summary: Result
    """The summaries of the trainings of a model's runs, merged; {} for a system that was not trained here."""
    signature: str
    """sacrebleu's signature of BLEU on tokens; "" without scores."""


def has_modern_metrics(column: ScoreColumn) -> bool:
    """Return whether a column has modern metrics: a column of the test set without a limit of length."""
    return column.set == "test" and column.words is None


def make_score_table(paper_table: ScoreTable, paper_name: str, inputs: Inputs) -> Table:
    """Return the table of scores: for each system BLEU, intervals, reported BLEU, differences and modern metrics.

    Args:
        paper_table: rows, columns and reported scores. Without reported scores, there are no columns for them, and no
            rows of systems that only the paper has.
        paper_name: the name of the paper in notes.
        inputs: the package.
    """
    # 1. rows: the systems with scores, then the systems that only the paper has
    settings = inputs.settings
    scores = _select_scores(paper_table, inputs)
    rows = [_make_row(system, runs, paper_table, inputs) for system, runs in scores.items()]
    for system, paper_row in paper_table.reported.items():
        if paper_row.quoted and system not in scores:
            rows.append(_make_row(system, [], paper_table, inputs))
    rows.sort(key=lambda row: not row.training_summary)  # models first, since False is before True

    # 2. notes, which name models in this order
    models = [row for row in rows if row.training_summary]
    notes = [_score_note(paper_table, rows, settings), *unfinished_note(scores, settings)]
    if models:
        notes.append(training_note([row.training_summary for row in models], settings))
    notes += seeds_note({row.system: row.training_summary["seeds"] for row in models}, settings)
    notes += _interval_note(paper_table, rows, inputs)
    if paper_table.reported:
        notes.append(reported_note(paper_name, paper_table.title))

    # 3. if the paper's table has an order, sort the rows; otherwise draw lines between groups of systems
    group_starts = []
    if paper_table.rows:
        rows.sort(key=lambda row: paper_table.find_row(row.system) or 0)
    else:
        group_starts = _find_group_starts(rows)

    columns = _make_columns(paper_table, rows, find_tokenizer(inputs))
    return Table(
        records=[_make_csv_record(row, paper_table) for row in rows],
        headers=[header for header, _ in columns],
        rows=list(zip(*(texts for _, texts in columns), strict=True)),
        group_starts=group_starts,
        notes=notes,
    )


def _select_scores(paper_table: ScoreTable, inputs: Inputs) -> Results:
    """Return the scores of the table's systems, each on the first of the table's sets that has scores of the system.

    The systems of the last set come first, in the order of that set.
    """
    # A dict keeps the place of a key: the last set gives the order, then earlier sets replace the scores.
    scores: dict[str, Sequence[Result]] = {}
    for set_name in reversed(paper_table.sets):
        scores |= inputs.scores(set_name)
    return {system: runs for system, runs in scores.items() if paper_table.find_row(system) is not None}


def find_tokenizer(inputs: Inputs) -> str:
    """Return the name of sacrebleu's tokenizer, such as 13a: the header of the column of sacrebleu's BLEU."""
    signature: str = inputs.comparison["all"]["signatures"]["sacrebleu"]  # nrefs:1|case:mixed|tok:13a|...
    return signature.partition("tok:")[2].partition("|")[0]


def _find_group_starts(rows: Sequence[SystemRow]) -> list[int]:
    """Return the indices of the rows that begin a group of systems, and so get a horizontal line above them.

    A group begins where the model types start again from the first, and where systems without a model type follow:
    rows of the types [enc, search, enc, search, None] give [2, 4].
    """
    model_types = [row.training_summary.get("model_type") for row in rows]
    group_starts = []
    for index, (previous_type, model_type) in enumerate(pairwise(model_types), start=1):
        if model_type != previous_type and model_type in (model_types[0], None):
            group_starts.append(index)
    return group_starts


def _make_row(system: str, runs: Sequence[Result], paper_table: ScoreTable, inputs: Inputs) -> SystemRow:
    """Return the row of a system. runs: the scores of the system's runs; empty if only the paper has the system."""
    is_model = bool(runs) and runs[0]["seed"] is not None  # an ensemble has no seed of its own
    paper_row = paper_table.reported.get(system)

    # a model that was trained here has its label in the settings, any other system its label in the paper
    label = inputs.settings.label(system)
    if paper_row and not is_model:
        label = paper_row.label

    cells = {}
    for name, column in paper_table.columns.items():
        reported_bleu = paper_row.format(name) if paper_row else ""
        cells[name] = _make_cell(system, column, reported_bleu, inputs)
    return SystemRow(
        system=system,
        label=label,
        cells=cells,
        training_summary=merge_summaries(inputs.summaries()[system]) if is_model else {},
        signature=runs[0]["signature"] if runs else "",
    )


def _make_cell(system: str, column: ScoreColumn, reported_bleu: str, inputs: Inputs) -> Cell:
    """Return the scores of a system in a column: means over its runs, with the bootstrap interval of the mean."""
    runs = inputs.scores(column.set).get(system)
    if not runs:
        return Cell(reported_bleu)

    # 1. a column with modern metrics is in the comparison
    if has_modern_metrics(column):
        results = inputs.comparison[column.mode]
        return Cell(reported_bleu, results["sentences"], results["systems"].get(system, {}))

    # 2. any other column: BLEU is computed from the n-gram counts of its sentences
    sentences = [select_sentences(run, column, inputs.settings) for run in runs]
    metrics = describe_bleu(SampledBleu(sentences, inputs.bootstrap)) if sentences[0] else {}
    return Cell(reported_bleu, len(sentences[0]), metrics)


def select_sentences(run: Result, column: ScoreColumn, settings: ReportSettings) -> list[Result]:
    """Return the scored sentences of a run that are in a column."""
    sentences = get_scored_sentences(run, column.mode)
    return [sentence for sentence in sentences if is_in_column(sentence, column, settings)]


def _make_csv_record(row: SystemRow, paper_table: ScoreTable) -> Result:
    """Return the CSV record of a system, with the columns in their order."""
    # 1. BLEU, reported BLEU, and the number of sentences
    record: Result = {"model": row.label}
    for name, cell in row.cells.items():
        record[f"bleu_{name}"] = format_number(cell.metrics.get("bleu"), 2)
    for name, cell in row.cells.items():
        record[f"reported_{name}"] = cell.reported
    for name, cell in row.cells.items():
        record[f"sentences_{name}"] = cell.sentences

    # 2. the system
    for key in ("optimizer", "hidden_units", "embedding_size"):
        record[key] = row.training_summary.get(key)
    updates = row.training_summary.get("updates")
    record["updates"] = format_number(updates.value, 0) if updates else None
    record["signature"] = row.signature
    record["id"] = row.system

    # 3. deviation over seeds, interval, modern metrics, difference to the paper
    for name, cell in row.cells.items():
        record[f"bleu_{name}_std"] = format_number(cell.metrics.get("bleu_std"), 2)
    record["seeds"] = row.training_summary.get("seeds")
    for name, cell in row.cells.items():
        metrics = ["low", "high"]
        if has_modern_metrics(paper_table.columns[name]):
            metrics += ["sacrebleu", "chrf"]
        for metric in metrics:
            record[f"{metric}_{name}"] = format_number(cell.metrics.get(metric), 2)
    for name, cell in row.cells.items():
        difference = cell.compute_difference()
        record[f"difference_{name}"] = "" if difference is None else f"{difference:+.2f}"
    return record


def _make_columns(
    paper_table: ScoreTable, rows: Sequence[SystemRow], tokenizer: str
) -> list[tuple[str, list[str]]]:
    """Return the columns for readers, each a header and its texts.

    After BLEU and its interval come reported BLEU, differences and modern metrics.
    """
    columns = [("Model", [row.label for row in rows])]
    for name, column in paper_table.columns.items():
        cells = [row.cells[name] for row in rows]
        columns.append((column.header, [cell.get_mean("bleu").format(2) for cell in cells]))
        intervals = [cell.format_interval() for cell in cells]
        if any(intervals):
            columns.append(("95%", intervals))
    if paper_table.reported:
        for name, column in paper_table.columns.items():
            columns.append((f"{column.header}, reported", [row.cells[name].reported for row in rows]))
        for name, column in paper_table.columns.items():
            differences = [row.cells[name].compute_difference() for row in rows]
            columns.append((f"Δ {column.header}", [format_difference(value, 2) for value in differences]))
    for name, column in paper_table.columns.items():
        if column.mode == "all":
            for header, metric in ((tokenizer, "sacrebleu"), ("chrF", "chrf")):
                texts = [row.cells[name].get_mean(metric).format(2) for row in rows]
                if any(texts):
                    columns.append((header, texts))
    return columns


def _interval_note(paper_table: ScoreTable, rows: Sequence[SystemRow], inputs: Inputs) -> list[str]:
    """Return the note on intervals and modern metrics, or no note if the table has neither."""
    # 1. intervals
    note = []
    run_counts = []
    for row in rows:
        if any(cell.format_interval() for cell in row.cells.values()):
            run_counts.append(row.training_summary.get("seeds", 1))
    if run_counts:
        samples, seed = inputs.settings.bootstrap_samples, inputs.settings.bootstrap_seed
        note.append(f"95%: bootstrap interval ({samples:,} samples, seed {seed}).")
        note.append(variance_note("interval", run_counts))

    # 2. modern metrics
    if any(has_modern_metrics(column) for column in paper_table.columns.values()):
        signatures = inputs.comparison["all"]["signatures"]
        tokenizer = find_tokenizer(inputs)
        note.append(
            f"{tokenizer} ({signatures['sacrebleu']}) and chrF ({signatures['chrf']}): all sentences, detokenized, "
            "against the reference as it came; for comparison with today's systems, not with the paper."
        )
        if tokenizer != "13a":
            note.append(
                "BLEU counts letters in place of words, since the script has no spaces between words."
            )
    return [" ".join(note)] if note else []


def _score_note(paper_table: ScoreTable, rows: Sequence[SystemRow], settings: ReportSettings) -> str:
    """Return the note on the columns: the metric, the sentences of each column, and how [UNK] was treated."""
    # 1. the sentences of the columns
    lengths = []
    column_counts = []
    no_unk_counts = []
    for name, column in paper_table.columns.items():
        if column.words:
            side = column.words_of or settings.figure2_length
            sides = "source and reference" if side == "both" else side
            lengths.append(f"{column.words[0]} to {column.words[1]} words ({sides})")
        if column.mode == "all":
            column_counts.append(f"{column.header}: {_count_sentences(rows, name)} sentences")
        else:
            no_unk_counts.append(_count_sentences(rows, name))

    # 2. the note, sentence by sentence
    signatures = sorted({row.signature for row in rows if row.signature})
    length_clause = f", of sentences of {' and '.join(dict.fromkeys(lengths))}" if lengths else ""
    note = [f"BLEU on tokens, cased ({' or '.join(signatures)}){length_clause}."]
    if column_counts:
        unk_rule = "may be written" if settings.unknown == "allowed" else "forbidden here too"
        note.append(f"{'; '.join(column_counts)}, [UNK] {unk_rule}.")
    if no_unk_counts:
        # ["2,737", "12", "8"] -> "2,737, 12 and 8"
        *first_counts, last_count = no_unk_counts
        listed_counts = f"{', '.join(first_counts)} and {last_count}" if first_counts else last_count
        exception = " unless no translation ended without it" if settings.if_no_eos == "retry" else ""
        note.append(
            f"°: the {listed_counts} sentences without an unknown word in source and reference, "
            f"[UNK] forbidden{exception}."
        )
    if settings.subwords:
        note.append(
            "Models read and write subword units: only a word with a character that is none is unknown."
        )
    return " ".join(note)


def _count_sentences(rows: Sequence[SystemRow], column: str) -> str:
    """Return the number of sentences of a column, which is equal for all systems that have scores: `2,737`."""
    return f"{max((row.cells[column].sentences or 0 for row in rows), default=0):,}"
