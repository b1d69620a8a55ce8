"""Subcommands that count the text and report on it: data count, data sum-counts, data report."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, figure_outputs, files_of, languages_option, vocabularies
from pipeline.results.statistics import PARTS


@click.command(short_help="Count pairs, words and lengths of a shard at each stage.")
@click.option(
    "--stage",
    "stages",
    required=True,
    multiple=True,
    type=(str, PATH, PATH),
    metavar="NAME SOURCE TARGET",
    help="A stage's name and token files. Repeat it, in the order of the stages.",
)
@vocabularies
@click.option(
    "--types", is_flag=True, help="Also list the distinct words of the last stage (for small texts)."
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

    The coverage is that of the last stage, which is the text of the models: unknown words, and words that smaller
    vocabularies cover.
    """
    from nmt.data.vocabulary import Vocabulary
    from pipeline.results.statistics import Stage, count_shard

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
    help="A corpus: its part (train, dev, test or in-domain), its name and its number of shards. Repeat it. In"
    " patterns, {corpus} stands for NAME, {shard} for NAME/0, NAME/1 and so on.",
)
@click.option(
    "--raw",
    required=True,
    metavar="PATTERN",
    help="Counts written by `nmt data extract` or `nmt data generate`.",
)
@click.option("--clean", required=True, metavar="PATTERN", help="Counts written by `nmt data clean`.")
@click.option(
    "--count", "counts", required=True, metavar="PATTERN", help="Counts written by `nmt data count`."
)
@click.option(
    "--overlap",
    required=True,
    metavar="PATTERN",
    help="Counts written by `nmt data overlap`, of the training corpora only.",
)
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
    from pipeline.results.statistics import CorpusFiles, sum_corpora

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
@click.option("--counts", required=True, type=PATH, help="JSON file written by `nmt data sum-counts`.")
@click.option(
    "--limit",
    "limits",
    multiple=True,
    type=click.IntRange(min=1),
    help="Length limit of a model's training pairs, in words. Repeat it.",
)
@click.option(
    "--paper", type=PATH, help="File with the paper's numbers for comparison (workflow/papers/PAPER.yaml)."
)
@click.option("--output-csv", required=True, type=PATH, help="CSV file for all numbers, one per row.")
@click.option("--output-lengths", required=True, type=PATH, help="CSV file for the histograms of lengths.")
@click.option("--output-md", required=True, type=PATH, help="Markdown page with the statistics.")
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
    from pipeline.results import corpora as reporting
    from pipeline.results import corpora_page
    from pipeline.results.figures.corpora import data_figure
    from pipeline.results.papers import ReportedData, read_paper

    report = reporting.read_report(counts, limits, read_paper(paper).data if paper else ReportedData())
    reporting.write_csv(report, output_csv, output_lengths)
    corpora_page.write_markdown(report, output_md, output_png.name)
    style.save(data_figure(report), output_pdf, output_png)
