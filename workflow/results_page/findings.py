"""Findings of the papers beside those of experiments, and the findings that experiments do not show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.results.papers import Finding, Paper, PerplexityTable, ScoreTable, read_paper
from pipeline.results.tables.writer import signed
from workflow.results_page.folder import PAPERS, Experiment
from workflow.results_page.groups import REPORTED, Cells, difference

_SIGN = re.compile("[+−]")


def measured(name: str, experiment: Experiment) -> Cells:
    """Return what an experiment measured of a paper's findings, by what each says; empty where it measured none."""
    paper = read_paper(PAPERS / f"{name}.yaml")
    return {finding.says: _measured(finding, experiment, paper) for finding in paper.findings}


def of_paper(name: str, columns: Mapping[str, Cells]) -> tuple[str, list[Cells]]:
    """Return a paper's name, and a row per finding: what the paper reports, and what each experiment measured.

    A finding that no experiment has measured is left out.
    """
    paper = read_paper(PAPERS / f"{name}.yaml")
    rows = []
    for finding in paper.findings:
        cells = {experiment: found.get(finding.says, "") for experiment, found in columns.items()}
        if any(cells.values()):
            rows.append({"": finding.says, REPORTED: _reported(finding, paper), **cells})
    return paper.name, rows


def absent(rows: Sequence[Cells]) -> list[str]:
    """Return a line per experiment with the findings that have the other sign than reported or are not significant."""
    found: dict[str, list[str]] = {}
    for row in rows:
        expected = _SIGN.search(row.get(REPORTED, "")) or _SIGN.match("+")
        for experiment, cell in row.items():
            sign = _SIGN.match(cell) if experiment not in ("", REPORTED) else None
            if sign and expected and (sign[0] != expected[0] or "n.s." in cell):
                found.setdefault(experiment, []).append(f"{row['']} ({cell})")
    return [
        f"- What does not show in {experiment}: {'; '.join(cells)}." for experiment, cells in found.items()
    ]


def _measured(finding: Finding, experiment: Experiment, paper: Paper) -> str:
    first, *others = finding.of
    comparison = experiment.comparison
    if finding.measure == "perplexity":
        rows = [
            row
            for name, table in paper.tables.items()
            if isinstance(table, PerplexityTable)
            for row in experiment.csv(name)
        ]
        return _less({row["id"]: float(row["perplexity"]) for row in rows}, first, others[0])
    if not others:
        column = "long" if finding.measure == "share" else "no_unk"
        bleu = [comparison[name]["systems"].get(first, {}).get("bleu") for name in (column, "all")]
        if None in bleu or not bleu[1]:
            return ""
        return f"{bleu[0] / bleu[1]:.0%}" if finding.measure == "share" else signed(bleu[0] - bleu[1], 2)
    return difference(comparison[finding.measure], first, others[0], experiment.settings.bootstrap_samples)


def _reported(finding: Finding, paper: Paper) -> str:
    """Return what the paper gives, as its tables have it."""
    if finding.reported or finding.measure in ("long", "share"):
        return finding.reported
    if finding.measure == "perplexity":
        tables = [table for table in paper.tables.values() if isinstance(table, PerplexityTable)]
        return next((_less(table.reported, *finding.of) for table in tables), "")
    for table in paper.tables.values():
        if isinstance(table, ScoreTable) and (cell := _in_table(finding, table)):
            return cell
    return ""


def _in_table(finding: Finding, table: ScoreTable) -> str:
    """Return a difference between two cells of a table of the test set's sentences of all lengths."""
    columns: dict[str, str] = {
        column.mode: name
        for name, column in table.columns.items()
        if column.set == "test" and not column.words
    }
    modes = ("no_unk", "all") if finding.measure == "unknown" else (finding.measure, finding.measure)
    systems = (finding.of[0], finding.of[-1])
    values = []
    for system, mode in zip(systems, modes, strict=True):
        row, column = table.reported.get(system), columns.get(mode)
        if row is None or column not in row.scores:
            return ""
        values.append(row.value(column))
    return signed(values[0] - values[1], 2)


def _less(perplexities: Mapping[str, Any], system: str, other: str) -> str:
    """Return the difference of a system's perplexity to another's."""
    if not {system, other} <= perplexities.keys():
        return ""
    return f"{signed(100 * (perplexities[system] / perplexities[other] - 1), 0)}%"
