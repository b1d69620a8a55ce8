"""The subcommands `nmt vectors` and `nmt tree`, which show how an encoder represents sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmt.cli.options import (
    FILE,
    PATH,
    add_settings_options,
    load_models,
    model_option,
    output_option,
    tokenized_option,
)
from nmt.cli.terminal import READ_AHEAD, UnknownWords, exit_quietly_on_signals, warn_of_invalid_utf8
from nmt.errors import UserError
from nmt.settings.decoding import ComputeOptions, TranslateOptions

if TYPE_CHECKING:
    from nmt.data.tokenization import TextCodec
    from nmt.evaluation.principal_components import Projection, Vectors
    from nmt.store.trained_model import TrainedModel


@click.command(
    short_help="Write the vector of each sentence, or its position in the plane of the first two principal components."
)
@model_option
@click.argument("input", type=PATH, default="-", metavar="[FILE]")
@click.option(
    "--output-npy", type=FILE, help="File for the vectors: a NumPy array (float32) with one row per line."
)
@click.option(
    "--output-tsv",
    type=FILE,
    help="File for the position of each sentence in the plane of the first two principal components (PCA) of its panel."
    " An empty line of the text starts a new panel.",
)
@tokenized_option
@add_settings_options(ComputeOptions, "compute", keys=("batch_size", "threads", "device"))
def vectors(
    model_path: Path,
    input: Path,
    output_npy: Path | None,
    output_tsv: Path | None,
    tokenized: bool,
    compute: ComputeOptions,
) -> None:
    """Write one vector per sentence of FILE or standard input: what the encoder makes of it.

    \b
        nmt vectors --model models/rnnencdec-50 --output-tsv plane.tsv text.en

    The model must encode a sentence as a fixed vector (RNNencdec, grConv, or LSTM: h and c of all layers). Models with
    attention cannot be used. The vectors stay in memory until the end, with 4 bytes per number.
    """
    from nmt.evaluation.principal_components import write_projections
    from nmt.io.npy import write_array

    if output_npy is None and output_tsv is None:
        raise UserError("--output-npy, --output-tsv: give one of them or both")
    with exit_quietly_on_signals():
        sentences, sentence_vectors = _encode_lines(model_path, input, tokenized, compute)
        if output_npy is not None:
            write_array(output_npy, "float32", sentence_vectors.shape, [sentence_vectors])
        if output_tsv is not None:
            write_projections(output_tsv, _make_panels(sentences, sentence_vectors))


def _encode_lines(
    model_path: Path, input: Path, tokenized: bool, compute: ComputeOptions
) -> tuple[list[str], Vectors]:
    """Return the tokenized lines of a file, and their sentence vectors, a row for each line."""
    from nmt.data.tokenization import TokenText
    from nmt.decoding.translator import choose_text_codecs
    from nmt.decoding.vectors_and_trees import encode_sentences
    from nmt.io.text_files import open_lines
    from nmt.store.model_folder import TEXT_SETTINGS, read_text_settings

    # 1. take tokenizer, threads and device from text.json. If the lines are tokenized, this file may be missing, since
    # the workflow writes it only after it has called this command.
    codec: TextCodec = TokenText()
    if not tokenized or (model_path / TEXT_SETTINGS).is_file():
        text_settings = read_text_settings(model_path)
        codec, _ = choose_text_codecs(text_settings, tokenized)
        decoding = text_settings.decoding_settings(compute, TranslateOptions())
        compute = ComputeOptions(
            batch_size=decoding.batch_size, threads=decoding.threads, device=decoding.device
        )
    (model,), batch_size = load_models([model_path], compute)

    # 2. read the sentences as tokens
    sentences: list[list[str]] = []
    with open_lines(input) as stream:
        for lines in stream.read_groups(READ_AHEAD):
            sentences += map(codec.tokenize, lines)
        warn_of_invalid_utf8(stream)
    if not any(sentences):
        raise UserError(f"{input}: no sentence in it, so there are no vectors")
    _warn_of_unknown_words(model, sentences)

    # 3. encode them
    return [" ".join(tokens) for tokens in sentences], encode_sentences(model, sentences, batch_size)


def _warn_of_unknown_words(model: TrainedModel, sentences: Sequence[Sequence[str]]) -> None:
    """Warn of words that are not in the source vocabulary."""
    unknown_words = UnknownWords(model.source_vocabulary, "source")
    unknown_words.count(sentences)
    unknown_words.warn()


def _make_panels(sentences: list[str], vectors: Vectors) -> list[Projection]:
    """Return the projection of each panel: a group of lines between empty lines, with their vectors."""
    from nmt.evaluation.principal_components import Projection

    # groups of lines with words alternate with groups of empty lines
    panels = []
    pairs = zip(sentences, vectors, strict=True)
    for has_words, group in groupby(pairs, key=lambda pair: bool(pair[0])):
        if has_words:
            panel_sentences, panel_vectors = zip(*group, strict=True)
            panels.append(Projection.from_vectors(panel_sentences, panel_vectors))
    return panels


TRANSLATIONS_IN_FIGURE = 10
"""Number of translations beside a tree (Cho et al. 2014b, Fig. 6)."""
MAX_WORDS_IN_TREE = 100
"""Maximum number of words of a plotted tree; larger trees are not readable."""


# A sentence may start with a dash, like an option.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("sentence")
@model_option
@tokenized_option
@output_option(multiple=True, help="File for the picture (.pdf, .svg or .png). Repeat it for further files.")
def tree(sentence: str, model_path: Path, tokenized: bool, output: tuple[Path, ...]) -> None:
    """Plot the tree that a grConv makes of SENTENCE, and its ten best translations next to it.

    \b
        nmt tree "The old book is on the table." --model models/grconv-30 \\
            --output tree.svg

    The picture is like Figure 6 of Cho et al. (2014b). A node is the sum of its left child, its right child (both blue)
    and a new node that merges both (orange), each multiplied by its gate. Numbers are negative log-probabilities in
    nats.
    """
    from nmt.api import Model
    from nmt.store.model_folder import read_text_settings

    # The number of threads changes the last digits. With the number in the settings, the picture of an experiment is
    # the same on all machines.
    threads = read_text_settings(model_path).decoding.threads
    model = Model([model_path], ComputeOptions(threads=threads))

    # These modules are slow to import, so errors of the settings come first.
    from nmt.decoding.translator import choose_text_codecs
    from nmt.decoding.vectors_and_trees import compute_tree
    from nmt.plots.style import save_figure
    from nmt.plots.tree import plot_tree

    # 1. tokenize the sentence
    codec, _ = choose_text_codecs(model.text_settings, tokenized)
    tokens = codec.tokenize(sentence)
    if not 1 <= len(tokens) <= MAX_WORDS_IN_TREE:
        raise UserError(f"SENTENCE: found {len(tokens)} words, expected 1 to {MAX_WORDS_IN_TREE}")
    _warn_of_unknown_words(model.trained_models[0], [tokens])

    # 2. compute its tree and its translations
    sentence_tree = compute_tree(model.trained_models[0], tokens)
    translator = model.translator(
        TranslateOptions(tokenized=tokenized), n_best=TRANSLATIONS_IN_FIGURE, keep_attention=False
    )
    (translations,) = translator([sentence])

    # 3. plot both
    scored_texts = [(translation.text, translation.score) for translation in translations]
    figure = plot_tree(sentence_tree.leaves, sentence_tree.gates, scored_texts)
    for path in output:
        save_figure(figure, path)
