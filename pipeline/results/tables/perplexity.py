"""Tables of perplexity on the test set with a row per system."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.config.display import ReportSettings
from pipeline.results.papers import PerplexityTable
from pipeline.results.runs import Runs
from pipeline.results.seeds import Row, merged, with_deviation
from pipeline.results.tables.notes import reported_note, seeds_note
from pipeline.results.tables.writer import Table, fixed, make_frame

COLUMNS = ["model", "perplexity", "reported", "sentences", "words", "id", "perplexity_std", "seeds"]


def perplexity_table(table: PerplexityTable, paper: str, found: Runs, settings: ReportSettings) -> Table:
    """Return the table; rows in the order of `found`, of what `nmt test-set perplexity` wrote of each run or system."""
    rows = [_row(system, runs, table, settings) for system, runs in found.items()]
    headers = {"Model": "model", "Perplexity": "shown"}
    headers |= {"Perplexity, reported": "reported"} if table.reported else {}
    counts = " or ".join(dict.fromkeys(f"{row['words']:,}" for row in rows))
    notes = [
        f"exp of the mean NLL of a word of the test set's reference ({counts} words, end symbols included; one without "
        "an id of its own counts as [UNK]). Systems that differ by their decoding alone share the first one's row."
    ]
    notes += seeds_note([row for row in rows if row["seeds"]])
    notes += [reported_note(paper, table.called)] if table.reported else []
    shown = make_frame(rows, list(headers.values())).fillna("").set_axis(list(headers), axis=1)
    return Table(make_frame(rows, COLUMNS), shown, notes=notes)


def _row(system: str, runs: Sequence[Row], table: PerplexityTable, settings: ReportSettings) -> Row:
    row = merged(runs, ("perplexity", "log_probability"))
    value, deviation = row["perplexity"], row["perplexity_std"]
    return {
        "id": system,
        "model": settings.label(system),
        "perplexity": fixed(value, 2),
        "perplexity_std": fixed(deviation, 2),
        "shown": with_deviation(value, deviation, 2),
        "reported": fixed(table.reported.get(system), 1),
        "sentences": row["sentences"],
        "words": row["words"],
        "seeds": row["seeds"] if runs[0]["seed"] is not None else None,
    }
