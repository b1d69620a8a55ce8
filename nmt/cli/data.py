"""Subcommands that prepare text for the models: data tokenize, vocabulary and binarize."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    PATH,
    Shards,
    corpora_option,
    files_of,
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
@corpora_option
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--output", required=True, type=PATH, help="TSV file: rank, word or unit, count.")
def vocabulary(
    words: int, specials_count: bool, subwords: bool, corpora: Shards, inputs: tuple[str, ...], output: Path
) -> None:
    """List the most frequent words of the token files INPUT. Equally frequent words come in code point order.

    With --corpus, INPUT is a pattern for the files of all shards.
    """
    from nmt.data.vocabulary import build
    from nmt.data.word_counts import count_words

    files = [file for pattern in inputs for file in files_of(corpora, pattern)]
    built = build(count_words(files), words, specials_count, output, subwords)
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

    text: dict[str, list[tuple[str | Path, str | Path]]] = {}
    for corpus, (source, target) in shard_files(corpora, *patterns):
        text.setdefault(corpus, []).append((source, target))
    words = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    made = bitext.binarize(text, *words, output, shuffle_seed)
    click.echo(f"{output}: {len(made):,} pairs", err=True)
