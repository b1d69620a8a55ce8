"""Subcommands that show what encoders make of sentences: vectors and tree."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmt.cli.options import (
    FILE,
    PATH,
    file_option,
    load_models,
    model_option,
    options_of,
    tokenized_option,
)
from nmt.cli.terminal import READ_AHEAD, UnknownWords, like_unix_tools, warn_of_replaced
from nmt.errors import UserError
from nmt.settings.decoding import ComputeOptions, TranslateOptions

if TYPE_CHECKING:
    from nmt.data.tokenization import TextCodec
    from nmt.evaluation.principal_components import Projection, Vectors


@click.command(
    short_help="Write the vector of each sentence, and sentences in the plane in which they differ most."
)
@model_option
@click.argument("input", type=PATH, default="-", metavar="[FILE]")
@click.option(
    "--output-npy", type=FILE, help="File for the vectors: a NumPy array (float32) with one row per line."
)
@click.option(
    "--output-tsv",
    type=FILE,
    help="File for the place of each sentence in the plane of the first two principal components (PCA) of its panel."
    " An empty line of the text begins a new panel.",
)
@tokenized_option
@options_of(ComputeOptions, "compute", "batch_size", "threads", "device")
def vectors(
    model_path: Path,
    input: Path,
    output_npy: Path | None,
    output_tsv: Path | None,
    tokenized: bool,
    compute: ComputeOptions,
) -> None:
    """Write the vector of each sentence of FILE or standard input: what a model's encoder hands to its decoder.

    \b
        printf '%s\\n' 'John admires Mary' 'Mary admires John' 'John respects Mary' |
            nmt vectors --model models/rnnencdec-50 --output-npy vectors.npy --output-tsv plane.tsv

    The model must encode a sentence as a fixed vector (RNNencdec, grConv, or LSTM: h and c of all layers). Models with
    attention are refused. The vectors are held in memory until the end, 4 bytes a number.
    """
    from nmt.evaluation.principal_components import write_projections
    from nmt.io.npy import write_array

    if output_npy is None and output_tsv is None:
        raise UserError("--output-npy, --output-tsv: give one of them or both")
    with like_unix_tools():
        sentences, encoded = _encoded(model_path, input, tokenized, compute)
        if output_npy is not None:
            write_array(output_npy, "float32", encoded.shape, [encoded])
        if output_tsv is not None:
            write_projections(output_tsv, _panels(sentences, encoded))


def _encoded(
    model_path: Path, input: Path, tokenized: bool, compute: ComputeOptions
) -> tuple[list[str], Vectors]:
    """Return the tokenized lines and their vectors."""
    from nmt.api import common_text_settings
    from nmt.data.tokenization import TokenText
    from nmt.decoding.encoders import encode_sentences
    from nmt.decoding.translator import choose_text_processors
    from nmt.io.text_files import open_lines
    from nmt.store.model_folder import TEXT_SETTINGS

    source: TextCodec = TokenText()
    if (
        not tokenized or (model_path / TEXT_SETTINGS).is_file()
    ):  # the workflow encodes before it writes that file
        text = common_text_settings([model_path])
        source, _ = choose_text_processors(text, tokenized)
        search = text.decoding_settings(compute, TranslateOptions())
        compute = ComputeOptions(batch_size=search.batch_size, threads=search.threads, device=search.device)

    (model,), batch_size = load_models([model_path], compute)
    with open_lines(input) as lines:
        sentences = [source.tokenize(line) for group in lines.read_groups(READ_AHEAD) for line in group]
        warn_of_replaced(lines)
    if not any(sentences):
        raise UserError(f"{input}: no sentence in it, so there are no vectors")
    unknown_words = UnknownWords(model.source, "source")
    for words in sentences:
        unknown_words.add(words)
    unknown_words.warn()
    return [" ".join(words) for words in sentences], encode_sentences(model, sentences, batch_size)


def _panels(sentences: list[str], vectors: Vectors) -> list[Projection]:
    """Return the panels, which are separated by empty lines."""
    from nmt.evaluation.principal_components import Projection

    groups = groupby(zip(sentences, vectors, strict=True), key=lambda pair: bool(pair[0]))
    panels = [[*group] for has_words, group in groups if has_words]
    return [Projection.from_vectors(*zip(*panel, strict=True)) for panel in panels]


BEST = 10
"""Number of translations beside a tree (Cho et al. 2014b, Fig. 6)."""
MOST_WORDS = 100
"""Maximum number of words in a drawn tree; larger trees are not readable."""


# a sentence may begin with a dash
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("sentence")
@model_option
@tokenized_option
@file_option(
    "--output", "File for the picture (.pdf, .svg or .png). Repeat it for further files.", multiple=True
)
def tree(sentence: str, model_path: Path, tokenized: bool, output: tuple[Path, ...]) -> None:
    """Draw the tree that a grConv makes of SENTENCE, and its ten best translations beside it.

    \b
        nmt tree "Obama is the President of the United States." --model models/grconv-30 --output tree.svg

    The picture is like Figure 6 of Cho et al. (2014b). A node is the sum of its left child, its right child (blue)
    and a new node that merges both (red), each multiplied by its gate. Numbers are negative log-probabilities in
    nats.
    """
    from nmt.api import Model, common_text_settings

    # a picture of an experiment depends on its settings, and not on the cores of the machine
    model = Model([model_path], ComputeOptions(threads=common_text_settings([model_path]).decoding.threads))
    from nmt.decoding.encoders import compute_tree
    from nmt.decoding.translator import choose_text_processors
    from nmt.plots.style import save_figure
    from nmt.plots.tree import plot_tree

    words = choose_text_processors(model.text, tokenized)[0].tokenize(sentence)
    if not 1 <= len(words) <= MOST_WORDS:
        raise UserError(f"SENTENCE: found {len(words)} words, expected 1 to {MOST_WORDS}")
    unknown_words = UnknownWords(model.models[0].source, "source")
    unknown_words.add(words)
    unknown_words.warn()
    drawn = compute_tree(model.models[0], words)
    options = TranslateOptions(tokenized=tokenized)
    (translations,) = model.translator(options, n_best=BEST, attention=False)([sentence])
    best = [(one.text, one.score) for one in translations]
    figure = plot_tree(drawn.leaves, drawn.gates, best)
    for path in output:
        save_figure(figure, path)
