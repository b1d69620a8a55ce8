"""The table of paired significance: difference in BLEU and p-value for each pair of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipeline.config.display import ReportSettings
from pipeline.results.inputs import Inputs
from pipeline.results.seeds import Row
from pipeline.results.tables.notes import variance_note
from pipeline.results.tables.writer import Table, fixed, make_frame, signed

COLUMNS = ["column", "model", "compared_with", "difference", "p", "sentences", "signature"]
_HEADERS = {"all": "All", "no_unk": "No UNK°"}
_WORDS = ["Model", "Compared with"]
_SIGNIFICANT = 0.05


def significance(comparison: Mapping[str, Any], settings: ReportSettings) -> Table:
    """Return a row per pair of systems. A difference is the model's BLEU minus that of the other system."""
    rows = [row for column in _HEADERS for row in _rows(column, comparison[column], settings)]
    shown = _shown(comparison, settings)
    return Table(make_frame(rows, COLUMNS), shown, _WORDS, notes=_notes(comparison, settings))


def _rows(column: str, found: Mapping[str, Any], settings: ReportSettings) -> list[Row]:
    return [
        {
            "column": column,
            "model": settings.label(pair["second"]),
            "compared_with": settings.label(pair["first"]),
            "difference": fixed(pair["difference"], 2),
            "p": pair["p"],
            "sentences": found["sentences"],
            "signature": found["signatures"].get("bleu"),
        }
        for pair in found["pairs"]
    ]


def _shown(comparison: Mapping[str, Any], settings: ReportSettings) -> pd.DataFrame:
    """Return a row for each pair, both columns of Table 1 beside each other."""
    by_pair = {
        column: {(pair["first"], pair["second"]): pair for pair in comparison[column]["pairs"]}
        for column in _HEADERS
    }
    rows = []
    for first, second in by_pair["all"]:
        row = [settings.label(second), settings.label(first)]
        for column in _HEADERS:
            pair = by_pair[column].get((first, second))
            p = shown_p(pair["p"], settings.bootstrap_samples) if pair else ""
            row += [signed(pair["difference"], 2), p] if pair else ["", ""]
        rows.append(row)
    numbers = [f"{header}, {what}" for header in _HEADERS.values() for what in ("Δ", "p")]
    return pd.DataFrame(rows, columns=[*_WORDS, *numbers])


def shown_p(value: float | None, samples: int) -> str:
    """Return `0.042`, or `≤ 0.001` for the least p that so many samples can give: 1 / (samples + 1)."""
    if value is None:
        return ""
    least = 1 / (samples + 1)
    decimals = max(3, math.ceil(math.log10(samples)))
    text = f"{value:.{decimals}f}"
    if math.isclose(value, least, rel_tol=1e-2):
        # upwards: what is shown must not be less than the least
        text = f"≤ {math.ceil(least * 10**decimals) / 10**decimals:.{decimals}f}"
    return text + ("" if value < _SIGNIFICANT else " (n.s.)")


def _notes(comparison: Mapping[str, Any], settings: ReportSettings) -> list[str]:
    signature = comparison["all"]["signatures"].get("bleu", "")
    samples, seed = settings.bootstrap_samples, settings.bootstrap_seed
    runs = [system.get("runs", 1) for system in comparison["all"]["systems"].values()]
    return [
        f"Δ: BLEU of the model less that of the one it is compared with, on tokens ({signature}). p: probability that "
        f"chance alone makes a difference of at least that size in either direction (two-sided), by paired bootstrap "
        f"({samples:,} samples, seed {seed}; Koehn, 2004); n.s.: not significant at {_SIGNIFICANT}. sacrebleu's p is "
        "one-sided, about half as large. Not corrected for the number of pairs. "
        + variance_note("p", "small", runs)
    ]


def of_package(inputs: Inputs) -> Table:
    """Return the table of a package."""
    return significance(inputs.comparison, inputs.settings)
