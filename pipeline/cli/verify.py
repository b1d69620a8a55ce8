"""The subcommands `nmt verify` and `nmt agree`, which check published results and compare them."""

import sys
from pathlib import Path

import click

from nmt.cli.options import FOLDER, parse_existing_folder
from nmt.errors import printable


@click.command()
@click.argument("results", type=parse_existing_folder)
@click.option(
    "--archives", type=FOLDER, metavar="FOLDER", help="Folder of the downloaded archive with the test text."
)
@click.option(
    "--output",
    type=FOLDER,
    metavar="FOLDER",
    help="Also write the recomputed tables and figures to this folder.",
)
@click.option(
    "--models",
    type=parse_existing_folder,
    metavar="FOLDER",
    help="Also repeat 50 translations of each file with the models in this folder (such as FOLDER/rnnsearch-50), and "
    "recompute their development NLL.",
)
def verify(results: Path, archives: Path | None, output: Path | None, models: Path | None) -> None:
    """Check that the files of RESULTS are unchanged, and that the tables follow from the replication package.

    \b
        nmt verify results/packages/demo

    Every file must have the checksum that ro-crate-metadata.json lists. The settings must be those with which the
    models were trained and the translations made. Tables, alignment error rates and, if its source is available, the
    test text are made again, and must be identical. This does not show that the author was honest; --models also
    checks the translations. The command prints a line for each problem, and its exit code is 1 if there is one.
    """
    from pipeline.results.verify import verify_results

    verdict = verify_results(results, archives, output, models)
    for note in verdict.notes:
        click.echo(printable(f"note: {note}"), err=True)
    for problem in verdict.problems:
        click.echo(printable(problem))
    if verdict.problems:
        sys.exit(1)
    click.echo(verdict.conclusion)


@click.command(short_help="Compare two folders of results: claims, scores, weights.")
@click.argument("mine", type=parse_existing_folder)
@click.argument("theirs", type=parse_existing_folder)
def agree(mine: Path, theirs: Path) -> None:
    """Compare the results in MINE with those in THEIRS, claim by claim and number by number.

    Each row of the table says how a claim or a number agrees. Claims: same verdict, undecided in one, or different.
    Numbers: equal bits, equal within the 95% interval of the difference, different, or other bits. The last is said of
    weights, and of the NLL of a single run, since these have no interval. The exit code is 1 if a row is different.
    Check both folders with `nmt verify` first.
    """
    from pipeline.results.agreement import DIFFERENT, compare_packages, format_comparisons
    from pipeline.results.inputs import open_package

    with open_package(mine) as my_inputs, open_package(theirs) as their_inputs:
        comparisons = compare_packages(my_inputs, their_inputs)
    for line in format_comparisons(comparisons).split("\n"):
        click.echo(printable(line))
    if any(comparison.agreement == DIFFERENT for comparison in comparisons):
        sys.exit(1)
