"""The subcommand that makes a shortlist of target words."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import file_option
from nmt.settings.base import MOST_WORDS

MOST_PAIRS = 10_000_000
LIKELY, FREQUENT = 20, 1000


@click.command(short_help="Write which target words each source word is likely translated with.")
@file_option("--model", "Folder of a trained model.", metavar="FOLDER")
@file_option("--bitext", "What it was trained on: data/binary/... of the run.", metavar="FOLDER")
@click.option(
    "--likely",
    type=click.IntRange(1, MOST_WORDS),
    default=LIKELY,
    show_default=True,
    help="Target words for each source word.",
)
@click.option(
    "--frequent",
    type=click.IntRange(0),
    default=FREQUENT,
    show_default=True,
    help="Target words for every sentence, the most frequent ones.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1, MOST_PAIRS),
    default=1_000_000,
    show_default=True,
    help="Sentence pairs that are counted, from the first; 45 bytes of memory for each word of both sides.",
)
@file_option("--output", "File for `nmt translate --shortlist`.")
def shortlist(model: Path, bitext: Path, likely: int, frequent: int, pairs: int, output: Path) -> None:
    """Write which target words each source word is likely translated with: for `nmt translate --shortlist`.

    These are the words that occur most often in the same sentence pairs (Dice's coefficient).
    """
    import torch

    from nmt.data.bitext import Bitext
    from nmt.decoding import shortlist as shortlists
    from nmt.model import trained_model

    trained = trained_model.load(model, torch.device("cpu"))
    shortlists.make(trained, Bitext.open(bitext), likely, frequent, pairs, output)
