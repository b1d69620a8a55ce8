"""Subcommands that prepare text: data tokenize, vocabulary and binarize."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    PATH,
    parse_settings,
    settings_option,
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
@click.option(
    "--subwords", is_flag=True, help="Learn subword units instead (byte pair encoding, SentencePiece)."
)
@click.argument("inputs", metavar="INPUT...", type=PATH, nargs=-1, required=True)
@click.option("--output", required=True, type=PATH, help="TSV file: rank, word or unit, count.")
def vocabulary(words: int, subwords: bool, inputs: tuple[Path, ...], output: Path) -> None:
    """List the most frequent words of the token files INPUT. Equally frequent words come in code point order."""
    from nmt.data.vocabulary import build_vocabulary, count_words

    built = build_vocabulary(
        count_words(inputs), words, specials_included=False, output=output, subwords=subwords
    )
    click.echo(f"{output}: {len(built.counts):,} {'subword units' if subwords else 'words'}", err=True)


@click.command(short_help="Turn token files into a memory-mapped bitext of word ids.")
@click.option("--text", required=True, nargs=2, type=PATH, metavar="SOURCE TARGET", help="Both token files.")
@vocabularies
@click.option(
    "--shuffle-seed", type=click.IntRange(min=0), help="Shuffle the pairs; without it they stay in order."
)
@click.option("--output", required=True, type=PATH, help="Folder for the bitext.")
def binarize(
    text: tuple[Path, Path],
    source_vocabulary: Path,
    target_vocabulary: Path,
    shuffle_seed: int | None,
    output: Path,
) -> None:
    """Turn token files into one memory-mapped bitext of word ids.

    Pairs with an empty side are left out.
    """
    from nmt.data import bitext
    from nmt.data.vocabulary import Vocabulary

    words = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    made = bitext.binarize({"": [text]}, *words, output, shuffle_seed)
    click.echo(f"{output}: {len(made):,} pairs", err=True)
