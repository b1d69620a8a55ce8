"""Subcommands that prepare text for the models: data clean, tokenize, overlap, vocabulary and binarize."""

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
from nmt.cli.outputs import WRITTEN
from nmt.settings.text import LARGEST_VOCABULARY, Cleaning, Tokenization


@click.command(short_help="Blank out unusable pairs, keeping line numbers.")
@settings_option("The config's `cleaning`")
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--output-source", required=True, type=PATH, help="Cleaned source side.")
@click.option("--output-target", required=True, type=PATH, help="Cleaned target side.")
@click.option(
    "--counts",
    required=True,
    type=WRITTEN,
    help="JSON file for the counts: pairs that were kept, and pairs that were removed by reason.",
)
def clean(
    settings: str, source: Path, target: Path, output_source: Path, output_target: Path, counts: Path
) -> None:
    """Blank out unusable pairs of SOURCE and TARGET: those with an empty side, or too long, or too unequal in length.

    Unusable pairs become empty lines on both sides, so that line numbers do not change. Depending on the settings,
    malformed characters are repaired, kept, or removed with their pair.
    """
    from nmt.data import cleaning

    chosen = parse_settings(Cleaning, settings)
    found = cleaning.clean(source, target, chosen, output_source, output_target, counts)
    click.echo(f"{counts}: kept {found['kept']:,} of {found['pairs']:,} pairs", err=True)


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
    if subwords:
        from nmt.data.subword_learning import build_units as build
    else:
        from nmt.data.vocabulary import build

    files = [file for pattern in inputs for file in files_of(corpora, pattern)]
    built = build(files, words, specials_count, output)
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


@click.command()
@settings_option("The config's `overlap`")
@corpora_option
@pattern_option("--held-out", "SOURCE TARGET", "Token files of each shard of the development and test sets.")
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--counts", required=True, type=WRITTEN, help="JSON file for the counts.")
@click.option("--output-source", type=PATH, help="Source side without the overlapping pairs.")
@click.option("--output-target", type=PATH, help="Target side without the overlapping pairs.")
def overlap(
    settings: str,
    corpora: Shards,
    patterns: tuple[str, str],
    source: Path,
    target: Path,
    counts: Path,
    output_source: Path | None,
    output_target: Path | None,
) -> None:
    """Count the pairs of a training shard that share a sentence with a development or test set, and drop them if asked.

    SOURCE and TARGET are token files. Sentences are compared twice: token by token, and by letters and digits alone.
    """
    from nmt.data.overlap import overlap as find
    from nmt.settings.text import Overlap

    if (output_source is None) != (output_target is None):
        raise click.UsageError("give both --output-source and --output-target, or neither")
    sets: dict[str, list[tuple[Path, Path]]] = {}
    for name, (held_out_source, held_out_target) in shard_files(corpora, *patterns):
        sets.setdefault(name, []).append((held_out_source, held_out_target))
    outputs = (output_source, output_target) if output_source and output_target else None
    find(source, target, sets, parse_settings(Overlap, settings), counts, outputs)
