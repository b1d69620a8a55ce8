"""The subcommand `shortlist`, which makes a shortlist of target words."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import file_option, model_option
from nmt.settings.base import MOST_WORDS

MOST_PAIRS = 10_000_000
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
@click.option(
    "--pairs",
    type=click.IntRange(1, MOST_PAIRS),
    default=1_000_000,
    show_default=True,
    help="Number of sentence pairs to count, from the first. Each of their words takes 45 bytes of memory.",
)
@file_option("--output", "File for `nmt translate --shortlist`.")
def shortlist(model_path: Path, bitext: Path, likely: int, frequent: int, pairs: int, output: Path) -> None:
    """Write a shortlist for `nmt translate --shortlist`: the likely translations of each source word.

    These are the target words that are most associated with the source word, by Dice's coefficient over sentence pairs.
    """
    import torch

    from nmt.data.bitext import Bitext
    from nmt.decoding import shortlist as shortlists
    from nmt.model import trained_model

    trained = trained_model.load(model_path, torch.device("cpu"))
    shortlists.make(trained, Bitext.open(bitext), likely, frequent, pairs, output)
