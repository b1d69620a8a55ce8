"""Subcommands that share trained models: model package and release, unpack, shortlist."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER, file_option, model_option, parse_settings, settings_option
from nmt.settings.base import MOST_WORDS
from nmt.settings.decoding import TextSettings


@click.command(short_help="Write text.json into a model's folder, so that it can translate raw text.")
@model_option
@settings_option("The config's `languages`, `tokenization` and `decoding`")
def package(model_path: Path, settings: str) -> None:
    """Write text.json into a model's folder, so that it can translate raw text.

    The file records both languages, the tokenization and the default settings of decoding. No other file of the folder
    changes. The folder may then be moved anywhere.
    """
    from nmt.store import model_folder

    model_folder.package(model_path, parse_settings(TextSettings, settings))


@click.command()
@model_option
@click.option(
    "--with-final-state", is_flag=True, help="Also pack the final state, from which training can continue."
)
@click.option(
    "--bits",
    type=click.Choice([32, 16]),
    default=32,
    show_default=True,
    help="Bits of a weight. With 16 the archive is half as large, and some translations differ.",
)
@click.option("--output", type=FILE, required=True, metavar="FILE.tar.zst", help="Archive to write.")
def release(model_path: Path, with_final_state: bool, bits: int, output: Path) -> None:
    """Pack a model for others: weights, vocabularies, settings, summary, card and checksums in one archive.

    `nmt unpack` (or `tar --zstd -xf`) unpacks the folder for `nmt translate --model`. Equal models give archives with
    equal bytes.
    """
    from nmt.store.release import pack

    names = pack(model_path, output, with_final_state, bits)
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
    """Unpack archives of `nmt model release`, each into a folder with its model's name, and verify their checksums."""
    from nmt.store.release import unpack as extract

    for archive in archives:
        click.echo(extract(archive, output))


LIKELY, FREQUENT = 20, 1000


@click.command(short_help="Write a shortlist: the likely translations of each source word.")
@model_option
@file_option(
    "--bitext",
    "Folder of the training text of the model (data/binary/... of its experiment).",
    metavar="FOLDER",
)
@click.option(
    "--likely",
    type=click.IntRange(1, MOST_WORDS),
    default=LIKELY,
    show_default=True,
    help="Number of target words for each source word.",
)
@click.option(
    "--frequent",
    type=click.IntRange(0),
    default=FREQUENT,
    show_default=True,
    help="Number of most frequent target words, which are allowed in every sentence.",
)
@file_option("--output", "File for `nmt translate --shortlist`.")
def shortlist(model_path: Path, bitext: Path, likely: int, frequent: int, output: Path) -> None:
    """Write a shortlist for `nmt translate --shortlist`: the likely translations of each source word.

    These are the target words that are most associated with the source word, by Dice's coefficient over sentence pairs.
    """
    import torch

    from nmt.data.bitext import Bitext
    from nmt.decoding import shortlist as shortlists
    from nmt.store import trained_model

    trained = trained_model.load(model_path, torch.device("cpu"))
    shortlists.make(trained, Bitext.open(bitext), likely, frequent, output)
