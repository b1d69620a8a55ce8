"""The table of paired significance: difference in BLEU and p-value for each pair of systems."""

import math
from collections.abc import Mapping
from typing import Any

from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import SIGNIFICANCE_LEVEL
from pipeline.results.tables.notes import variance_note
from pipeline.results.tables.table import Table, format_difference, format_number

_CSV_COLUMNS = ["column", "model", "compared_with", "difference", "p", "sentences", "signature"]
_HEADERS = ["Model", "Compared with", "All, Δ", "All, p", "No UNK°, Δ", "No UNK°, p"]


def make_significance_table(comparison: Mapping[str, Any], settings: ReportSettings) -> Table:
    """Return the table of significance, with a row per pair of systems.

    comparison: the result of `compare_systems` for each column of Table 1, "all" and "no_unk". A difference is the
    BLEU of the second system minus the BLEU of the first.
    """
    records = []
    cells_by_pair: dict[tuple[str, str], list[str]] = {}  # rows for readers, with the cells of both columns
    for column, results in comparison.items():
        for pair in results["pairs"]:
            model, other_model = settings.label(pair["second"]), settings.label(pair["first"])
            record = {
                "column": column,
                "model": model,
                "compared_with": other_model,
                "difference": format_number(pair["difference"], 2),
                "p": pair["p"],
                "sentences": results["sentences"],
                "signature": results["signatures"]["bleu"],
            }
            records.append(record)

            cells = cells_by_pair.setdefault((pair["first"], pair["second"]), [model, other_model])
            cells.append(format_difference(pair["difference"], 2))
            cells.append(format_p(pair["p"], settings.bootstrap_samples))

    # empty cells for a column that has no sentences, and so no pairs
    rows = [cells + [""] * (len(_HEADERS) - len(cells)) for cells in cells_by_pair.values()]
    return Table(
        records,
        _HEADERS,
        rows,
        text_columns=["Model", "Compared with"],
        notes=[_make_note(comparison["all"], settings)],
        csv_columns=_CSV_COLUMNS,
    )


def format_p(p: float | None, sample_count: int) -> str:
    """Return a p-value as `0.042`. The smallest possible p of 1,000 samples, 1 / 1,001, is `≤ 0.001`."""
    if p is None:
        return ""
    decimals = max(3, math.ceil(math.log10(sample_count)))
    text = f"{p:.{decimals}f}"
    least_p = 1 / (sample_count + 1)
    if math.isclose(p, least_p, rel_tol=1e-2):
        # round upwards, because the printed bound must not be below the real one
        text = f"≤ {math.ceil(least_p * 10**decimals) / 10**decimals:.{decimals}f}"
    return text if p < SIGNIFICANCE_LEVEL else f"{text} (n.s.)"


def _make_note(results: Mapping[str, Any], settings: ReportSettings) -> str:
    """Return the note on differences and p-values. results: the comparison of the systems on all sentences."""
    signature = results["signatures"].get("bleu", "")
    run_counts = [system.get("runs", 1) for system in results["systems"].values()]
    return (
        f"Δ: BLEU of the model less that of the one it is compared with, on tokens ({signature}). p: probability that "
        f"chance alone makes a difference of at least that size in either direction (two-sided), by paired bootstrap "
        f"({settings.bootstrap_samples:,} samples, seed {settings.bootstrap_seed}; Koehn, 2004); n.s.: not significant "
        f"at {SIGNIFICANCE_LEVEL}. sacrebleu's p is one-sided, about half as large. Not corrected for the number of "
        f"pairs. {variance_note('p-value', run_counts)}"
    )
