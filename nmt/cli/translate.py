"""The subcommands `nmt translate` and `nmt score`, which apply a trained model to text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from nmt.api import Model
from nmt.cli.options import (
    FILE,
    PATH,
    SectionedCommand,
    add_settings_options,
    models_option,
    tokenized_option,
)
from nmt.cli.terminal import (
    READ_AHEAD,
    UnknownWords,
    exit_quietly_on_signals,
    is_typed,
    open_output,
    show_progress,
    warn_of_invalid_utf8,
    warn_of_split_lines,
)
from nmt.errors import UserError
from nmt.settings.base import MAX_BEAM_SIZE
from nmt.settings.decoding import ComputeOptions, TranslateOptions
from nmt.settings.model_types import MODEL_TYPES_WITH_ATTENTION

if TYPE_CHECKING:
    from nmt.decoding.translation import Translation

_output_option = click.option(
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write instead of standard output, compressed if it is named .gz, .bz2, .xz or .zst.",
)
_json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object per line, with all details."
)


@click.command(
    cls=SectionedCommand,
    sections={
        "Model": ["model_paths"],
        "Search": [*TranslateOptions.model_fields],
        "Output": ["output", "n_best", "alignment", "as_json", "plot"],
        "Speed": [*ComputeOptions.model_fields],
    },
    short_help="Translate text with a trained model: raw text in, raw text out.",
)
@models_option
@click.argument("input", type=PATH, default="-", metavar="[FILE]")
@_output_option
@add_settings_options(TranslateOptions, "options")
@click.option(
    "--n-best",
    type=click.IntRange(1, MAX_BEAM_SIZE),
    metavar="N",
    help="Write the N best translations of each line in Moses' format, one per line: NUMBER ||| TEXT ||| "
    "NMT0= LOG-PROBABILITY ||| LOG-PROBABILITY. NUMBER counts the input lines, from 0. The best translation comes "
    "first; with `normalize_by_length`, it may have a lower log-probability. A smaller beam size is raised to N.",
)
@click.option(
    "--alignment",
    type=click.Choice(["pharaoh", "none"]),
    help="Append ||| and the alignment to each translation. pharaoh: links i-j, from 0, where target token j attends "
    "most to source token i. none: leave the attention out of --json, too. The tokens are shown by --tokenized and "
    "--json.",
)
@_json_option
@click.option(
    "--plot",
    type=PATH,
    metavar="FILE",
    help="Plot the attention of the first line as in Figure 3 (.png, .pdf or .svg). The files of further lines have "
    "-2, -3 and so on before the extension of FILE.",
)
@add_settings_options(ComputeOptions, "compute")
def translate(
    model_paths: tuple[Path, ...],
    input: Path,
    output: Path | None,
    options: TranslateOptions,
    n_best: int | None,
    alignment: Literal["pharaoh", "none"] | None,
    as_json: bool,
    plot: Path | None,
    compute: ComputeOptions,
) -> None:
    """Translate FILE, or standard input, line by line: raw text in, raw text out.

    \b
        nmt translate --model experiments/demo/models/rnnsearch-50
        nmt translate --model models/rnnsearch-50 book.en --output book.fr

    Each line of input, even an empty one, gives exactly one line of output, in the same order. (With --n-best it gives
    at least one.) FILE may be compressed (gzip, bzip2, xz, zstd) or SGML of WMT, whatever its name. Memory does not
    grow with the input. You can also type sentences: when the input pauses, the lines read so far are translated. Bytes
    that are not UTF-8 become U+FFFD.
    """
    with exit_quietly_on_signals():
        model = Model(model_paths, compute)
        from nmt.decoding import formats

        # 1. check the options, and make the translator and the function that formats its translations
        with_alignment = alignment == "pharaoh"
        if (with_alignment or plot) and not model.has_attention:
            option = "--alignment" if with_alignment else "--plot"
            model_types = " or ".join(MODEL_TYPES_WITH_ATTENTION)
            raise UserError(
                f"{option}: {model.labels[0]} has no attention; use a model of type {model_types}"
            )
        warn_if_model_expects_tokens(model, options.tokenized)
        # JSON has the attention unless `--alignment none` leaves it out
        keep_attention = bool(with_alignment or plot or (as_json and alignment is None))
        translator = model.translator(options, n_best or 1, keep_attention)
        format_line = formats.format_text if n_best is None else formats.format_n_best
        if as_json:
            format_line = formats.format_json_line
        unknown_words = UnknownWords(model.trained_models[0].source_vocabulary, "source")

        # 2. translate the input in groups of lines, as they arrive
        from nmt.io.text_files import open_lines

        if is_typed(input):
            click.echo("Type a sentence and press Enter. Ctrl-D ends.", err=True)
        line_number = 0
        with (
            open_output(output) as write,  # before the input, whose opening waits for its first bytes
            open_lines(input) as stream,
            show_progress("translate", stream, input, output) as add_progress,
        ):
            for lines in stream.read_groups(READ_AHEAD):
                n_best_lists = translator(lines)  # for each line its best translations, best first
                if plot:
                    plot_attention(n_best_lists, plot, line_number)
                write(
                    format_line(number, n_best_list, with_alignment)
                    for number, n_best_list in enumerate(n_best_lists, line_number)
                )

                # warn of split lines and unknown words, and show the progress
                best_translations = [n_best_list[0] for n_best_list in n_best_lists]
                piece_counts = [len(translation.piece_lengths) for translation in best_translations]
                warn_of_split_lines(line_number, piece_counts, options.max_words)
                unknown_words.count(translation.source_tokens for translation in best_translations)
                if is_typed(input):
                    unknown_words.warn()
                line_number += len(lines)
                add_progress(len(lines))

            # 3. warn of unknown words and invalid bytes of the whole input
            unknown_words.warn()
            warn_of_invalid_utf8(stream)


@click.command(short_help="Score given translations with a trained model: their log-probabilities.")
@models_option
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@_output_option
@_json_option
@tokenized_option
@add_settings_options(ComputeOptions, "compute", keys=("batch_size", "device", "threads"))
def score(
    model_paths: tuple[Path, ...],
    source: Path,
    target: Path,
    output: Path | None,
    as_json: bool,
    tokenized: bool,
    compute: ComputeOptions,
) -> None:
    """Write the log-probability of each line of TARGET as the translation of the same line of SOURCE.

    \b
        nmt score --model models/rnnsearch-50 book.en book.fr

    It is the natural logarithm, and includes the end-of-sentence symbol. Words that are not in the vocabulary count as
    [UNK]. --json adds the log-probability of each word. SOURCE or TARGET can be -, which is standard input. Both must
    have the same number of lines. Several models form an ensemble, which averages their probabilities word by word.
    """
    with exit_quietly_on_signals():
        model = Model(model_paths, compute)
        from nmt.io.text_files import open_lines, read_pair_groups

        warn_if_model_expects_tokens(model, tokenized)
        unknown_source_words = UnknownWords(model.trained_models[0].source_vocabulary, "source")
        unknown_target_words = UnknownWords(model.trained_models[0].target_vocabulary, "target")
        line_number = 0
        with (
            open_lines(source) as source_stream,
            open_lines(target) as target_stream,
            open_output(output) as write,
            show_progress("score", source_stream, source, output) as add_progress,
        ):
            # 1. score groups of pairs of lines
            for source_lines, target_lines in read_pair_groups(source_stream, target_stream, READ_AHEAD):
                translations = model.score(source_lines, target_lines, tokenized=tokenized, attention=False)
                write(
                    format_score(number, translation, as_json)
                    for number, translation in enumerate(translations, line_number)
                )
                unknown_source_words.count(translation.source_tokens for translation in translations)
                unknown_target_words.count(translation.tokens for translation in translations)
                line_number += len(translations)
                add_progress(len(translations))

            # 2. warn of unknown words and invalid bytes of the whole input
            unknown_source_words.warn()
            unknown_target_words.warn()
            warn_of_invalid_utf8(source_stream)
            warn_of_invalid_utf8(target_stream)


def warn_if_model_expects_tokens(model: Model, tokenized: bool) -> None:
    """Print that a model reads and writes tokens, unless the user has said so with --tokenized."""
    if model.text_settings.tokenized and not tokenized:
        message = "nmt: the model was trained on text that came tokenized: it reads and writes tokens"
        click.echo(message, err=True)


def format_score(line_number: int, translation: Translation, as_json: bool) -> str:
    """Return the line that `nmt score` writes for a translation: its log-probability, or all details as JSON."""
    if not as_json:
        return f"{translation.score:.4f}"
    details = {
        "line": line_number,
        "source_tokens": translation.source_tokens,
        "target_tokens": translation.tokens,
        "log_probability": translation.score,
        "per_word": translation.score / len(translation.token_scores),
        "word_log_probabilities": [round(value, 5) for value in translation.token_scores],
    }
    return json.dumps(details, ensure_ascii=False)


def plot_attention(n_best_lists: Sequence[Sequence[Translation]], path: Path, first_line: int) -> None:
    """Plot the attention of the best translation of each line, except where a side has no words.

    Args:
        n_best_lists: the translations of each line, best first.
        path: the file for the first line of the text. Those of the second and third line have -2 and -3 before the
            extension, and so on.
        first_line: number of the first line of these lists; the text begins with line 0.
    """
    for line_number, n_best_list in enumerate(n_best_lists, first_line):
        translation = n_best_list[0]
        if translation.tokens and translation.source_tokens:
            file = path
            if line_number > 0:
                file = path.with_stem(f"{path.stem}-{line_number + 1}")
            translation.plot(file)
