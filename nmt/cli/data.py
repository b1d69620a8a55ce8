"""The subcommands that prepare text: data tokenize, data vocabulary and data binarize."""

from __future__ import annotations

import re
from pathlib import Path

import click

from nmt.cli.options import PATH, add_vocabulary_options, parse_settings, settings_option
from nmt.errors import UserError
from nmt.io.messages import print_warning
from nmt.settings.text import (
    LANGUAGES,
    MAX_VOCABULARY_SIZE,
    Tokenization,
    describe_unknown_language,
)


@click.command(short_help="Tokenize lines as Moses does.")
@click.option("--language", required=True, help="Code of the language, for example en.")
@settings_option("The key `tokenization` of config.yaml [default: as Moses does]", default="{}")
@click.argument("input", type=PATH)
@click.argument("output", type=PATH)
def tokenize(language: str, settings: str, input: Path, output: Path) -> None:
    """Tokenize the text file INPUT by the rules of Moses' tokenizer. OUTPUT has the same number of lines."""
    from nmt.data import tokenization

    if not re.fullmatch("[a-z]{2,3}", language):
        raise UserError(
            f"--language: found {language!r}, expected a code of two or three letters, such as en"
        )
    if language not in LANGUAGES:
        print_warning(describe_unknown_language(language))
    tokenization.tokenize_file(input, output, language, parse_settings(Tokenization, settings))


@click.command(short_help="List the most frequent words of token files.")
@click.option(
    "--words",
    "vocabulary_size",
    required=True,
    type=click.IntRange(1, MAX_VOCABULARY_SIZE),
    help="Size of the vocabulary.",
)
@click.option(
    "--subwords",
    is_flag=True,
    help="Learn subword units instead of words (byte pair encoding by SentencePiece).",
)
@click.argument("inputs", metavar="INPUT...", type=PATH, nargs=-1, required=True)
@click.option("--output", required=True, type=PATH, help="TSV file: rank, word or unit, count.")
def vocabulary(vocabulary_size: int, subwords: bool, inputs: tuple[Path, ...], output: Path) -> None:
    """List the most frequent words of the token files INPUT. Equally frequent words come in code point order."""
    from nmt.data.vocabulary import build_vocabulary, count_words

    new_vocabulary = build_vocabulary(
        count_words(inputs), vocabulary_size, specials_included=False, output=output, subwords=subwords
    )
    unit = "subword units" if subwords else "words"
    click.echo(f"{output}: {len(new_vocabulary.counts):,} {unit}", err=True)


@click.command(short_help="Turn token files into a memory-mapped bitext of word ids.")
@click.option("--text", required=True, nargs=2, type=PATH, metavar="SOURCE TARGET", help="Both token files.")
@add_vocabulary_options
@click.option(
    "--shuffle-seed",
    type=click.IntRange(min=0),
    help="Shuffle the pairs with this seed; without it they stay in order.",
)
@click.option("--output", required=True, type=PATH, help="Folder for the bitext.")
def binarize(
    text: tuple[Path, Path],
    source_vocabulary: Path,
    target_vocabulary: Path,
    shuffle_seed: int | None,
    output: Path,
) -> None:
    """Turn token files into one memory-mapped bitext of word ids. Pairs with an empty side are left out."""
    from nmt.data import bitext
    from nmt.data.vocabulary import Vocabulary

    pairs = bitext.binarize(
        corpora={"": [text]},  # one shard of a corpus without a name
        source_vocabulary=Vocabulary.read(source_vocabulary),
        target_vocabulary=Vocabulary.read(target_vocabulary),
        folder=output,
        shuffle_seed=shuffle_seed,
    )
    click.echo(f"{output}: {len(pairs):,} pairs", err=True)
