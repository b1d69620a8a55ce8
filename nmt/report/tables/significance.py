"""The table of paired significance: for each pair of models the difference in BLEU, and how likely chance makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmt.config.schema import Report
from nmt.report.tables.writer import Table, fixed, frame, signed

COLUMNS = ["column", "first", "second", "difference", "p", "sentences", "signature"]
_HEADERS = {"all": "All", "no_unk": "No UNK°"}
_SURE = 0.05


def significance(comparison: Mapping[str, Any], settings: Report) -> Table:
    """A row for each pair of systems; differences are the second's BLEU less the first's."""
    rows = [row for column in _HEADERS for row in _rows(column, comparison[column], settings)]
    cells = _cells(comparison, settings)
    headers = ["Model", "Compared with"]
    headers += [text for header in _HEADERS.values() for text in (f"{header}, Δ", f"{header}, p")]
    return Table(frame(rows, COLUMNS), headers, cells, [], _notes(comparison))


def _rows(column: str, found: Mapping[str, Any], settings: Report) -> list[dict[str, Any]]:
    return [
        {
            **pair,
            "column": column,
            "difference": fixed(pair["difference"], 2),
            "first": settings.label(pair["first"]),
            "second": settings.label(pair["second"]),
            "sentences": found["sentences"],
            "signature": found["signatures"].get("bleu"),
        }
        for pair in found["pairs"]
    ]


def _cells(comparison: Mapping[str, Any], settings: Report) -> list[list[str]]:
    by_pair = {
        column: {(pair["first"], pair["second"]): pair for pair in comparison[column]["pairs"]}
        for column in _HEADERS
    }
    cells = []
    for first, second in by_pair["all"]:
        line = [settings.label(second), settings.label(first)]
        for column in _HEADERS:
            pair = by_pair[column].get((first, second))
            line += [signed(pair["difference"], 2), _p(pair["p"])] if pair else ["", ""]
        cells.append(line)
    return cells


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" + ("" if value < _SURE else " (n.s.)")


def _notes(comparison: Mapping[str, Any]) -> list[str]:
    found = comparison["all"]
    signatures = found["signatures"].get("bleu", "")
    return [
        "Paired bootstrap over sentences (Koehn, 2004) by sacrebleu: p is the probability that chance alone makes a "
        f"difference of that size; n.s.: not significant at {_SURE}. Differences are those of BLEU on tokens "
        f"({signatures}). Many pairs are compared and p is not corrected for that. Of several seeds the first "
        "one's run is compared; how far seeds lie apart is another question, which ± in Table 1 answers."
    ]
