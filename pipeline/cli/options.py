"""Options that several subcommands of the pipeline share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nmt.cli.options import PATH, figure_outputs, file_option, parse_settings, settings_option
from pipeline.config.artifacts import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pipeline.report.tables.writer import Table

report_settings = settings_option(
    "The config's `artifacts`, `languages`, `tokenization`, `labels` (by model id) and `unknown` (from `decoding`)"
)


def table_command(make: Callable[..., Table]) -> Callable[..., None]:
    """Turn a function that returns a table of the report's settings into one that writes its three files."""

    @wraps(make)
    def command(settings: str, output_csv: Path, output_md: Path, output_tex: Path, **options: Any) -> None:
        from pipeline.report.tables.writer import write_table

        table = make(settings=parse_settings(Report, settings), **options)
        write_table(table, output_csv, output_md, output_tex)

    for form in ("tex", "md", "csv"):
        command = file_option(f"--output-{form}", f"The table as .{form}.")(command)
    return report_settings(command)


def figure_command(draw: Callable[..., Figure]) -> Callable[..., None]:
    """Turn a function that returns a figure of the report's settings into one that writes its two files."""

    @wraps(draw)
    def command(settings: str, output_pdf: Path, output_png: Path, **options: Any) -> None:
        from nmt.plots.style import save

        save(draw(settings=parse_settings(Report, settings), **options), output_pdf, output_png)

    return report_settings(figure_outputs(command))


summaries = file_option(
    "--summary", "The summary.json of a run, written by `nmt train`. Repeat it.", multiple=True
)


own_sentences = click.option(
    "--paper",
    type=PATH,
    metavar="FILE",
    help="File with the paper's example sentences (workflow/papers/PAPER.yaml).",
)


given_translations = click.option(
    "--given",
    type=(str, PATH),
    multiple=True,
    metavar="SYSTEM FILE",
    help="Translations of another system for the whole test set, tokenized, one per line. Repeat it.",
)
