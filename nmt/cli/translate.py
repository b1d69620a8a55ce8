"""The subcommands for people with a trained model and text of their own: translate and score."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from nmt.api import Model
from nmt.cli.options import (
    FILE,
    PATH,
    models_option,
    options_of,
    tokenized_option,
)
from nmt.cli.terminal import (
    READ_AHEAD,
    UnknownWords,
    is_typed,
    like_unix_tools,
    progress_over,
    warn_of_pieces,
    warn_of_replaced,
    writer,
)
from nmt.errors import UserError
from nmt.settings.base import MAX_BEAM_SIZE
from nmt.settings.decoding import ComputeOptions, TranslateOptions
from nmt.settings.model_types import ALIGNING

if TYPE_CHECKING:
    from nmt.decoding.formats import AlignmentForm
    from nmt.decoding.translation import Translation

_output = click.option(
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write instead of standard output, compressed if it is named .gz, .bz2, .xz or .zst.",
)
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object per line, with all details.")


@click.command(short_help="Translate text with a trained model: raw text in, raw text out.")
@models_option
@click.argument("input", type=PATH, default="-", metavar="[FILE]")
@_output
@options_of(TranslateOptions, "options")
@click.option(
    "--n-best",
    type=click.IntRange(1, MAX_BEAM_SIZE),
    metavar="N",
    help="Write the N best translations in Moses' format, one per line: NUMBER ||| TEXT ||| NMT0= LOG-PROBABILITY ||| "
    "LOG-PROBABILITY, with the number of the input line from 0. A smaller beam size is raised to N.",
)
@click.option(
    "--alignment",
    type=click.Choice(["pharaoh", "weights", "none"]),
    help="Append ||| and an alignment. pharaoh: links i-j from 0; source token i has most attention for target token j."
    " weights: for each target token the attention to each source token, such as 0.9,0.1 0.2,0.8. --tokenized and "
    "--json show the tokens. none: --json, too, is without attention.",
)
@_json
@click.option(
    "--plot",
    type=PATH,
    metavar="FILE",
    help="Draw the attention of the first line as in Figure 3 (.png, .pdf or .svg). The pictures of further lines have "
    "-2, -3 and so on before the extension of FILE.",
)
@click.option(
    "--shortlist",
    type=PATH,
    metavar="FILE",
    help="Restrict translations to frequent words and likely translations of the source words, which is faster with a "
    "large vocabulary. `nmt shortlist` writes FILE.",
)
@options_of(ComputeOptions, "compute")
def translate(
    model_paths: tuple[Path, ...],
    input: Path,
    output: Path | None,
    options: TranslateOptions,
    n_best: int | None,
    alignment: Literal["pharaoh", "weights", "none"] | None,
    as_json: bool,
    plot: Path | None,
    shortlist: Path | None,
    compute: ComputeOptions,
) -> None:
    """Translate FILE, or standard input, line by line: raw text in, raw text out.

    \b
        echo "The old book is on the table." | nmt translate --model models/rnnsearch-50
        nmt translate --model models/rnnsearch-50 book.en --output book.fr

    Each line of input, even an empty one, gives exactly one line of output, in the same order. (With --n-best it gives
    at least one.) FILE may be compressed (gzip, bzip2, xz, zstd) or SGML of WMT, under any name. Memory does not grow
    with the input. If the input pauses, the lines that have been read are translated, so you can also type sentences by
    hand. Bytes that are not UTF-8 become U+FFFD.
    """
    with like_unix_tools():
        model = Model(model_paths, compute, shortlist)
        form = None if alignment == "none" else alignment
        if (form or plot) and not model.aligns:
            option, model_type = "--alignment" if form else "--plot", " or ".join(ALIGNING)
            raise UserError(f"{option}: {model.labels[0]} has no attention; use a model of type {model_type}")
        announce_tokens(model, options.tokenized)
        attention = bool(form or plot or (as_json and alignment is None))
        translator = model.translator(options, n_best or 1, attention)
        from nmt.io.text_files import open_lines

        written = form_of(n_best is not None, form, as_json)
        unknown_words = UnknownWords(model.models[0].source, "source")
        number = 0
        with (
            writer(output) as write,  # first, since opening the input waits for its first bytes
            open_lines(input) as lines,
            progress_over("translate", lines, input, output) as progress,
        ):
            for group in lines.read_groups(READ_AHEAD):
                translations = translator(group)
                if plot:
                    draw(translations, plot, number)
                write(written(line, entry) for line, entry in enumerate(translations, start=number))
                cuts = [len(best.pieces) for best, *_ in translations]
                warn_of_pieces(number, cuts, options.max_words)
                for best, *_ in translations:
                    unknown_words.add(best.source_tokens)
                if is_typed(input):
                    unknown_words.warn()
                number += len(group)
                progress(len(group))
            unknown_words.warn()
            warn_of_replaced(lines)


@click.command(short_help="Score given translations with a trained model: their log-probabilities.")
@models_option
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@_output
@_json
@tokenized_option
@options_of(ComputeOptions, "compute", "batch_size", "device", "threads")
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

    It is the natural logarithm, with the end symbol. Words that are not in the vocabulary count as [UNK]. --json adds
    the log-probability of every word. SOURCE or TARGET can be -, which is standard input. Both must have the same
    number of lines. Several models form an ensemble, which averages their probabilities word by word.
    """
    with like_unix_tools():
        model = Model(model_paths, compute)
        from nmt.io.text_files import open_lines, read_pair_groups

        announce_tokens(model, tokenized)
        first = model.models[0]
        unknown_words = UnknownWords(first.source, "source"), UnknownWords(first.target, "target")
        number = 0
        with (
            open_lines(source) as sources,
            open_lines(target) as targets,
            writer(output) as write,
            progress_over("score", sources, source, output) as progress,
        ):
            for group in read_pair_groups(sources, targets, READ_AHEAD):
                lines = [list(side) for side in zip(*group, strict=True)]
                scored = model.score(*lines, tokenized=tokenized, attention=False)
                write(score_row(line, found, as_json) for line, found in enumerate(scored, start=number))
                for found in scored:
                    unknown_words[0].add(found.source_tokens)
                    unknown_words[1].add(found.tokens)
                number += len(group)
                progress(len(group))
            for unknown in unknown_words:
                unknown.warn()
            warn_of_replaced(sources)
            warn_of_replaced(targets)


def announce_tokens(model: Model, tokenized: bool) -> None:
    """Say that a model reads tokens where nobody asked for it."""
    if model.text.tokenized and not tokenized:
        click.echo(
            "nmt: the model was trained on text that came tokenized: it reads and writes tokens", err=True
        )


def score_row(number: int, scored: Translation, as_json: bool) -> str:
    """Return one output line of `nmt score`."""
    if not as_json:
        return f"{scored.score:.4f}"
    record = {
        "line": number,
        "source_tokens": scored.source_tokens,
        "target_tokens": scored.tokens,
        "log_probability": scored.score,
        "per_word": scored.score / len(scored.token_scores),
        "word_log_probabilities": [round(value, 5) for value in scored.token_scores],
    }
    return json.dumps(record, ensure_ascii=False)


def form_of(
    as_list: bool, alignment: AlignmentForm | None, as_json: bool
) -> Callable[[int, Sequence[Translation]], str]:
    """Return the function that formats the translations of a line, given its number."""
    from nmt.decoding import formats

    if as_json:
        return formats.format_json_line
    if as_list:
        return lambda number, n_best: formats.format_n_best(number, n_best, alignment)
    return lambda number, n_best: formats.format_text(n_best[0], alignment)


def draw(translations: Sequence[Sequence[Translation]], path: Path, first: int) -> None:
    """Draw the attention of the best translation of each line that has words; the first line has number `first`."""
    for number, (best, *_) in enumerate(translations, start=first + 1):
        if best.tokens and best.source_tokens:
            best.plot(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
