"""The subcommand that shows two systems' translations side by side."""

import sys
from pathlib import Path

import click

from nmt.cli.options import parse_existing_folder


@click.command(short_help="Show two systems' translations side by side, greatest difference first.")
@click.argument("results", type=parse_existing_folder)
@click.argument("first_system")
@click.argument("second_system")
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of sentences to show. In one half the first system is better, in the other half the second.",
)
def compare(results: Path, first_system: str, second_system: str, sentences: int) -> None:
    """Show the translations of two systems side by side, those that differ most in sentence BLEU first.

    \b
        nmt compare results/packages/demo rnnsearch-50 rnnencdec-50

    RESULTS is the folder of a run's results. A system is a run such as rnnsearch-50 or rnnsearch-50.seed-2, an entry of
    `systems` or `rescored`, or moses. On a terminal, words that the reference does not have are red.
    """
    from pipeline.results.inputs import open_package
    from pipeline.results.side_by_side import format_side_by_side, pair_translations

    with open_package(results) as inputs:
        compared_sentences = pair_translations(inputs, first_system, second_system)
    systems = (first_system, second_system)
    click.echo(format_side_by_side(compared_sentences, systems, sentences, sys.stdout))
