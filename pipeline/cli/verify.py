"""The subcommand `nmt verify`, which checks published results."""

import sys
import tempfile
from pathlib import Path

import click

from nmt.cli.options import FOLDER
from nmt.errors import printable


@click.command()
@click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--archives", type=FOLDER, metavar="FOLDER", help="Folder of the downloaded archive with the test text."
)
@click.option(
    "--output",
    type=FOLDER,
    metavar="FOLDER",
    help="Also write the tables and figures that were computed again to this folder.",
)
def verify(results: Path, archives: Path | None, output: Path | None) -> None:
    """Check that the files of RESULTS are unchanged, and that the tables follow from the replication package.

    Every file must have the checksum that ro-crate-metadata.json lists. The settings must be those with which the
    models were trained and the translations decoded. Tables and alignment error rates are computed again, and must be
    equal to the byte. So must the test text, if its source is available. The command prints a line for each problem,
    and its exit code is 1 if there is one.
    """
    from pipeline.results.verify import verify_results

    with tempfile.TemporaryDirectory(prefix="nmt-verify-") as scratch:
        verdict = verify_results(results, Path(scratch), archives)
    for note in verdict.notes:
        click.echo(printable(f"note: {note}"), err=True)
    for problem in verdict.problems:
        click.echo(printable(problem))
    if output and verdict.inputs:
        from pipeline.results.tables_and_figures import write_tables_and_figures

        write_tables_and_figures(verdict.inputs, output)
    if verdict.problems:
        sys.exit(1)
    click.echo(verdict.conclusion)
