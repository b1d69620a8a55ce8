"""Subcommands of the phrase-based system: Moses' programs, word alignment, phrases, tuning, decoding."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from nmt.cli.options import (
    PATH,
    Command,
    Shards,
    compute_options,
    corpora_option,
    file_option,
    load_models,
    pattern_option,
    shard_files,
)
from nmt.cli.outputs import WRITTEN
from nmt.errors import UserError
from nmt.settings.decoding import ComputeOptions

if TYPE_CHECKING:
    from pipeline.phrase_based.configuration import System

_programs = click.option(
    "--programs", required=True, type=PATH, metavar="FOLDER", help="Folder written by `nmt moses programs`."
)
_threads = click.option(
    "--threads", default=1, show_default=True, type=click.IntRange(1, 1024), help="Threads."
)


def _text(command: Command) -> Command:
    """Add the options that name both sides of a text as plain tokens."""
    for side in ("target", "source"):
        text = f"Plain tokens of the {side} side, written by `nmt moses text`."
        command = file_option(f"--{side}", text)(command)
    return command


def _system(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a phrase-based system and its search to a command that takes `system` and `search`."""

    @wraps(command)
    def with_system(
        phrase_table: Path,
        reordering_table: Path,
        reordering: str,
        language_model: Path,
        order: int,
        distortion_limit: int,
        cube_pruning: int | None,
        **options: Any,
    ) -> None:
        from pipeline.phrase_based.configuration import System
        from pipeline.phrase_based.phrases import number_of_scores

        scores = number_of_scores(phrase_table)
        system = System(
            phrase_table, reordering_table, reordering, language_model, order, distortion_limit, scores
        )
        pops = str(cube_pruning)
        cubes = ["-search-algorithm", "1", "-cube-pruning-pop-limit", pops, "-s", pops]
        command(system=system, search=cubes if cube_pruning else [], **options)

    for option in (
        click.option(
            "--cube-pruning",
            type=click.IntRange(1, 1_000_000),
            help="Pop limit of cube pruning. Without this option, Moses uses stack decoding.",
        ),
        click.option(
            "--distortion-limit",
            default=6,
            show_default=True,
            type=click.IntRange(-1, 1000),
            help="Distortion limit in words.",
        ),
        click.option(
            "--order", required=True, type=click.IntRange(2, 6), help="Order of the language model."
        ),
        file_option(
            "--language-model", "Language model (KenLM's binary format) written by `nmt selection train-lm`."
        ),
        click.option(
            "--reordering",
            default="msd-bidirectional-fe",
            show_default=True,
            help="Type of the reordering table.",
        ),
        file_option("--reordering-table", "Reordering table written by `nmt moses phrases`."),
        file_option("--phrase-table", "Phrase table written by `nmt moses phrases`."),
        _programs,
    ):
        with_system = option(with_system)
    return with_system


def _work(output: Path) -> Path:
    """Return the folder that holds unfinished work until the output is written."""
    if not output.name:
        raise UserError(f"{output}: expected a file to write, found a folder")
    return output.with_name(f".{output.name}.work")


@click.command(short_help="Provide Moses' programs and scripts.")
@click.option("--source", type=PATH, help="Source archive of mosesdecoder, for a build.")
@click.option(
    "--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Parallel compilations."
)
@click.option("--output", required=True, type=PATH, help="Folder for Moses' bin and scripts.")
def moses_programs(source: Path | None, jobs: int, output: Path) -> None:
    """Provide Moses: link to an installation on the PATH, or build --source with a C++ compiler and Boost.

    A build takes about ten minutes on two cores. It needs 200 MB of disk space, of which 50 MB stay in use.
    """
    from pipeline.phrase_based.programs import provide

    click.echo(f"{output}: Moses from {provide(output, source, jobs)}", err=True)


@click.command(short_help="Write plain text for Moses.")
@corpora_option
@pattern_option("--text", "SOURCE TARGET", "Both token files of each shard.")
@click.option(
    "--max-words", type=click.IntRange(min=1), help="Longest sentence in words [default: no limit]."
)
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    help="Maximum number of pairs, spread over the text [default: all].",
)
@click.option("--output-source", required=True, type=PATH, help="Plain tokens of the source side.")
@click.option("--output-target", required=True, type=PATH, help="Plain tokens of the target side.")
def moses_text(
    corpora: Shards,
    patterns: tuple[str, str],
    max_words: int | None,
    sentences: int | None,
    output_source: Path,
    output_target: Path,
) -> None:
    """Write the pairs with words on both sides as two plain files for Moses' programs."""
    from pipeline.phrase_based.text import write_text

    shards = [(files[0], files[1]) for _, files in shard_files(corpora, *patterns)]
    written, long = write_text(shards, max_words, output_source, output_target, sentences)
    click.echo(f"{output_source}: {written:,} pairs; {long:,} left out for their length", err=True)


@click.command(short_help="Align words with eflomal, both directions symmetrised.")
@_programs
@_text
@click.option(
    "--heuristic",
    default="grow-diag-final-and",
    show_default=True,
    help="Heuristic that symmetrises the alignments of both directions.",
)
@click.option(
    "--block-pairs",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Pairs that are aligned together. Memory grows with their number.",
)
@click.option(
    "--output",
    required=True,
    type=PATH,
    help="File for the links: one line per pair, such as 0-0 1-2, source word first.",
)
def moses_align(
    programs: Path, source: Path, target: Path, heuristic: str, block_pairs: int, output: Path
) -> None:
    """Align words with the Python package eflomal. If the job was stopped, it resumes after the last finished block."""
    from pipeline.phrase_based.alignment import align
    from pipeline.phrase_based.programs import Moses

    pairs = align(Moses(programs), source, target, output, _work(output), block_pairs, heuristic)
    click.echo(f"{output}: {pairs:,} pairs", err=True)


@click.command(short_help="Extract and score phrases and their reordering.")
@_programs
@_text
@file_option("--aligned", "Word alignment of both sides, written by `nmt moses align`.")
@click.option(
    "--max-phrase-words",
    default=7,
    show_default=True,
    type=click.IntRange(1, 20),
    help="Longest phrase in words.",
)
@click.option(
    "--reordering", default="msd-bidirectional-fe", show_default=True, help="Type of reordering model."
)
@_threads
@click.option(
    "--memory-mb",
    default=2000,
    show_default=True,
    type=click.IntRange(min=100),
    help="Memory for sorting, in MB.",
)
@click.option("--phrase-table", required=True, type=WRITTEN, help="Phrase table to write (.gz).")
@click.option("--reordering-table", required=True, type=WRITTEN, help="Reordering table to write (.gz).")
def moses_phrases(
    programs: Path,
    source: Path,
    target: Path,
    aligned: Path,
    max_phrase_words: int,
    reordering: str,
    threads: int,
    memory_mb: int,
    phrase_table: Path,
    reordering_table: Path,
) -> None:
    """Extract and score phrases with Moses' training script. If the job was stopped, it resumes after the last step."""
    from pipeline.phrase_based.phrases import extract
    from pipeline.phrase_based.programs import Moses

    tables = (phrase_table, reordering_table)
    work = _work(phrase_table)
    extract(
        Moses(programs),
        (source, target),
        aligned,
        tables,
        work,
        max_phrase_words,
        reordering,
        threads,
        memory_mb,
    )


@click.command(short_help="Write the pairs of a phrase table as training text.")
@file_option("--phrase-table", "Phrase table written by `nmt moses phrases`.")
@click.option(
    "--held-out",
    default=1000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of held-out pairs.",
)
@click.option(
    "--output",
    required=True,
    type=(PATH, PATH),
    metavar="SOURCE TARGET",
    help="Files for both sides of the training pairs.",
)
@click.option(
    "--output-held-out",
    required=True,
    type=(PATH, PATH),
    metavar="SOURCE TARGET",
    help="Files for both sides of the held-out pairs, which are spread over the table.",
)
def moses_phrase_pairs(
    phrase_table: Path, held_out: int, output: tuple[Path, Path], output_held_out: tuple[Path, Path]
) -> None:
    """Write each pair of a phrase table once, as training text for a model (Cho et al., 2014a)."""
    from pipeline.phrase_based.phrase_pairs import write_pairs

    train, dev = write_pairs(phrase_table, held_out, output, output_held_out)
    click.echo(f"{output[0]}: {train:,} pairs; {dev:,} held out", err=True)


@click.command(short_help="Add a model's probability to a phrase table as one more score.")
@file_option("--phrase-table", "Phrase table written by `nmt moses phrases`.")
@click.option(
    "--model",
    required=True,
    type=PATH,
    metavar="FOLDER",
    help="Folder of a model trained on the table's pairs.",
)
@file_option("--text", "Token file of sentences to be translated. Repeat it.", multiple=True)
@compute_options
@click.option("--output", required=True, type=WRITTEN, help="Phrase table to write (.gz).")
def moses_phrase_scores(
    phrase_table: Path, model: Path, text: tuple[Path, ...], compute: ComputeOptions, output: Path
) -> None:
    """Score a phrase table's pairs by p(target phrase given source phrase) (Cho et al., 2014a).

    The new table leaves out the pairs whose source phrase occurs in none of the texts.
    """
    from pipeline.phrase_based.phrase_scores import add_scores

    (loaded,) = load_models([model], compute)
    written, total = add_scores(loaded, phrase_table, text, output)
    click.echo(f"{output}: {written:,} of {total:,} pairs", err=True)


@click.command(short_help="Tune the weights on the development text.")
@_system
@_text
@click.option(
    "--tuner", type=click.Choice(["mert", "mira"]), default="mert", show_default=True, help="Optimizer."
)
@click.option(
    "--rounds", default=25, show_default=True, type=click.IntRange(1, 1000), help="Maximum number of rounds."
)
@click.option(
    "--n-best",
    default=100,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="Size of the n-best lists.",
)
@_threads
@click.option("--output", required=True, type=PATH, help="File for the weights, one feature per line.")
def moses_tune(
    programs: Path,
    system: System,
    search: list[str],
    source: Path,
    target: Path,
    tuner: Literal["mert", "mira"],
    rounds: int,
    n_best: int,
    threads: int,
    output: Path,
) -> None:
    """Tune with Moses' own script. If the job was stopped, it resumes after the last finished round."""
    from pipeline.phrase_based.programs import Moses
    from pipeline.phrase_based.tuning import Tuning, tune

    tuning = Tuning(tuner, rounds, n_best)
    tune(Moses(programs), system, source, target, output, _work(output), tuning, search, threads)


@click.command(short_help="Translate tokens with Moses.")
@_system
@file_option("--weights", "Weights written by `nmt moses tune`.")
@file_option("--source", "Token file to translate.")
@_threads
@click.option("--n-best", type=click.IntRange(1, 100_000), help="Size of the n-best lists.")
@click.option(
    "--n-best-factor",
    default=20,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Hypotheses to consider for each entry of a list. A larger number gives more distinct ones.",
)
@click.option(
    "--output-n-best", type=PATH, help="File for lists of distinct translations in Moses' format (.gz)."
)
@click.option("--output", required=True, type=PATH, help="File for the translations, one per line.")
def moses_decode(
    programs: Path,
    system: System,
    search: list[str],
    weights: Path,
    source: Path,
    threads: int,
    n_best: int | None,
    n_best_factor: int,
    output_n_best: Path | None,
    output: Path,
) -> None:
    """Translate with Moses' decoder. If the job was stopped, it resumes after the last finished block of sentences."""
    from pipeline.phrase_based.decoding import NBest, decode
    from pipeline.phrase_based.programs import Moses

    if (n_best is None) != (output_n_best is None):
        raise click.UsageError("give --n-best and --output-n-best together")
    lists = NBest(n_best, n_best_factor, output_n_best) if n_best and output_n_best else None
    sentences = decode(
        Moses(programs), system, weights, source, output, _work(output), search, threads, lists
    )
    click.echo(f"{output}: {sentences:,} sentences", err=True)
