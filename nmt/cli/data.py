"""Subcommands that prepare text: data tokenize, vocabulary and binarize, selection kenlm and train-lm."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    PATH,
    Shards,
    corpora_option,
    parse_settings,
    pattern_option,
    settings_option,
    shard_files,
    vocabularies,
)
from nmt.settings.text import LARGEST_VOCABULARY, Tokenization


@click.command(short_help="Tokenize lines as Moses does.")
@click.option("--language", required=True, help="Code of the language, for example en.")
@settings_option("The config's `tokenization` [default: as in Moses]", default="{}")
@click.argument("input", type=PATH)
@click.argument("output", type=PATH)
def tokenize(language: str, settings: str, input: Path, output: Path) -> None:
    """Tokenize INPUT by the rules of Moses' tokenizer. OUTPUT has the same number of lines."""
    from nmt.data import tokenization

    tokenization.tokenize_file(input, output, language, parse_settings(Tokenization, settings))


@click.command(short_help="List the most frequent words of token files.")
@click.option(
    "--words", required=True, type=click.IntRange(1, LARGEST_VOCABULARY), help="Size of the vocabulary."
)
@click.option("--specials-count", is_flag=True, help="UNK and the end symbol are two of these words.")
@click.option(
    "--subwords", is_flag=True, help="Learn subword units instead (byte pair encoding, SentencePiece)."
)
@click.argument("inputs", metavar="INPUT...", type=PATH, nargs=-1, required=True)
@click.option("--output", required=True, type=PATH, help="TSV file: rank, word or unit, count.")
def vocabulary(
    words: int, specials_count: bool, subwords: bool, inputs: tuple[Path, ...], output: Path
) -> None:
    """List the most frequent words of the token files INPUT. Equally frequent words come in code point order."""
    from nmt.data.vocabulary import build, count_words

    built = build(count_words(inputs), words, specials_count, output, subwords)
    click.echo(f"{output}: {len(built.counts):,} {'subword units' if subwords else 'words'}", err=True)


@click.command(short_help="Turn token files into a memory-mapped bitext of word ids.")
@corpora_option
@pattern_option("--text", "SOURCE TARGET", "Both token files of each shard.")
@vocabularies
@click.option(
    "--shuffle-seed", type=click.IntRange(min=0), help="Shuffle the pairs; without it they stay in order."
)
@click.option("--output", required=True, type=PATH, help="Folder for the bitext.")
def binarize(
    corpora: Shards,
    patterns: tuple[str, str],
    source_vocabulary: Path,
    target_vocabulary: Path,
    shuffle_seed: int | None,
    output: Path,
) -> None:
    """Turn token files into one memory-mapped bitext of word ids.

    Pairs with an empty side are left out. The number of shards does not change the bitext.
    """
    from nmt.data import bitext
    from nmt.data.vocabulary import Vocabulary

    files = shard_files(corpora, *patterns)
    text = {corpus: [(source, target) for source, target in shards] for corpus, shards in files.items()}
    words = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    made = bitext.binarize(text, *words, output, shuffle_seed)
    click.echo(f"{output}: {len(made):,} pairs", err=True)


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
    from nmt.selection.language_models import provide

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

    text = {corpus: [file for (file,) in shards] for corpus, shards in shard_files(corpora, patterns).items()}
    words = language_models.words_of(words_of, words_least) if words_of else None
    language_models.train(
        text, order, output, discount_fallback, memory_mb, programs, words, also, also_words
    )
