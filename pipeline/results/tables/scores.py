"""Tables of scores as in a paper's file: systems by columns. A column is the BLEU of some sentences of a set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.display import ReportSettings
from pipeline.results.bootstrap import Bootstrap, interval
from pipeline.results.papers import Column, ScoreTable
from pipeline.results.runs import Runs, sentences
from pipeline.results.seeds import Row, merged, merged_summary, with_deviation
from pipeline.results.sentence_groups import Rows, within
from pipeline.results.tables.notes import (
    reported_note,
    seeds_note,
    training_note,
    unfinished_note,
    variance_note,
)
from pipeline.results.tables.writer import Table, fixed, make_frame, signed

_TODAYS = ("sacrebleu", "chrf")


@dataclass(frozen=True)
class Measured:
    """The inputs of a table of scores.

    scores: for each set ("dev", "test"), scores of runs and of other systems, whose seed is None, in the order of the
    rows. summaries: of the runs. comparison: the output of `compare` on the test set.
    """

    scores: Mapping[str, Runs]
    summaries: Runs
    comparison: Mapping[str, Any] | None = None

    def compared(self, column: Column) -> Mapping[str, Any] | None:
        """Return what `compare` found of a column: it knows all sentences of the test set, by mode."""
        return self.comparison[column.mode] if self.comparison and _is_compared(column) else None


def score_table(table: ScoreTable, paper: str, measured: Measured, settings: ReportSettings) -> Table:
    """Return the table: a row per system with scores, intervals, reported scores, differences and today's metrics.

    Intervals of all sentences of the test set are those of `compare`; of others they are drawn here.

    Args:
        table: rows, columns, and what is reported; nothing reported leaves out those columns and quoted rows.
        paper: what notes call it.
        measured: scores, summaries and comparison.
        settings: labels, how UNK was decoded, bootstrap.
    """
    scores = _systems(table, measured)
    models = {name: runs for name, runs in scores.items() if runs[0]["seed"] is not None}
    trained = {name: measured.summaries[name] for name in models}
    ours = [_model_row(name, trained[name], settings) for name in models]
    quoted = [name for name, row in table.reported.items() if row.quoted and name not in scores]
    others = [name for name in scores if name not in models] + quoted
    rows = ours + [{"id": name, "model": _label(name, table, settings)} for name in others]
    rows = [_with_scores(row, table, measured, settings) for row in rows]
    ours = rows[: len(models)]
    notes = [_score_note(table, rows, settings), *unfinished_note(scores, settings)]
    notes += [training_note(ours), *seeds_note(ours)] if ours else []
    notes += _comparison_note(table, rows, measured, settings)
    if table.reported:
        notes.append(reported_note(paper, table.called))
    rules = _rules([runs[0]["model_type"] for runs in trained.values()], len(others))
    if table.rows:
        rows.sort(key=lambda row: table.row_of(row["id"]) or 0)
        rules = []
    headers, columns = _layout(table, rows)
    layout = make_frame(rows, columns).fillna("").set_axis(headers, axis=1)
    return Table(make_frame(rows, columns_of(table)), layout, rules=rules, notes=notes)


def columns_of(table: ScoreTable) -> list[str]:
    """Return the columns of the CSV."""
    columns = table.columns
    today = {name: _TODAYS if _is_compared(column) else () for name, column in columns.items()}
    return [
        "model",
        *(f"bleu_{name}" for name in columns),
        *(f"reported_{name}" for name in columns),
        *(f"sentences_{name}" for name in columns),
        *("optimizer", "hidden_units", "embedding_size", "updates", "signature", "id"),
        *(f"bleu_{name}_std" for name in columns),
        "seeds",
        *(f"{what}_{name}" for name in columns for what in ("low", "high", *today[name])),
        *(f"difference_{name}" for name in columns),
    ]


def _is_compared(column: Column) -> bool:
    return column.set == "test" and column.words is None


def _systems(table: ScoreTable, measured: Measured) -> Runs:
    """Return the scores of the systems that the table shows, on some set."""
    scores: dict[str, Sequence[Row]] = {}
    for name in table.sets:
        scores = {**measured.scores[name], **scores}
    return {name: runs for name, runs in scores.items() if table.row_of(name) is not None}


def _rules(model_types: Sequence[str], others: int) -> list[int]:
    """Return rows with a rule above them: where the models' types begin again, and before the other systems."""
    places = range(1, len(model_types))
    rules = [place for place in places if model_types[place - 1] != model_types[place] == model_types[0]]
    return [*rules, len(model_types)] if model_types and others else rules


def _layout(table: ScoreTable, rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """Return headers and the names of what stands below them."""
    layout = [("Model", "model")]
    for name, column in table.columns.items():
        layout.append((column.header, f"shown_{name}"))
        layout += [("95%", f"interval_{name}")] * any(f"interval_{name}" in row for row in rows)
    if table.reported:
        headers = {name: column.header for name, column in table.columns.items()}
        layout += [(f"{header}, reported", f"reported_{name}") for name, header in headers.items()]
        layout += [(f"Δ {header}", f"shown_difference_{name}") for name, header in headers.items()]
    for name in [name for name, column in table.columns.items() if column.mode == "all"]:
        if any(f"shown_chrf_{name}" in row for row in rows):
            layout += [("13a", f"shown_sacrebleu_{name}"), ("chrF", f"shown_chrf_{name}")]
    return [header for header, _ in layout], [name for _, name in layout]


def _label(name: str, table: ScoreTable, settings: ReportSettings) -> str:
    reported = table.reported.get(name)
    return reported.label if reported else settings.label(name)


def _model_row(name: str, summaries: Sequence[Row], settings: ReportSettings) -> Row:
    summary = merged_summary(summaries)
    numbers = ("optimizer", "hidden_units", "embedding_size", "updates", "updates_std")
    return {"id": name, "model": settings.label(name), **{key: summary.get(key) for key in numbers}}


def _with_scores(row: Row, table: ScoreTable, measured: Measured, settings: ReportSettings) -> Row:
    """Return a row with its scores, the reported ones, their difference, and what the comparison says."""
    for name, column in table.columns.items():
        runs = measured.scores[column.set].get(row["id"], ())
        row = {**row, f"bleu_{name}": "", **_score(name, column, runs, settings)}
        row |= _compared(name, row["id"], measured.compared(column))
        reported = table.reported.get(row["id"])
        row[f"reported_{name}"] = reported.shown(name) if reported else ""
        row |= _difference(name, row[f"bleu_{name}"], row[f"reported_{name}"])
    return row


def _score(name: str, column: Column, runs: Sequence[Row], settings: ReportSettings) -> Row:
    """Return a system's score in a column: the mean over its runs, as text, and as readers see it."""
    if not runs:
        return {}
    key = f"bleu_{name}"
    counts = [_sentences(run, column, settings) for run in runs]
    found = [
        {
            "seed": run["seed"],
            "signature": run["signature"],
            key: run[f"bleu_{column.mode}"] if column.words is None else _bleu(sentences),
            f"sentences_{name}": run[f"sentences_{column.mode}"] if column.words is None else len(sentences),
        }
        for run, sentences in zip(runs, counts, strict=True)
    ]
    score = merged(found, (key,))
    added = {key: fixed(score[key], 2), f"{key}_std": fixed(score[f"{key}_std"], 2)}
    added |= {f"shown_{name}": with_deviation(score[key], score[f"{key}_std"], 2)}
    added |= {f"sentences_{name}": score[f"sentences_{name}"], "signature": score["signature"]}
    added |= {"seeds": score["seeds"]} if runs[0]["seed"] is not None else {}
    bootstrap = Bootstrap(settings.bootstrap_samples, settings.bootstrap_seed)
    bounds = interval(counts, bootstrap) if counts[0] and not _is_compared(column) else None
    return {**added, **_interval(name, *bounds)} if bounds else added


def _sentences(run: Row, column: Column, settings: ReportSettings) -> list[BleuCounts]:
    """Return the counts of a run's sentences of a column."""
    rows: Rows = sentences(run, column.mode)
    if column.words:
        rows = within(rows, *column.words, column.words_of or settings.figure2_length)
    return [*map(BleuCounts.from_dict, rows)]


def _bleu(counts: Sequence[BleuCounts]) -> float | None:
    return sum_counts(counts).bleu if counts else None


def _interval(name: str, low: float, high: float) -> Row:
    return {
        f"low_{name}": fixed(low, 2),
        f"high_{name}": fixed(high, 2),
        f"interval_{name}": f"{low:.2f} to {high:.2f}",
    }


def _compared(name: str, system: str, comparison: Mapping[str, Any] | None) -> Row:
    """Return what the comparison says of a system in a column."""
    found = comparison["systems"].get(system) if comparison else None
    if found is None:
        return {}
    added = {f"{metric}_{name}": fixed(found[metric], 2) for metric in _TODAYS}
    added |= {f"shown_{n}_{name}": with_deviation(found[n], found.get(f"{n}_std"), 2) for n in _TODAYS}
    return added if found["low"] is None else {**added, **_interval(name, found["low"], found["high"])}


def _difference(name: str, ours: str, theirs: str) -> Row:
    """Return our score minus the reported one, from the numbers as they are shown; nothing unless there are both."""
    if not (ours and theirs):
        return {}
    difference = float(ours) - float(theirs.removeprefix("~"))
    return {f"difference_{name}": f"{difference:+.2f}", f"shown_difference_{name}": signed(difference, 2)}


def _comparison_note(
    table: ScoreTable, rows: Sequence[Row], measured: Measured, settings: ReportSettings
) -> list[str]:
    """Return what intervals are, and today's metrics."""
    parts = []
    measured_rows = [row for row in rows if any(f"interval_{name}" in row for name in table.columns)]
    if measured_rows:
        samples, seed = settings.bootstrap_samples, settings.bootstrap_seed
        parts.append(f"95%: bootstrap interval ({samples:,} samples, seed {seed}).")
        parts.append(variance_note("it", "narrow", [row.get("seeds") or 1 for row in measured_rows]))
    if measured.comparison and any(map(_is_compared, table.columns.values())):
        signatures = measured.comparison["all"]["signatures"]
        parts.append(
            f"13a ({signatures['sacrebleu']}) and chrF ({signatures['chrf']}): all sentences, detokenized, "
            "against the reference as it came; for comparison with today's systems, not with the paper."
        )
    return [" ".join(parts)] if parts else []


def _score_note(table: ScoreTable, rows: Sequence[Row], settings: ReportSettings) -> str:
    """Return what the columns are of."""
    by_mode: dict[str, list[tuple[str, Column]]] = {"all": [], "no_unk": []}
    for name, column in table.columns.items():
        by_mode[column.mode].append((name, column))
    signatures = " or ".join(sorted({row["signature"] for row in rows if row.get("signature")}))
    lengths = " and ".join(
        dict.fromkeys(_length(column, settings) for column in table.columns.values() if column.words)
    )
    parts = [f"BLEU on tokens, cased ({signatures}){lengths and f', of sentences of {lengths}'}."]
    if columns := by_mode["all"]:
        written = "may be written" if settings.unknown == "allowed" else "forbidden here too"
        sentences = "; ".join(f"{column.header}: {_count(rows, name)} sentences" for name, column in columns)
        parts.append(f"{sentences}, [UNK] {written}.")
    if columns := by_mode["no_unk"]:
        once_more = " unless no translation ended without it" if settings.if_no_eos == "retry" else ""
        *others, last = (_count(rows, name) for name, _ in columns)
        counts = f"{', '.join(others)} and {last}" if others else last
        parts.append(
            f"°: the {counts} sentences without an unknown word in source and reference, [UNK] forbidden{once_more}."
        )
    if settings.subwords:
        parts.append(
            "Models read and write subword units: only a word with a character that is none is unknown."
        )
    return " ".join(parts)


def _count(rows: Iterable[Row], name: str) -> str:
    """Return sentences of a column."""
    values = {row[f"sentences_{name}"] for row in rows if f"sentences_{name}" in row} or {0}
    return f"{min(values):,}" if len(values) == 1 else f"{min(values):,} to {max(values):,}"


def _length(column: Column, settings: ReportSettings) -> str:
    """Return text such as `10 to 20 words (source)`."""
    least, most = column.words or (0, 0)
    length = column.words_of or settings.figure2_length
    return f"{least} to {most} words ({'source and reference' if length == 'both' else length})"
