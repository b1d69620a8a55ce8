"""The subcommand that writes the playground."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import PATH, file_option, parse_settings, settings_option
from nmt.settings.decoding import TextSettings


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
    from nmt.store.model_folder import refuse_other_than_model
    from pipeline.results.playground.page import write_playground

    for folder in models:
        refuse_other_than_model(folder)
    refusal = write_playground(models, text, source, reference, bits, megabytes, title, output)
    click.echo(f"{output}: {refusal or f'{output.stat().st_size / 1e6:.1f} MB'}", err=True)
