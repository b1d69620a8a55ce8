"""Subcommands that publish: parts kept beside the results, their record, its verification, model cards, releases."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER, Command, languages_option, parse_settings
from nmt.errors import printable
from nmt.io.files import read_json, write_json

_RESULTS = click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
_model_folder = click.option(
    "--model",
    "folder",
    type=FOLDER,
    required=True,
    metavar="FOLDER",
    help="The model's folder, from `train`.",
)


def _copies(name: str, what: str) -> Callable[[Command], Command]:
    """An option for files that the replication package has copies of."""
    return click.option(
        f"--{name}", type=(FILE, FILE), multiple=True, metavar="FILE COPY", help=f"{what} Repeat it."
    )


@click.command()
@_copies("translations", "Translations from `decode`; what made them goes along.")
@_copies("attention", "The same with their attention, as Figure 3 needs it.")
@_copies("lines", "Lines of text, compressed as the names say.")
@_copies("file", "Any other file.")
@click.option(
    "--configuration",
    required=True,
    metavar="JSON|FILE",
    help="The run's merged settings, as JSON or the path of a JSON file.",
)
@click.option("--output", type=FOLDER, required=True, metavar="RESULTS", help="The results folder.")
def package_results(
    translations: Sequence[tuple[Path, Path]],
    attention: Sequence[tuple[Path, Path]],
    lines: Sequence[tuple[Path, Path]],
    file: Sequence[tuple[Path, Path]],
    configuration: str,
    output: Path,
) -> None:
    """Write the replication package: copies of the inputs of tables and figures, and the settings.

    Translations, test text, known alignments, summaries and settings. With these alone (`released.results` in a
    config.yaml) the workflow makes tables and figures again, and `nmt verify` checks them.
    """
    from nmt.config.snapshot import Published, published
    from nmt.publish import replication_package

    config = parse_settings(Published, configuration, "--configuration")
    for source, copy in translations:
        replication_package.keep_translations(source, copy, attention=False)
    for source, copy in attention:
        replication_package.keep_translations(source, copy, attention=True)
    for source, copy in lines:
        replication_package.keep_lines(source, copy)
    for source, copy in file:
        replication_package.keep_file(source, copy)
    write_json(replication_package.ReplicationPackage(output).configuration, published(config))


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
