"""The subcommand that begins an experiment on the user's own text."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER


@click.command(short_help="Begin an experiment on your own parallel text.")
@click.argument("folder", type=FOLDER)
@click.argument("source", type=FILE)
@click.argument("target", type=FILE, required=False)
@click.option(
    "--languages",
    nargs=2,
    metavar="SOURCE TARGET",
    help="Codes of both languages, for example de es [default: the files' extensions, such as .de and .es.gz].",
)
@click.option(
    "--dev",
    nargs=2,
    type=FILE,
    metavar="SOURCE TARGET",
    help="Development text [default: drawn from the training text].",
)
@click.option(
    "--test",
    nargs=2,
    type=FILE,
    metavar="SOURCE TARGET",
    help="Test text [default: drawn from the training text].",
)
@click.option(
    "--tokenized",
    is_flag=True,
    help="The text is tokenized, with spaces between the tokens, in any language.",
)
@click.option(
    "--subwords",
    type=click.IntRange(100, 1_000_000),
    metavar="UNITS",
    help="Cut words into this many subword units of each language (8000, for example), so that hardly any is unknown.",
)
def new(
    folder: Path,
    source: Path,
    target: Path | None,
    languages: tuple[str, str] | None,
    dev: tuple[Path, Path] | None,
    test: tuple[Path, Path] | None,
    tokenized: bool,
    subwords: int | None,
) -> None:
    """Begin an experiment in FOLDER on the training text SOURCE and TARGET: UTF-8, one sentence per line.

    Files can be compressed (gzip, bzip2, xz, zstd) or SGML of WMT. Without TARGET, each line of SOURCE has both sides,
    with a tab between them.

    If you give no development or test text, it is drawn from the training text: one pair in twenty, at least 100 and at
    most 2,000. No sentence is then in two of the sets. The text is written to FOLDER/text, and settings that fit the
    amount of text are written to FOLDER/config.yaml.
    """
    from pipeline.monitor.forecast import format_hours
    from pipeline.own_text.settings import new_experiment
    from pipeline.own_text.text import Given

    given = {"train": Given(source, target)}
    given |= {name: Given(*files) for name, files in (("dev", dev), ("test", test)) if files}
    text, proposal, advice = new_experiment(folder, given, languages or None, tokenized, subwords)
    pairs = ", ".join(f"{count:,} {part}" for part, count in text.pairs.items())
    click.echo(f"{folder / 'config.yaml'}: {pairs} pairs")
    for line in advice:
        click.echo(line)
    hours = proposal.hours
    needs = f"about {format_hours(hours)} of training on two cores (estimated)" if hours else "on a GPU"
    click.echo(f"Next, {needs}: {next_command(folder)}")


def next_command(folder: Path) -> str:
    """Return the shell command that runs the experiment in a folder."""
    return f"make EXPERIMENT={shlex.quote(str(folder))} run"
