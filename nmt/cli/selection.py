"""Subcommands that provide KenLM's programs and train language models with them."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, Shards, corpora_option, pattern_option, shard_files

programs_option = click.option(
    "--programs", type=PATH, help="Folder of KenLM's programs [default: those on the PATH]."
)


@click.command()
@click.option(
    "--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Parallel compilations."
)
@click.option("--output", required=True, type=PATH, help="Folder for the programs.")
def kenlm_programs(jobs: int, output: Path) -> None:
    """Provide KenLM's programs lmplz, build_binary and query, which train and query language models.

    The command links to the programs on the PATH. If they are not there, it builds them from the source archive of the
    Python package kenlm, which pip downloads. A build needs cmake, a C++ compiler and Boost.
    """
    from nmt.selection.kenlm_build import provide

    click.echo(f"{output}: lmplz, build_binary and query from {provide(output, jobs)}", err=True)


@click.command(short_help="Train an n-gram language model with KenLM's lmplz.")
@click.option(
    "--order",
    required=True,
    type=click.IntRange(2, 6),
    help="Order of the model: words in the longest n-gram.",
)
@click.option(
    "--discount-fallback", is_flag=True, help="Use fixed discounts if the text is too small to estimate them."
)
@click.option(
    "--memory-mb", default=2000, show_default=True, type=click.IntRange(min=100), help="Memory limit in MB."
)
@programs_option
@corpora_option
@pattern_option("--text", "TEXT", "The token file of each shard of the text.")
@click.option("--also", multiple=True, type=PATH, help="Further token file, read after the text. Repeat it.")
@click.option(
    "--also-words",
    type=click.IntRange(min=1),
    help="Maximum number of words from all files of --also [default: all].",
)
@click.option(
    "--words-of",
    multiple=True,
    type=PATH,
    help="Restrict the vocabulary to the words of this token file. Repeat it [default: all words of the text].",
)
@click.option(
    "--words-least",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Minimum count of a word in the files of --words-of.",
)
@click.option("--output", required=True, type=PATH, help="File for the model in KenLM's binary format.")
def lm_train(
    order: int,
    discount_fallback: bool,
    memory_mb: int,
    programs: Path | None,
    corpora: Shards,
    patterns: str,
    also: tuple[Path, ...],
    also_words: int | None,
    words_of: tuple[Path, ...],
    words_least: int,
    output: Path,
) -> None:
    """Train a language model on token files: modified Kneser-Ney smoothing, no cut-offs.

    Models can be compared if they have the same vocabulary: give them the same --words-of and --words-least. The
    command needs KenLM's programs lmplz and build_binary; see `nmt selection kenlm`.
    """
    from nmt.selection import language_models

    text: dict[str, list[Path]] = {}
    for corpus, files in shard_files(corpora, patterns):
        text.setdefault(corpus, []).extend(files)
    words = language_models.words_of(words_of, words_least) if words_of else None
    more = language_models.Also(also, also_words)
    language_models.train(text, order, output, discount_fallback, memory_mb, programs, words, more)
