"""Subcommands that write the finding, and the HTML pages explorer, playground and report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import PATH, file_option, parse_settings, settings_option
from nmt.errors import UserError
from nmt.settings.decoding import TextSettings
from pipeline.cli.options import given_translations, report_settings
from pipeline.config.artifacts import Report


@click.command()
@click.option(
    "--translations",
    type=(str, PATH),
    multiple=True,
    required=True,
    metavar="LABEL FILE",
    help="A model's name on the page and its translations, written by `nmt test-set decode`. Repeat it, for the same"
    " sentences.",
)
@given_translations
@file_option("--reference", "Tokenized reference of the test set.")
@click.option(
    "--compared",
    multiple=True,
    metavar="LABEL",
    help="Model that the page shows at first. Give two at most [default: the last with attention, the first without].",
)
@click.option(
    "--trees",
    multiple=True,
    type=(str, PATH),
    metavar="LABEL FILE",
    help="A model's name and its trees of the source, written by `nmt test-set trees`. Repeat it.",
)
@click.option(
    "--languages",
    nargs=2,
    default=("", ""),
    metavar="SOURCE TARGET",
    help="Codes of source and target language, for the browser's fonts and voices.",
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

    The page is one file. A browser opens it from the file system, without a network.
    """
    from pipeline.results.explorer.page import refuse_twice, write_explorer

    refuse_twice("--translations, --given", [*translations, *given])
    refuse_twice("--trees", trees)
    count = write_explorer(
        translations, reference, title, output, compared, dict(trees), languages, dict(given)
    )
    click.echo(f"{output}: {count:,} sentences, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@click.option(
    "--model",
    "models",
    required=True,
    multiple=True,
    type=PATH,
    metavar="FOLDER",
    help="Folder of a trained model. Repeat it for further models with the same vocabularies.",
)
@file_option("--source", "Tokenized source of the test set. The page offers its short sentences as examples.")
@file_option("--reference", "Tokenized reference of the test set.")
@click.option(
    "--megabytes",
    type=click.IntRange(1, 2000),
    default=32,
    show_default=True,
    help="Limit in MB for all weights. If they are larger, the page has no models and says why.",
)
@click.option(
    "--bits",
    type=click.Choice([16, 8]),
    default=16,
    show_default=True,
    help="Bits of a weight in the page. With 8 the page is half as large, and some translations differ.",
)
@click.option("--title", default="Translate in the browser", show_default=True, help="Heading of the page.")
@settings_option("The config's `languages`, `tokenization` and `decoding`")
@file_option("--output", "The page, one HTML file.")
def playground(
    models: tuple[Path, ...],
    source: Path,
    reference: Path,
    megabytes: int,
    bits: Literal[16, 8],
    title: str,
    settings: str,
    output: Path,
) -> None:
    """Write a page in which trained models translate typed text in the browser, side by side.

    The page is one file with rounded weights. It needs no network, and translates as `nmt translate` does.
    """
    text = parse_settings(TextSettings, settings)
    from nmt.model.model_folder import refuse_other_than_model
    from pipeline.results.playground.page import write_playground

    for folder in models:
        refuse_other_than_model(folder)
    written = write_playground(models, text, source, reference, bits, megabytes, title, output)
    said = written.refusal or f"{len(models)} models, {written.sentences} sentences"
    click.echo(f"{output}: {said}, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@file_option("--score", "Scores of a run, written by `nmt test-set evaluate`. Repeat it.", multiple=True)
@report_settings
@file_option("--output", "File for the text, one line.")
def finding(score: tuple[Path, ...], settings: str, output: Path) -> None:
    """Write the main finding of a run in words: how the models score on the longest sentences."""
    from nmt.io.files import write_text
    from pipeline.results.finding import finding as in_words
    from pipeline.results.run_results import read_runs

    wanted = parse_settings(Report, settings)
    text = in_words(read_runs(score, ("by_sentence",)), wanted)
    write_text(output, f"{text}\n")
    click.echo(text, err=True)


@click.command()
@click.option("--title", required=True, help="Heading of the page.")
@click.option(
    "--paper", multiple=True, required=True, help="Name of a paper that the run reproduces. Repeat it."
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
    help="Another page in the same folder, such as explorer.html, to link to. Repeat it.",
)
@file_option("--captions", "Folder with a heading and caption (.rst) per artifact.", metavar="FOLDER")
@click.option(
    "--seeds", default="", help="Sentence that says which runs the figures show of models with several seeds."
)
@click.option(
    "--configuration", required=True, metavar="JSON", help="Merged settings of the run, to be shown."
)
@file_option("--benchmarks", "Folder of Snakemake's benchmark files.", metavar="FOLDER")
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
    """Write one self-contained HTML page with the tables, figures, settings, times and versions of a run."""
    from pipeline.results import page

    try:
        values = json.loads(configuration)
    except json.JSONDecodeError as error:
        raise UserError(f"--configuration: not JSON: {error.msg}") from None
    page.write(output, title, paper, artifact, beside, captions, seeds, values, benchmarks)
