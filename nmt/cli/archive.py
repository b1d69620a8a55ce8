"""Subcommands of trained models as archives for others: model-card, release, unpack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER, languages_option
from nmt.io.files import read_json

_model_folder = click.option(
    "--model",
    "folder",
    type=FOLDER,
    required=True,
    metavar="FOLDER",
    help="The model's folder, from `train`.",
)


@click.command()
@_model_folder
@click.option("--scores", type=FILE, help="Its scores, from `evaluate`.")
@languages_option()
@click.option("--train", multiple=True, metavar="CORPUS", help="Name of a training corpus. Repeat it.")
@click.option("--dev", multiple=True, metavar="CORPUS", help="Name of a development corpus. Repeat it.")
@click.option("--test", multiple=True, metavar="CORPUS", help="Name of the corpus that the scores are of.")
def model_card(
    folder: Path,
    scores: Path | None,
    languages: tuple[str, str] | None,
    train: tuple[str, ...],
    dev: tuple[str, ...],
    test: tuple[str, ...],
) -> None:
    """Write a model's README.md: what it is, how it was trained, its scores, how to load it."""
    from nmt.model import model_card as card

    text = card.Text(languages or (), train, dev, test)
    card.write(folder, text, read_json(scores) if scores else None)


@click.command()
@_model_folder
@click.option(
    "--with-final-state", is_flag=True, help="Also pack the final state, from which training can continue."
)
@click.option("--output", type=FILE, required=True, metavar="FILE.tar.zst", help="The archive.")
def release(folder: Path, with_final_state: bool, output: Path) -> None:
    """Pack a model for others: weights, vocabularies, settings, summary, card and checksums in one archive.

    `nmt unpack` (or `tar --zstd -xf`) gives a folder that `nmt translate --model` takes. Equal models give equal bytes.
    """
    from nmt.model import model_archive as archive

    names = archive.pack(folder, output, with_final_state)
    click.echo(f"{output}: {', '.join(names)}", err=True)


@click.command()
@click.argument("archives", type=FILE, nargs=-1, required=True)
@click.option(
    "--output",
    type=FOLDER,
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Folder for the models' folders.",
)
def unpack(archives: Sequence[Path], output: Path) -> None:
    """Unpack archives of `release`, each into a folder of its model's name, and check their checksums."""
    from nmt.model.model_archive import unpack as extract

    for archive in archives:
        click.echo(extract(archive, output))
