"""Subcommands that publish results: results package, results ro-crate, verify."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER, Command, parse_settings
from nmt.cli.outputs import WRITTEN
from nmt.errors import printable
from nmt.io.files import write_json

_RESULTS = click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))


def _copies(name: str, what: str) -> Callable[[Command], Command]:
    """Return an option for files that are copied into the replication package."""
    return click.option(
        f"--{name}", type=(FILE, WRITTEN), multiple=True, metavar="FILE COPY", help=f"{what} Repeat it."
    )


@click.command()
@_copies(
    "translations",
    "Translations written by `nmt test-set decode`; the record of their making is copied, too.",
)
@_copies("attention", "Translations with their attention, as Figure 3 needs it.")
@_copies("lines", "Lines of text, compressed according to the extensions.")
@_copies("file", "Any other file.")
@click.option(
    "--configuration",
    required=True,
    metavar="JSON|FILE",
    help="The run's merged settings, as JSON or the path of a JSON file.",
)
@click.option("--output", type=FOLDER, required=True, metavar="RESULTS", help="Folder of the results.")
def package_results(
    translations: Sequence[tuple[Path, Path]],
    attention: Sequence[tuple[Path, Path]],
    lines: Sequence[tuple[Path, Path]],
    file: Sequence[tuple[Path, Path]],
    configuration: str,
    output: Path,
) -> None:
    """Write the replication package: copies of the inputs of tables and figures, and the settings.

    The inputs are translations, test text, gold alignments and summaries. With the package alone (`released.results`
    in a config.yaml), the workflow makes tables and figures again, and `nmt verify` checks them.
    """
    from pipeline.config.snapshot import Published, published
    from pipeline.results import package as replication_package

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
    "--archives", type=FOLDER, required=True, metavar="FOLDER", help="Folder of the downloaded archives."
)
def ro_crate(results: Path, files: Sequence[Path], archives: Path) -> None:
    """Write ro-crate-metadata.json, the record of where the results come from.

    Code, settings, text and models with their checksums, seeds, hours and devices, package versions, and every file
    of the results with its SHA-256. The command needs the output of `nmt results package`.
    """
    from pipeline.results.ro_crate import record

    record(results, files, archives)


@click.command()
@_RESULTS
@click.option(
    "--archives", type=FOLDER, metavar="FOLDER", help="Folder of the downloaded archive with the test text."
)
@click.option(
    "--cores", type=click.IntRange(min=1), help="CPU cores for making the tables again [default: all]."
)
def verify(results: Path, archives: Path | None, cores: int | None) -> None:
    """Check that results are as they were recorded and that the tables follow from the replication package.

    Every file must have the checksum that ro-crate-metadata.json lists. The settings must be those with which the
    models were trained and the translations decoded. The workflow makes the tables and the alignment error rates
    again; they must be equal to the byte, and so must the test text, if its source is available. The command prints a
    line for each problem. The exit code is 1 if there is one.
    """
    from nmt.io.environment import processors
    from pipeline.results.verify import verify as check

    with tempfile.TemporaryDirectory(prefix="nmt-verify-") as scratch:
        verdict = check(results, Path(scratch), archives, cores or processors())
    for note in verdict.notes:
        click.echo(printable(f"note: {note}"), err=True)
    for problem in verdict.problems:
        click.echo(printable(problem))
    if verdict.problems:
        sys.exit(1)
    click.echo(verdict.checked)
