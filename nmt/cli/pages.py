"""Subcommands that write what people read first: finding, and the HTML pages explorer and report."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nmt.cli.options import PATH, file_option, parse_settings, report_settings
from nmt.config.schema import Report
from nmt.errors import UserError


@click.command()
@click.option(
    "--translations",
    type=(str, PATH),
    multiple=True,
    required=True,
    metavar="LABEL FILE",
    help="A model's name on the page and its translations, from `decode`. Repeat it, with the same sentences.",
)
@file_option("--reference", "Tokens of the reference.")
@click.option(
    "--compared",
    multiple=True,
    metavar="LABEL",
    help="A model that the page shows at first; two at most [default: the last that aligns, the first that does not].",
)
@click.option(
    "--title", default="Translations and alignments", show_default=True, help="Heading of the page."
)
@file_option("--output", "The page, one HTML file.")
def explorer(
    translations: tuple[tuple[str, Path], ...],
    reference: Path,
    compared: tuple[str, ...],
    title: str,
    output: Path,
) -> None:
    """Write a page to explore translations: search, filter, compare two models, see the attention of each word.

    One file that a browser opens from the file system, without a network.
    """
    from nmt.report.explorer.page import labels_of, write_explorer

    count = write_explorer(list(labels_of(translations)), reference, title, output, compared)
    click.echo(f"{output}: {count:,} sentences, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@file_option("--score", "A model's scores, from `evaluate`. Repeat it.", multiple=True)
@report_settings
@file_option("--output", "The text, one line.")
def finding(score: tuple[Path, ...], settings: str, output: Path) -> None:
    """Write what the run has found in words: how models fare on the longest sentences."""
    from nmt.io.files import atomic_path
    from nmt.report.finding import finding as in_words
    from nmt.report.run_results import read_by_model

    wanted = parse_settings(Report, settings)
    text = in_words(read_by_model(score, ("by_sentence",)), wanted)
    with atomic_path(output) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")
    click.echo(text, err=True)


@click.command()
@click.option("--title", required=True, help="Heading of the page.")
@file_option(
    "--artifact",
    "A table (.md), figure (.png) or error rate (.json), in the order of the page. Repeat it.",
    multiple=True,
)
@file_option("--captions", "Folder with a caption (.rst) per artifact.", metavar="FOLDER")
@click.option("--seeds", default="", help="Which runs of models with several seeds the figures show.")
@click.option(
    "--configuration", required=True, metavar="JSON", help="The run's merged settings, to be shown."
)
@file_option("--benchmarks", "Holds Snakemake's benchmark files.", metavar="FOLDER")
@file_option("--output", "The page.")
def report(
    title: str,
    artifact: tuple[Path, ...],
    captions: Path,
    seeds: str,
    configuration: str,
    benchmarks: Path,
    output: Path,
) -> None:
    """Write one HTML page with a run's tables and figures, settings, times and versions; it needs nothing else."""
    from nmt.report import page

    try:
        values = json.loads(configuration)
    except json.JSONDecodeError as error:
        raise UserError(f"--configuration: not JSON: {error.msg}") from None
    page.write(output, title, artifact, captions, seeds, values, benchmarks)
