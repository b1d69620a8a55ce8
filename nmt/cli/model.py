"""The subcommands that make a trained model usable by others: model package, model release and unpack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nmt.cli.options import (
    FILE,
    FOLDER,
    model_option,
    output_option,
    parse_settings,
    settings_option,
)
from nmt.settings.decoding import TextSettings
from nmt.settings.paper import add_text_defaults


@click.command(short_help="Write text.json into the folder of a model, so that it can translate raw text.")
@model_option
@settings_option("`languages`, `tokenization` and `decoding` (missing keys have the values of the paper)")
def package(model_path: Path, settings: str) -> None:
    """Write text.json into the folder of a model, so that it can translate raw text.

    The file has both languages, the tokenization and the default settings of decoding. No other file of the folder
    changes. The folder can then be moved anywhere.
    """
    from nmt.store import model_folder

    model_folder.write_text_settings(model_path, parse_settings(TextSettings, settings, add_text_defaults))


@click.command()
@model_option
@click.option(
    "--with-final-state",
    is_flag=True,
    help="Also pack the final state of training, from which it can continue.",
)
@click.option(
    "--bits",
    type=click.Choice([32, 16]),
    default=32,
    show_default=True,
    help="Bits per weight. With 16, the archive is half as large, but some translations change.",
)
@output_option(metavar="FILE.tar.zst", help="Archive to write.")
def release(model_path: Path, with_final_state: bool, bits: int, output: Path) -> None:
    """Pack a model for others: weights, vocabularies, settings, summary, model card and checksums in one archive.

    `nmt unpack` (or `tar --zstd -xf`) unpacks the folder for `nmt translate --model`. Equal models give archives with
    equal bytes.
    """
    from nmt.store.archive import pack_model

    file_names = pack_model(model_path, output, with_final_state, bits)
    click.echo(f"{output}: {', '.join(file_names)}", err=True)


@click.command()
@click.argument("archives", type=FILE, nargs=-1, required=True)
@click.option(
    "--output",
    type=FOLDER,
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Folder in which the folders of the models are created.",
)
def unpack(archives: Sequence[Path], output: Path) -> None:
    """Unpack archives of `nmt model release`, each into a folder named like its model, and verify their checksums.

    \b
        nmt unpack demo-rnnsearch-50.tar.zst --output models
    """
    from nmt.store.archive import unpack_model

    for archive in archives:
        click.echo(unpack_model(archive, output))
