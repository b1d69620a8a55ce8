"""The subcommand that reports on the text: data report."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, figure_outputs


@click.command(short_help="Write corpus statistics: tables and a figure.")
@click.option(
    "--counts", required=True, type=PATH, help="JSON file with the counts of all corpora (data/counts.json)."
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    type=click.IntRange(min=1),
    help="Length limit of a model's training pairs, in words. Repeat it.",
)
@click.option(
    "--paper", type=PATH, help="File with the paper's numbers for comparison (workflow/papers/PAPER.yaml)."
)
@click.option("--output-csv", required=True, type=PATH, help="CSV file for all numbers, one per row.")
@click.option("--output-lengths", required=True, type=PATH, help="CSV file for the histograms of lengths.")
@click.option("--output-md", required=True, type=PATH, help="Markdown page with the statistics.")
@figure_outputs
def data_report(
    counts: Path,
    limits: tuple[int, ...],
    paper: Path | None,
    output_csv: Path,
    output_lengths: Path,
    output_md: Path,
    output_pdf: Path,
    output_png: Path,
) -> None:
    """Write corpus statistics: pairs and words at every stage, what was removed and why, unknown words, lengths."""
    from nmt.plots import style
    from pipeline.results import corpora as reporting
    from pipeline.results import corpora_page
    from pipeline.results.figures.corpora import data_figure
    from pipeline.results.papers import ReportedData, read_paper

    report = reporting.read_report(counts, limits, read_paper(paper).data if paper else ReportedData())
    reporting.write_csv(report, output_csv, output_lengths)
    corpora_page.write_markdown(report, output_md, output_png.name)
    style.save(data_figure(report), output_pdf, output_png)
