"""The subcommands for people with a trained model and text of their own: package, translate, score."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from nmt.api import best_of, decoding_with, load_models, sides, text_settings_of, unknown_words
from nmt.cli.options import (
    PATH,
    Command,
    model_option,
    models_option,
    parse_settings,
    refuse_other_pictures,
    setting_option,
    settings_option,
    tokenized_option,
)
from nmt.cli.outputs import WRITTEN
from nmt.cli.terminal import (
    like_unix_tools,
    progress_over,
    refuse_impossible,
    warn_of_pieces,
    warn_of_replaced,
    writer,
)
from nmt.errors import UserError
from nmt.settings.base import MOST_SENTENCES
from nmt.settings.decoding import Asked, Computing, Device, SearchPrecision, TextSettings, UnknownWords
from nmt.settings.families import ALIGNING

if TYPE_CHECKING:
    from nmt.decoding.forced_decoding import ForcedScores
    from nmt.decoding.output_formats import AlignmentForm
    from nmt.decoding.text_translator import Translation
    from nmt.io.streams import LineStream

MAX_SCORED = 20_000
"""Maximum number of tokens in a line to score. It takes 2 GB at the paper's sizes; memory grows with the number."""

_output = click.option(
    "--output", type=PATH, metavar="FILE", help="File to write instead of standard output."
)
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object per line, with all details.")


def _running(command: Command) -> Command:
    """Add the options of the computation: batch size, device and threads."""
    for option in reversed(
        [
            setting_option(Computing, "batch_size", "Sentences per batch [default: the model's]."),
            click.option(
                "--buffer-lines",
                type=click.IntRange(1, MOST_SENTENCES),
                default=500,
                show_default=True,
                help="Lines to read ahead. Lines of similar length are put into one batch.",
            ),
            setting_option(Computing, "device", "auto takes the GPU if there is one."),
            setting_option(
                Computing,
                "threads",
                "CPU threads [default: the model's, but not more than there are cores].",
            ),
        ]
    ):
        command = option(command)
    return command


@click.command(short_help="Write text.json into a model's folder, so that it can translate raw text.")
@model_option
@settings_option("The config's `languages`, `tokenization` and `decoding`")
def package(model_path: Path, settings: str) -> None:
    """Write text.json into a model's folder, so that it can translate raw text.

    The file records both languages, the tokenization and the default settings of decoding. No other file of the folder
    changes. The folder may then be moved anywhere.
    """
    text = parse_settings(TextSettings, settings)
    from nmt.model import model_folder

    model_folder.package(model_path, text)


@click.command(short_help="Translate text with a trained model: raw text in, raw text out.")
@models_option
@click.argument("input", type=PATH, default="-", metavar="[FILE]")
@_output
@setting_option(
    Asked,
    "beam_size",
    "Beam size: hypotheses kept at each step. 1 is greedy search, the fastest [default: the model's].",
)
@setting_option(
    Asked,
    "n_best",
    "Write the N best translations in Moses' format, one per line: NUMBER ||| TEXT ||| NMT0= LOG-PROBABILITY ||| "
    "LOG-PROBABILITY. NUMBER is the number of the input line, from 0. A smaller beam size is raised to N.",
    metavar="N",
    default=None,
)
@click.option(
    "--alignment",
    type=click.Choice(["pharaoh", "weights"]),
    help="Append ||| and an alignment. pharaoh: links i-j from 0; source token i has most attention for target token j."
    " weights: for each target token the attention to each source token, such as 0.9,0.1 0.2,0.8. --tokenized and "
    "--json show the tokens.",
)
@setting_option(
    Asked,
    "unknown",
    "Words that are not in the vocabulary. keep: the translation may contain [UNK]. forbid: the model must write other "
    "words. copy: the source word with most attention replaces [UNK] [default: the model's, keep or forbid].",
)
@click.option(
    "--plot",
    type=WRITTEN,
    metavar="FILE",
    help="Draw the attention of the first line as in Figure 3 (.png, .pdf or .svg). The pictures of further lines have "
    "-2, -3 and so on before the extension of FILE.",
)
@_json
@tokenized_option
@setting_option(
    Asked,
    "max_words",
    "Translate longer lines in pieces of at most this many tokens. If possible, a piece ends with a full stop or "
    "comma.",
)
@_running
@setting_option(
    Computing,
    "precision",
    "Precision of the matrix products. bf16 and int8 are faster on processors that have instructions for them. int8 "
    "needs VNNI.",
)
@click.option(
    "--shortlist",
    type=PATH,
    metavar="FILE",
    help="Restrict translations to frequent words and likely translations of the source words, which is faster with a "
    "large vocabulary. `nmt shortlist` writes FILE.",
)
def translate(
    model_paths: tuple[Path, ...],
    input: Path,
    output: Path | None,
    beam_size: int | None,
    n_best: int | None,
    alignment: Literal["pharaoh", "weights"] | None,
    unknown: UnknownWords | None,
    plot: Path | None,
    as_json: bool,
    tokenized: bool,
    max_words: int,
    batch_size: int | None,
    buffer_lines: int,
    device: Device,
    threads: int | None,
    precision: SearchPrecision,
    shortlist: Path | None,
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
        refuse_impossible([input], output)
        if as_json and alignment:
            raise UserError("--alignment: --json has the weights already; leave one of the two out")
        if plot:
            refuse_other_pictures("--plot", plot)
        text = text_settings_of(model_paths)
        # torch takes seconds to import: what can be said without it was said by now
        from nmt.decoding import shortlist as shortlists
        from nmt.decoding.text_translator import Options, TextTranslator
        from nmt.io.streams import open_lines

        asked = Asked(
            beam_size=beam_size, n_best=n_best or 1, unknown=unknown, tokenized=tokenized, max_words=max_words
        )
        computing = Computing(device=device, threads=threads, precision=precision, batch_size=batch_size)
        decoding = decoding_with(text.decoding, computing, asked)
        details = as_json or alignment is not None or plot is not None
        models = load_models(model_paths, decoding)
        words = shortlists.load(shortlist, models) if shortlist else None
        options = Options(decoding, unknown or unknown_words(decoding), details, max_words, precision, words)
        translator = TextTranslator(models, *sides(text, tokenized), options)
        if (alignment or plot) and not translator.aligns:
            label, option = translator.models[0].run.label, "--alignment" if alignment else "--plot"
            family = " or ".join(ALIGNING)
            raise UserError(f"{option}: {label} has no attention; use a model of the family {family}")
        written = form_of(n_best is not None, alignment, as_json)
        number = 0
        with (
            open_lines(input) as lines,
            writer(output) as write,
            progress_over("translate", lines, input, output) as progress,
        ):
            for group in lines.groups(buffer_lines):
                found = translator(group)
                if plot:
                    draw(found, plot, number)
                write(written(line, entry) for line, entry in enumerate(found, start=number))
                warn_of_pieces(number, [len(entry.pieces) for entry in found], max_words)
                number += len(group)
                progress(len(group))
            warn_of_replaced(lines)


@click.command(short_help="Score given translations with a trained model: their log-probabilities.")
@models_option
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@_output
@_json
@tokenized_option
@_running
def score(
    model_paths: tuple[Path, ...],
    source: Path,
    target: Path,
    output: Path | None,
    as_json: bool,
    tokenized: bool,
    batch_size: int | None,
    buffer_lines: int,
    device: Device,
    threads: int | None,
) -> None:
    """Write the log-probability of each line of TARGET as the translation of the same line of SOURCE.

    It is the natural logarithm, with the end symbol. Words that are not in the vocabulary count as [UNK]. --json adds
    the log-probability of every word. SOURCE or TARGET can be -, which is standard input. Both must have the same
    number of lines. Several models form an ensemble, which averages their probabilities word by word.
    """
    with like_unix_tools():
        from nmt.io.streams import STANDARD, open_lines, paired_groups

        if source == target == STANDARD:
            raise UserError("SOURCE and TARGET: both are standard input; name a file for one of them")
        refuse_impossible([source, target], output)
        text = text_settings_of(model_paths)
        from nmt.decoding.forced_decoding import score as score_pairs

        computing = Computing(device=device, threads=threads, batch_size=batch_size)
        decoding = decoding_with(text.decoding, computing)
        models = load_models(model_paths, decoding)
        cut = [side.tokens for side in sides(text, tokenized)]
        number = 0
        with (
            open_lines(source) as sources,
            open_lines(target) as targets,
            writer(output) as write,
            progress_over("score", sources, source, output) as progress,
        ):
            for group in paired_groups(sources, targets, buffer_lines):
                pairs = [(cut[0](one), cut[1](other)) for one, other in group]
                refuse_endless([sources, targets], number, pairs)
                scored = score_pairs(models, pairs, decoding.batch_size, attention=False)
                rows = zip(range(number, number + len(pairs)), pairs, scored, strict=True)
                write(score_row(*row, as_json) for row in rows)
                number += len(group)
                progress(len(group))
            warn_of_replaced(sources)
            warn_of_replaced(targets)


def refuse_endless(
    streams: Sequence[LineStream], first: int, pairs: Sequence[tuple[list[str], list[str]]]
) -> None:
    """Raise a UserError for lines that are too long to be scored in bounded memory."""
    for lines in streams:
        if lines.cut:
            raise UserError(
                f"{lines.name}, line {lines.first_cut}: longer than {lines.max_bytes:,} bytes, which is too long to be "
                f"scored; split it"
            )
    for number, pair in enumerate(pairs, start=first + 1):
        for lines, words in zip(streams, pair, strict=True):
            if len(words) > MAX_SCORED:
                raise UserError(
                    f"{lines.name}, line {number}: {len(words):,} tokens, expected at most {MAX_SCORED:,} to score; "
                    f"split it"
                )


def score_row(number: int, pair: tuple[list[str], list[str]], forced: ForcedScores, as_json: bool) -> str:
    """Return one output line of `nmt score`."""
    if not as_json:
        return f"{forced.log_probability:.4f}"
    values = forced.word_log_probabilities
    record = {
        "line": number,
        "source_tokens": pair[0],
        "target_tokens": pair[1],
        "log_probability": forced.log_probability,
        "per_word": forced.log_probability / len(values),
        "word_log_probabilities": [round(float(value), 5) for value in values],
    }
    return json.dumps(record, ensure_ascii=False)


def form_of(
    n_best: bool, alignment: AlignmentForm | None, as_json: bool
) -> Callable[[int, Translation], str]:
    """Return the function that formats a translation, given the number of its line."""
    from nmt.decoding import output_formats

    if as_json:
        return output_formats.as_json
    if n_best:
        return lambda number, found: output_formats.as_n_best(number, found, alignment)
    return lambda number, found: output_formats.as_text(found, alignment)


def draw(found: Sequence[Translation], path: Path, first: int) -> None:
    """Draw the attention of the best translation of each line that has words; the first line has number `first`."""
    for number, best in enumerate(map(best_of, found), start=first + 1):
        if best.attention is not None and best.attention.size:
            best.plot(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
