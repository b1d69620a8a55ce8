"""Subcommands that bring text to the models: download, extract, clean, tokenize, vocabulary, binarize."""

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
from nmt.config.catalogue import Source
from nmt.config.text import Cleaning, Tokenization


@click.command(short_help="Download one file from mirrors or its official address.")
@click.option("--url", required=True, help="Official address: http, https or file.")
@click.option(
    "--mirror", "mirrors", multiple=True, help="Folder or URL prefix tried before the address; repeat."
)
@click.option("--path", help="Where the file lies under a mirror, for example wmt14/dev.tgz.")
@click.option("--bytes", "size", type=int, help="Size that the file must have.")
@click.option("--md5", help="MD5 checksum that the file must have.")
@click.option("--sha256", help="SHA-256 checksum that the file must have.")
@click.option(
    "--alternative",
    "alternatives",
    multiple=True,
    help="Another archive with the same members, tried when no source has the file itself: url, path and what is"
    " known of bytes, md5 and sha256, as JSON or the path of a JSON file; repeat.",
)
@click.option("--output", required=True, type=PATH, help="Where the file goes.")
def download(
    url: str,
    mirrors: tuple[str, ...],
    path: str | None,
    size: int | None,
    md5: str | None,
    sha256: str | None,
    alternatives: tuple[str, ...],
    output: Path,
) -> None:
    """Download one file from the first mirror that has it, or from its official address.

    Size and checksums are verified. An interrupted download lies in OUTPUT.part; the next call resumes it.
    OUTPUT.json records the source, size and checksums.
    """
    from nmt.data.download import File
    from nmt.data.download import download as bring
    from nmt.data.transfer import Expected

    others = [parse_settings(Source, alternative) for alternative in alternatives]
    source = bring(
        File(url, Expected(size, md5, sha256), path),
        output,
        mirrors,
        [File(other.url, Expected(other.bytes, other.md5, other.sha256), other.path) for other in others],
    )
    click.echo(f"{output}: from {source}", err=True)


@click.command(short_help="Extract both sides of a corpus from their archives, split into shards.")
@click.option("--archive-source", required=True, type=PATH, help="Archive (or text) with the source side.")
@click.option("--member-source", help="Its member; without it the file itself is the text.")
@click.option("--archive-target", required=True, type=PATH, help="Archive (or text) with the target side.")
@click.option("--member-target", help="Its member; without it the file itself is the text.")
@click.option("--output-source", required=True, multiple=True, type=PATH, help="A shard; repeat, in order.")
@click.option("--output-target", required=True, multiple=True, type=PATH, help="A shard; repeat, in order.")
@click.option("--md5-source", help="MD5 checksum that the source member must have.")
@click.option("--md5-target", help="MD5 checksum that the target member must have.")
@click.option("--pairs", type=click.IntRange(min=1), help="Expected number of pairs.")
@click.option("--counts", required=True, type=PATH, help="JSON file for the counts of lines and words.")
def extract(
    archive_source: Path,
    member_source: str | None,
    archive_target: Path,
    member_target: str | None,
    output_source: tuple[Path, ...],
    output_target: tuple[Path, ...],
    md5_source: str | None,
    md5_target: str | None,
    pairs: int | None,
    counts: Path,
) -> None:
    """Extract both sides of a corpus from their archives, split into shards.

    Archives are tar (maybe compressed) or zip, whatever they are called; what they hold is text, or SGML if its name
    ends in .sgm, maybe compressed. Blocks of 10,000 lines go to the shards in turn. Both sides must have equally many
    lines. A member that is not there is looked for in the archive's other folders.
    """
    from nmt.data import extraction

    source = extraction.Side(archive_source, member_source, output_source, md5_source)
    target = extraction.Side(archive_target, member_target, output_target, md5_target)
    found = extraction.extract(source, target, counts, pairs)
    click.echo(f"{counts}: {found['pairs']:,} pairs", err=True)


@click.command(short_help="Blank out unusable pairs, keeping line numbers.")
@settings_option("The config's `cleaning`")
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--output-source", required=True, type=PATH, help="Cleaned source side.")
@click.option("--output-target", required=True, type=PATH, help="Cleaned target side.")
@click.option(
    "--counts",
    required=True,
    type=PATH,
    help="JSON file: how many pairs were kept, and why others were removed.",
)
def clean(
    settings: str, source: Path, target: Path, output_source: Path, output_target: Path, counts: Path
) -> None:
    """Blank out unusable pairs of SOURCE and TARGET: an empty side, too long, or lengths too unequal.

    They become empty lines on both sides, so that line numbers stay as they are. Malformed characters
    are repaired, kept or dropped with their pair, as the settings say.
    """
    from nmt.data import cleaning

    chosen = parse_settings(Cleaning, settings)
    found = cleaning.clean(source, target, chosen, output_source, output_target, counts)
    click.echo(f"{counts}: kept {found['kept']:,} of {found['pairs']:,} pairs", err=True)


@click.command(short_help="Tokenize lines as Moses does.")
@click.option("--language", required=True, help="Code of the language, for example en.")
@settings_option("The config's `tokenization`")
@click.argument("input", type=PATH)
@click.argument("output", type=PATH)
def tokenize(language: str, settings: str, input: Path, output: Path) -> None:
    """Tokenize INPUT by the rules of Moses' tokenizer; OUTPUT has equally many lines."""
    from nmt.data import tokenization

    tokenization.tokenize_file(input, output, language, parse_settings(Tokenization, settings))


@click.command(short_help="List the most frequent words of token files.")
@click.option("--words", required=True, type=click.IntRange(min=1), help="Size of the vocabulary.")
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
    """List the most frequent words of the token files INPUT; equally frequent ones in code point order.

    With --corpus, INPUT is a pattern of the files of all shards.
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
@click.option("--counts", required=True, type=PATH, help="JSON file for the counts.")
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
    """Count the pairs of a training shard that share a sentence with a development or test set; drop them if asked.

    The token files SOURCE and TARGET are compared token by token and by letters and digits alone.
    """
    from nmt.config.text import Overlap
    from nmt.data.overlap import overlap as find

    if (output_source is None) != (output_target is None):
        raise click.UsageError("give both --output-source and --output-target, or neither")
    sets: dict[str, list[tuple[Path, Path]]] = {}
    for name, (held_out_source, held_out_target) in shard_files(corpora, *patterns):
        sets.setdefault(name, []).append((held_out_source, held_out_target))
    outputs = (output_source, output_target) if output_source and output_target else None
    find(source, target, sets, parse_settings(Overlap, settings), counts, outputs)
