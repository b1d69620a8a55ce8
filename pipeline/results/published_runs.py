"""Whether a run scores as the published runs of the same experiment do (results/packages)."""

import math
from pathlib import Path
from typing import Any

import pandas as pd

from nmt.io.files import read_json
from pipeline.results.package import ReplicationPackage
from pipeline.results.welch import run_welch_test

UNEXPECTED_P = 0.01
"""A difference with a smaller p-value is reported."""
_IGNORED_KEYS = {"seed", "seeds", "artifacts"}
"""Settings that may differ: the seeds, and what tables and figures show."""


def compare_with_published_runs(results: Path, published: Path) -> str | None:
    """Return a sentence that says which models of a run score differently from those of published runs.

    results, published: folders of results. Returns None if the published runs do not exist or have other settings.
    """
    tables = [folder / "table1.csv" for folder in (results, published)]
    if not all(table.is_file() for table in tables) or _read_settings(results) != _read_settings(published):
        return None

    # the models of both tables whose published runs have several seeds
    run_rows, published_rows = (pd.read_csv(table) for table in tables)
    rows = run_rows.merge(published_rows, on="id", suffixes=("", "_published"))
    rows = rows[(rows["seeds"] >= 1) & (rows["seeds_published"] > 1)]
    if rows.empty:
        return None

    differences = []
    for row in rows.itertuples():
        # If all runs have the variance std², the difference of the two means has the variance
        # std² (1 / seeds_published + 1 / seeds). The test is given only the first part of this sum, and expects a
        # smaller difference. So the difference is scaled.
        difference = row.bleu_all - row.bleu_all_published
        scaled_difference = difference / math.sqrt(1 + row.seeds_published / row.seeds)
        _, p = run_welch_test(scaled_difference, (row.bleu_all_std_published, 0.0), (row.seeds_published, 2))
        if p < UNEXPECTED_P:
            published_bleu = f"{row.bleu_all_published:.2f} ± {row.bleu_all_std_published:.2f}"
            differences.append(f"{row.model} has {row.bleu_all:.2f} instead of {published_bleu}")
    if not differences:
        return f"The BLEU of each model agrees with the published runs ({published})."
    return f"BLEU differs from the published runs ({published}) by more than seeds explain: {', '.join(differences)}."


def _read_settings(results: Path) -> dict[str, Any]:
    """Return the settings on which scores depend, apart from seeds."""
    settings = read_json(ReplicationPackage(results).configuration)
    return {key: value for key, value in settings.items() if key not in _IGNORED_KEYS}
