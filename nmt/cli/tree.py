"""The subcommand `tree`: the tree that a gated recursive convolution makes of a sentence."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    NumberRange,
    file_option,
    model_option,
    refuse_other_pictures,
    tokenized_option,
)
from nmt.errors import UserError
from nmt.settings.decoding import ComputeOptions, TranslateOptions

BEST = 10
"""Number of translations beside a tree (Cho et al. 2014b, Fig. 6)."""
MOST_WORDS = 100
"""Maximum number of words in a drawn tree; larger trees are not readable."""


# a sentence may begin with a dash
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("sentence")
@model_option
@click.option(
    "--least",
    type=NumberRange(0, 1, max_open=True),
    default=0.1,
    show_default=True,
    help="Largest value of a gate that is not shown. The default is that of the paper.",
)
@tokenized_option
@file_option(
    "--output", "File for the picture (.pdf, .svg or .png). Repeat it for further files.", multiple=True
)
def tree(sentence: str, model_path: Path, least: float, tokenized: bool, output: tuple[Path, ...]) -> None:
    """Draw the tree that a grConv makes of SENTENCE, and its ten best translations beside it.

    \b
        nmt tree "Obama is the President of the United States." --model models/grconv-30 --output tree.svg

    The picture is like Figure 6 of Cho et al. (2014b). A node is the sum of its left child, its right child (blue)
    and a new node that merges both (red), each multiplied by its gate. Numbers are negative log-probabilities in
    nats.
    """
    for path in output:
        refuse_other_pictures("--output", path)
    from nmt.api import Model

    model = Model([model_path], ComputeOptions())
    from nmt.decoding.text_translator import text_processors
    from nmt.decoding.trees import tree_of
    from nmt.plots import tree as figures
    from nmt.plots.style import save_as

    words = text_processors(model.text, tokenized)[0].tokens(sentence)
    if not 1 <= len(words) <= MOST_WORDS:
        raise UserError(f"SENTENCE: found {len(words)} words, expected 1 to {MOST_WORDS}")
    found = tree_of(model.models[0], words)
    options = TranslateOptions(tokenized=tokenized)
    (translations,) = model.translator(options, n_best=BEST, attention=False)([sentence])
    best = [(one.text, one.score) for one in translations]
    figure = figures.figure6(found.leaves, found.gates, best, least)
    for path in output:
        save_as(figure, path)
