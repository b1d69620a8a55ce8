"""Subcommands that write what people see first: finding, and the HTML pages explorer, playground and report."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nmt.cli.options import PATH, file_option, parse_settings, settings_option
from nmt.errors import UserError
from nmt.settings.decoding import TextSettings
from pipeline.cli.options import report_settings
from pipeline.config.artifacts import Report


@click.command()
@click.option(
    "--translations",
    type=(str, PATH),
    multiple=True,
    required=True,
    metavar="LABEL FILE",
    help="A model's name on the page and its translations, from `decode`. Repeat it, with the same sentences.",
)
@click.option(
    "--given",
    type=(str, PATH),
    multiple=True,
    metavar="LABEL FILE",
    help="Another system's translations of the whole test set, tokenized, one per line. Repeat it.",
)
@file_option("--reference", "Tokens of the reference.")
@click.option(
    "--compared",
    multiple=True,
    metavar="LABEL",
    help="A model that the page shows at first; two at most [default: the last with attention, the first without].",
)
@click.option(
    "--trees",
    multiple=True,
    type=(str, PATH),
    metavar="LABEL FILE",
    help="Trees that a model makes of the source, from `trees`. Repeat it for each such model.",
)
@click.option(
    "--languages",
    nargs=2,
    default=("", ""),
    metavar="SOURCE TARGET",
    help="Codes, for the browser's fonts and voices.",
)
@click.option(
    "--title", default="Translations and alignments", show_default=True, help="Heading of the page."
)
@file_option("--output", "The page, one HTML file.")
def explorer(
    translations: tuple[tuple[str, Path], ...],
    given: tuple[tuple[str, Path], ...],
    reference: Path,
    compared: tuple[str, ...],
    trees: tuple[tuple[str, Path], ...],
    languages: tuple[str, str],
    title: str,
    output: Path,
) -> None:
    """Write a page to explore translations: search, filter, compare two models, see the attention of each word.

    One file that a browser opens from the file system, without a network.
    """
    from pipeline.report.explorer.page import labels_of, write_explorer

    files = list(labels_of(translations))
    count = write_explorer(files, reference, title, output, compared, dict(trees), languages, dict(given))
    click.echo(f"{output}: {count:,} sentences, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@click.option(
    "--model",
    "models",
    required=True,
    multiple=True,
    type=PATH,
    metavar="FOLDER",
    help="Folder of a trained model. Repeat it, with models of the same vocabularies.",
)
@file_option("--source", "Tokens of the test set, whose short sentences the page knows.")
@file_option("--reference", "Tokens of its reference.")
@click.option(
    "--megabytes",
    type=click.IntRange(1, 2000),
    default=32,
    show_default=True,
    help="Limit of all weights at 16 bits; of larger models the page says why they are not in it.",
)
@click.option("--title", default="Translate in the browser", show_default=True, help="Heading of the page.")
@settings_option("The config's `languages`, `tokenization` and `decoding`")
@file_option("--output", "The page, one HTML file.")
def playground(
    models: tuple[Path, ...],
    source: Path,
    reference: Path,
    megabytes: int,
    title: str,
    settings: str,
    output: Path,
) -> None:
    """Write a page in which trained models translate what one types, side by side, in the browser.

    One file with the weights at 16 bits; it needs no network. It translates as `nmt translate` does.
    """
    text = parse_settings(TextSettings, settings)
    from nmt.model.model_folder import refuse_other_than_model
    from pipeline.report.playground.page import write_playground

    for folder in models:
        refuse_other_than_model(folder)
    written = write_playground(models, text, source, reference, megabytes, title, output)
    said = written.refusal or f"{len(models)} models, {written.sentences} sentences"
    click.echo(f"{output}: {said}, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@file_option("--score", "A model's scores, from `evaluate`. Repeat it.", multiple=True)
@report_settings
@file_option("--output", "The text, one line.")
def finding(score: tuple[Path, ...], settings: str, output: Path) -> None:
    """Write what the run has found in words: how models fare on the longest sentences."""
    from nmt.io.files import atomic_path
    from pipeline.report.finding import finding as in_words
    from pipeline.report.run_results import read_by_model

    wanted = parse_settings(Report, settings)
    text = in_words(read_by_model(score, ("by_sentence",)), wanted)
    with atomic_path(output) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")
    click.echo(text, err=True)


@click.command()
@click.option("--title", required=True, help="Heading of the page.")
@click.option(
    "--paper", multiple=True, required=True, help="What the run reproduces, by its name. Repeat it."
)
@file_option(
    "--artifact",
    "A table (.md), figure (.png), error rate (.json) or the finding (.txt), in the order of the page. Repeat it.",
    multiple=True,
)
@click.option(
    "--beside",
    multiple=True,
    metavar="NAME",
    help="A page beside it, such as explorer.html, that it leads to. Repeat it.",
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
    paper: tuple[str, ...],
    artifact: tuple[Path, ...],
    beside: tuple[str, ...],
    captions: Path,
    seeds: str,
    configuration: str,
    benchmarks: Path,
    output: Path,
) -> None:
    """Write one HTML page with a run's tables and figures, settings, times and versions; it needs nothing else."""
    from pipeline.report import page

    try:
        values = json.loads(configuration)
    except json.JSONDecodeError as error:
        raise UserError(f"--configuration: not JSON: {error.msg}") from None
    page.write(output, title, paper, artifact, beside, captions, seeds, values, benchmarks)
