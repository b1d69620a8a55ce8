"""Subcommands that count the text and report on it: count, sum-counts, data-report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmt.cli.options import PATH, figure_outputs, files_of, languages_option, vocabularies
from pipeline.report.statistics import PARTS

if TYPE_CHECKING:
    pass


@click.command(short_help="Count what a shard holds at each stage.")
@click.option(
    "--stage",
    "stages",
    required=True,
    multiple=True,
    type=(str, PATH, PATH),
    metavar="NAME SOURCE TARGET",
    help="A stage's name and token files; repeat, in order.",
)
@vocabularies
@click.option(
    "--types", is_flag=True, help="Also list the distinct words of the last stage: for small texts."
)
@click.option("--output", required=True, type=PATH, help="JSON file for the counts.")
def count(
    stages: tuple[tuple[str, Path, Path], ...],
    source_vocabulary: Path,
    target_vocabulary: Path,
    types: bool,
    output: Path,
) -> None:
    """Count pairs, words and lengths of a shard at each stage of its tokenized text.

    Vocabulary coverage is that of the last stage, which models read: unknown words, and words covered by
    smaller vocabularies.
    """
    from nmt.data.vocabulary import Vocabulary
    from pipeline.report.statistics import Stage, count_shard

    words = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    found = count_shard([Stage(*stage) for stage in stages], words, output, types)
    counts = ", ".join(f"{stage['name']} {stage['pairs']:,}" for stage in found["stages"])
    click.echo(f"{output}: pairs: {counts}", err=True)


@click.command(short_help="Add up the counts of all shards of all corpora.")
@click.option(
    "--corpus",
    "corpora",
    required=True,
    multiple=True,
    type=(click.Choice(PARTS), str, click.IntRange(min=1)),
    metavar="PART NAME SHARDS",
    help="A corpus, what it is for (train, dev, test, in-domain) and its number of shards; repeat. In patterns,"
    " {corpus} stands for NAME, {shard} for NAME/0, NAME/1 and so on.",
)
@click.option("--raw", required=True, metavar="PATTERN", help="Counts of `extract` or `generate`.")
@click.option("--clean", required=True, metavar="PATTERN", help="Counts of `clean`.")
@click.option("--count", "counts", required=True, metavar="PATTERN", help="Counts of `count`.")
@click.option("--overlap", required=True, metavar="PATTERN", help="Counts of `overlap`: of train alone.")
@languages_option(required=True)
@click.option("--output", required=True, type=PATH, help="JSON file for the totals.")
def sum_counts(
    corpora: tuple[tuple[str, str, int], ...],
    raw: str,
    clean: str,
    counts: str,
    overlap: str,
    languages: tuple[str, str],
    output: Path,
) -> None:
    """Add up the counts of all shards per corpus and check that the stages are consistent."""
    from pipeline.report.statistics import CorpusFiles, sum_corpora

    files = []
    for part, name, number in corpora:
        shards = ((name, number),)
        of_corpus = CorpusFiles(name, part, Path(raw.replace("{corpus}", name)))
        of_corpus.clean.extend(files_of(shards, clean))
        of_corpus.stages.extend(files_of(shards, counts))
        of_corpus.overlap.extend(files_of(shards, overlap) if part == "train" else [])
        files.append(of_corpus)
    sum_corpora(files, languages, output)


@click.command(short_help="Write corpus statistics: tables and a figure.")
@click.option("--counts", required=True, type=PATH, help="What `sum-counts` wrote.")
@click.option(
    "--limit",
    "limits",
    multiple=True,
    type=click.IntRange(min=1),
    help="Longest side of the pairs that a model trains on; repeat.",
)
@click.option("--paper", type=PATH, help="The paper's numbers (workflow/papers/PAPER.yaml), for comparison.")
@click.option("--output-csv", required=True, type=PATH, help="Every number, one per row.")
@click.option("--output-lengths", required=True, type=PATH, help="The histograms of lengths as .csv.")
@click.option("--output-md", required=True, type=PATH, help="The page to read.")
@figure_outputs
def data_report(
    counts: Path,
    limits: tuple[int, ...],
    paper: Path | None,
    output_csv: Path,
    output_lengths: Path,
    output_md: Path,
    output_pdf: Path,
    output_png: Path,
) -> None:
    """Write corpus statistics: pairs and words at every stage, what was removed and why, unknown words, lengths."""
    from nmt.plots import style
    from pipeline.report import corpora as reporting
    from pipeline.report import corpora_page
    from pipeline.report.figures.corpora import data_figure
    from pipeline.report.papers import ReportedData, read_paper

    report = reporting.read_report(counts, limits, read_paper(paper).data if paper else ReportedData())
    reporting.write_csv(report, output_csv, output_lengths)
    corpora_page.write_markdown(report, output_md, output_png.name)
    style.save(data_figure(report), output_pdf, output_png)
