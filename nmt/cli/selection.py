"""Subcommands that select training text, and that train the language models for the selection."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmt.cli.options import PATH, Shards, corpora_option, pattern_option, shard_files
from nmt.cli.outputs import WRITTEN

if TYPE_CHECKING:
    from nmt.selection.language_models import TokenShard


programs_option = click.option(
    "--programs", type=PATH, help="Folder of KenLM's programs [default: those on the PATH]."
)


@click.command(short_help="Draw the out-of-domain sample for the language models.")
@click.option("--pairs", type=click.IntRange(min=1), help="Size of the sample.")
@click.option(
    "--as-many-as",
    multiple=True,
    type=PATH,
    help="Instead of --pairs: take as many pairs as this file has lines with words. Repeat it to add up files.",
)
@click.option("--seed", required=True, type=int, help="Seed of the sample.")
@corpora_option
@pattern_option("--text", "SOURCE TARGET", "Both token files of each shard.")
@click.option("--output-source", required=True, type=PATH, help="Source side of the sample.")
@click.option("--output-target", required=True, type=PATH, help="Target side of the sample.")
def lm_sample(
    pairs: int | None,
    as_many_as: tuple[Path, ...],
    seed: int,
    corpora: Shards,
    patterns: tuple[str, str],
    output_source: Path,
    output_target: Path,
) -> None:
    """Draw a random sample of pairs that does not depend on the number of shards.

    The size is --pairs, or the size of the in-domain files of --as-many-as.
    """
    from nmt.selection import language_models

    if (pairs is None) == (not as_many_as):
        raise click.UsageError("give either --pairs or --as-many-as")
    size = pairs or language_models.count_nonempty(as_many_as)
    drawn = language_models.sample(_token_shards(corpora, patterns), size, seed, output_source, output_target)
    click.echo(f"{output_source}: {drawn:,} of {size:,} requested pairs", err=True)


def _token_shards(corpora: Shards, patterns: tuple[str, str]) -> list[TokenShard]:
    from nmt.selection.language_models import TokenShard

    totals = dict(corpora)
    seen: Counter[str] = Counter()
    numbered = []
    for corpus, (source, target) in shard_files(corpora, *patterns):
        numbered.append(TokenShard(corpus, seen[corpus], totals.get(corpus, 1), source, target))
        seen[corpus] += 1
    return numbered


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


@click.command(short_help="Score the pairs of a shard by cross-entropy difference.")
@click.option("--in-source", required=True, type=PATH, help="In-domain model, source language.")
@click.option("--out-source", required=True, type=PATH, help="Out-of-domain model, source language.")
@click.option("--in-target", required=True, type=PATH, help="In-domain model, target language.")
@click.option("--out-target", required=True, type=PATH, help="Out-of-domain model, target language.")
@programs_option
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--output", required=True, type=PATH, help="Scores and numbers of target words (.npy).")
@click.option(
    "--histogram", required=True, type=WRITTEN, help="JSON file for the pairs and words of each score."
)
def select_score(
    in_source: Path,
    out_source: Path,
    in_target: Path,
    out_target: Path,
    programs: Path | None,
    source: Path,
    target: Path,
    output: Path,
    histogram: Path,
) -> None:
    """Score the pairs of the token files SOURCE and TARGET. A smaller score is closer to the in-domain text.

    The command needs KenLM's program query; see `nmt selection kenlm`.
    """
    from nmt.selection import cross_entropy
    from nmt.selection.language_models import asking

    with ExitStack() as stack:
        source_models, target_models = (
            cross_entropy.Models(*(stack.enter_context(asking(path, programs)) for path in paths))
            for paths in ((in_source, out_source), (in_target, out_target))
        )
        cross_entropy.score(source, target, source_models, target_models, output, histogram)


@click.command(short_help="Choose the one threshold for all shards.")
@click.option("--target-words", required=True, type=click.IntRange(min=1), help="Budget in target words.")
@corpora_option
@pattern_option("--scores", "SCORES HISTOGRAM", "Scores and histogram of each shard.")
@click.option("--output", required=True, type=PATH, help="JSON file for the threshold.")
def select_threshold(target_words: int, corpora: Shards, patterns: tuple[str, str], output: Path) -> None:
    """Choose the threshold that takes pairs up to a budget of target words.

    Pairs are taken in the order of score, corpus and line number, until the next pair would exceed the budget.
    """
    from nmt.selection import cross_entropy

    shards = shard_files(corpora, *patterns)
    scored = [cross_entropy.ScoredShard(corpus, *files) for corpus, files in shards]
    threshold = cross_entropy.choose_threshold(scored, target_words, output)
    click.echo(f"{output}: {threshold.pairs:,} pairs, {threshold.target_words:,} target words", err=True)


@click.command(short_help="Write the pairs of a shard that pass the threshold.")
@click.option("--threshold", required=True, type=PATH, help="JSON file written by `nmt selection threshold`.")
@click.option("--corpus", required=True, help="Corpus of the shard, as given to `nmt selection threshold`.")
@click.option("--shard", required=True, type=click.IntRange(min=0), help="The shard's number, from 0.")
@click.option("--scores", required=True, type=PATH, help="The shard's scores.")
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--output-source", required=True, type=PATH, help="Source side of the selected pairs.")
@click.option("--output-target", required=True, type=PATH, help="Target side of the selected pairs.")
def select_apply(
    threshold: Path,
    corpus: str,
    shard: int,
    scores: Path,
    source: Path,
    target: Path,
    output_source: Path,
    output_target: Path,
) -> None:
    """Write the pairs of the token files SOURCE and TARGET that pass the threshold, in order."""
    from nmt.selection import cross_entropy

    chosen = cross_entropy.read_threshold(threshold)
    cross_entropy.apply(chosen, corpus, shard, scores, (source, target), (output_source, output_target))
