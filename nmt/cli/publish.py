"""Subcommands that publish: parts kept beside the results, their record, its verification, model cards, releases."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER, given_translations, languages_option, parse_settings
from nmt.errors import printable
from nmt.io.files import read_json, write_json

_RESULTS = click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
_RUN = (str, FILE, FILE, FILE, FILE, FILE)
_model_folder = click.option(
    "--model",
    "folder",
    type=FOLDER,
    required=True,
    metavar="FOLDER",
    help="The model's folder, from `train`.",
)


@click.command()
@click.option(
    "--run",
    "runs",
    type=_RUN,
    multiple=True,
    required=True,
    metavar="NAME ALL NO_UNK SUMMARY SETTINGS HISTORY",
    help="A run's name, its translations from `decode` (two modes), and three files of its folder. Repeat it.",
)
@click.option(
    "--system",
    "systems",
    type=(str, FILE, FILE),
    multiple=True,
    metavar="NAME ALL NO_UNK",
    help="Another system's name and its translations, such as an ensemble's. Repeat it.",
)
@click.option(
    "--test",
    type=(FILE, FILE),
    required=True,
    metavar="SOURCE REFERENCE",
    help="Both sides of the tokenized test text.",
)
@click.option("--raw-reference", type=FILE, metavar="FILE", help="The raw reference.")
@given_translations
@click.option(
    "--dev",
    type=(FILE, FILE),
    metavar="SOURCE REFERENCE",
    help="Both sides of the tokenized development text, if it is translated.",
)
@click.option(
    "--dev-system",
    "dev_systems",
    type=(str, FILE, FILE),
    multiple=True,
    metavar="NAME ALL NO_UNK",
    help="A run's or system's name and its translations of the development text. Repeat it.",
)
@click.option(
    "--dev-given",
    type=(str, FILE),
    multiple=True,
    metavar="SYSTEM FILE",
    help="As --given, of the development text.",
)
@click.option(
    "--vocabulary",
    type=(str, FILE),
    metavar="LANGUAGE FILE",
    help="A language's words by rank, if a figure sorts sentences by them.",
)
@click.option(
    "--perplexity",
    "perplexities",
    type=(str, FILE),
    multiple=True,
    metavar="NAME FILE",
    help="A run's or system's name and its perplexity, from `perplexity`. Repeat it.",
)
@click.option("--gold", type=FILE, metavar="FILE", help="Known word alignments of the test text.")
@click.option(
    "--alignments",
    type=(str, FILE),
    multiple=True,
    metavar="NAME FILE",
    help="A run's name and its attention on source and reference, from `align`. Repeat it.",
)
@click.option(
    "--configuration",
    required=True,
    metavar="JSON|FILE",
    help="The run's merged settings, as JSON or the path of a JSON file.",
)
@click.option(
    "--paper",
    "papers",
    type=FILE,
    required=True,
    multiple=True,
    metavar="FILE",
    help="A paper's tables and what it reports. Repeat it.",
)
@click.option("--attention", metavar="NAME", help="The run whose attention is kept too: that of Figure 3.")
@click.option("--output", type=FOLDER, required=True, metavar="RESULTS", help="The results folder.")
def package_results(
    runs: Sequence[tuple[str, Path, Path, Path, Path, Path]],
    systems: Sequence[tuple[str, Path, Path]],
    test: tuple[Path, Path],
    raw_reference: Path | None,
    given: Sequence[tuple[str, Path]],
    dev: tuple[Path, Path] | None,
    dev_systems: Sequence[tuple[str, Path, Path]],
    dev_given: Sequence[tuple[str, Path]],
    vocabulary: tuple[str, Path] | None,
    perplexities: Sequence[tuple[str, Path]],
    gold: Path | None,
    alignments: Sequence[tuple[str, Path]],
    configuration: str,
    papers: Sequence[Path],
    attention: str | None,
    output: Path,
) -> None:
    """Write the replication package: the inputs of tables and figures.

    Translations, test text, known alignments, summaries and settings.

    With these alone (`released.results` in a config.yaml) the workflow makes tables and figures again, and
    `nmt verify` checks them.
    """
    from nmt.config.snapshot import Published, published
    from nmt.publish import replication_package

    config = parse_settings(Published, configuration, "--configuration")
    package = replication_package.ReplicationPackage(output)
    for name, all_, no_unk, *files in runs:
        for mode, source in zip(replication_package.MODES, (all_, no_unk), strict=True):
            replication_package.keep_translations(source, package.translations(name, mode), name == attention)
        for file, source in zip(replication_package.RUN_FILES, files, strict=True):
            replication_package.keep_file(source, package.of_run(name, file))
    for name, *paths in systems:
        for mode, source in zip(replication_package.MODES, paths, strict=True):
            replication_package.keep_translations(source, package.translations(name, mode), attention=False)
    for name, *paths in dev_systems:
        for mode, source in zip(replication_package.MODES, paths, strict=True):
            kept = package.translations(name, mode, "dev")
            replication_package.keep_translations(source, kept, attention=False)
    languages = (config.languages.source, config.languages.target)
    for keep, sides in ((package.test, test), (package.dev, dev)):
        for language, source in zip(languages, sides or (), strict=bool(sides)):
            replication_package.keep_lines(source, keep(language))
    if raw_reference is not None:
        replication_package.keep_lines(raw_reference, package.raw_reference(config.languages.target))
    for system, source in given:
        replication_package.keep_lines(source, package.given(system))
    for system, source in dev_given:
        replication_package.keep_lines(source, package.given(system, "dev"))
    if vocabulary is not None:
        language, source = vocabulary
        replication_package.keep_lines(source, package.vocabulary(language))
    for name, source in perplexities:
        replication_package.keep_file(source, package.perplexity(name))
    if gold is not None:
        replication_package.keep_lines(gold, package.gold)
    for name, source in alignments:
        replication_package.keep_lines(source, package.alignments(name))
    for paper in papers:
        replication_package.keep_file(paper, package.paper(paper.stem))
    write_json(package.configuration, published(config))


@click.command()
@_RESULTS
@click.option(
    "--file", "files", type=FILE, multiple=True, required=True, help="A file of the results. Repeat it."
)
@click.option(
    "--archives", type=FOLDER, required=True, metavar="FOLDER", help="Where the downloaded archives lie."
)
def ro_crate(results: Path, files: Sequence[Path], archives: Path) -> None:
    """Write ro-crate-metadata.json: where the results come from.

    Code, settings, text and models with their checksums, seeds, hours and devices, package versions, and every file
    of the results with its SHA-256. Needs what `package-results` writes.
    """
    from nmt.publish.ro_crate import record

    record(results, files, archives)


@click.command()
@_RESULTS
@click.option(
    "--archives", type=FOLDER, metavar="FOLDER", help="Where the test text's archive was downloaded to."
)
@click.option(
    "--cores", type=click.IntRange(min=1), help="Cores for making the tables again; all if left out."
)
def verify(results: Path, archives: Path | None, cores: int | None) -> None:
    """Check that results are as they were recorded and that the tables follow from the replication package.

    Every file must have the checksum that ro-crate-metadata.json names; the models' and the search's settings must be
    those that models were trained and translations decoded with; tables and alignment error rates, made again by the
    workflow, must be the same to the byte; so must the test text where its source is at hand. Lists every problem and
    exits with 1 if there is one.
    """
    from nmt.publish.verify import verify as check

    with tempfile.TemporaryDirectory(prefix="nmt-verify-") as scratch:
        verdict = check(results, Path(scratch), archives, cores or len(os.sched_getaffinity(0)))
    for note in verdict.notes:
        click.echo(printable(f"note: {note}"), err=True)
    for problem in verdict.problems:
        click.echo(printable(problem))
    if verdict.problems:
        sys.exit(1)
    click.echo(verdict.checked)


@click.command()
@_model_folder
@click.option("--scores", type=FILE, help="Its scores, from `evaluate`.")
@languages_option()
@click.option("--train", multiple=True, metavar="CORPUS", help="Name of a training corpus. Repeat it.")
@click.option("--dev", multiple=True, metavar="CORPUS", help="Name of a development corpus. Repeat it.")
@click.option("--test", multiple=True, metavar="CORPUS", help="Name of the corpus that the scores are of.")
def model_card(
    folder: Path,
    scores: Path | None,
    languages: tuple[str, str] | None,
    train: tuple[str, ...],
    dev: tuple[str, ...],
    test: tuple[str, ...],
) -> None:
    """Write a model's README.md: what it is, how it was trained, its scores, how to load it."""
    from nmt.publish import model_card as card

    text = card.Text(languages or (), train, dev, test)
    card.write(folder, text, read_json(scores) if scores else None)


@click.command()
@_model_folder
@click.option(
    "--with-final-state", is_flag=True, help="Also pack the final state, from which training can continue."
)
@click.option("--output", type=FILE, required=True, metavar="FILE.tar.zst", help="The archive.")
def release(folder: Path, with_final_state: bool, output: Path) -> None:
    """Pack a model for others: weights, vocabularies, settings, summary, card and checksums in one archive.

    `nmt unpack` (or `tar --zstd -xf`) gives a folder that `nmt decode --model` takes. Equal models give equal bytes.
    """
    from nmt.publish import model_archive as archive

    names = archive.pack(folder, output, with_final_state)
    click.echo(f"{output}: {', '.join(names)}", err=True)


@click.command()
@click.argument("archives", type=FILE, nargs=-1, required=True)
@click.option(
    "--output",
    type=FOLDER,
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Folder for the models' folders.",
)
def unpack(archives: Sequence[Path], output: Path) -> None:
    """Unpack archives of `release`, each into a folder of its model's name, and check their checksums."""
    from nmt.publish.model_archive import unpack as extract

    for archive in archives:
        click.echo(extract(archive, output))
