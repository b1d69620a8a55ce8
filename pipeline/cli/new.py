"""The subcommand `nmt new`, which starts an experiment on the text of the user."""

import shlex
from pathlib import Path

import click

from nmt.cli.options import FILE, FOLDER
from nmt.errors import UserError


@click.command(short_help="Start an experiment on your own parallel text.")
@click.argument("folder", type=FOLDER)
@click.argument("source", type=FILE)
@click.argument("target", type=FILE, required=False)
@click.option(
    "--languages",
    nargs=2,
    metavar="SOURCE TARGET",
    help="Codes of both languages, for example de es [default: the extensions of the files, such as .de and .es.gz].",
)
@click.option(
    "--dev",
    nargs=2,
    type=FILE,
    metavar="SOURCE TARGET",
    help="Development text [default: sampled from the training text].",
)
@click.option(
    "--test",
    nargs=2,
    type=FILE,
    metavar="SOURCE TARGET",
    help="Test text [default: sampled from the training text].",
)
@click.option(
    "--tokenized",
    is_flag=True,
    help="The text is already tokenized, with spaces between the tokens.",
)
@click.option(
    "--subwords",
    type=click.IntRange(100, 1_000_000),
    metavar="UNITS",
    help="Segment words into this number of subword units per language (for example 8000), so that hardly any word is "
    "unknown.",
)
@click.option(
    "--init-from",
    type=FOLDER,
    metavar="MODEL",
    help="Fine-tune this trained model on the text, and compare it before and after: a folder as `nmt train` or `nmt "
    "unpack` writes it.",
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
    init_from: Path | None,
) -> None:
    """Start an experiment in FOLDER on the training text SOURCE and TARGET: UTF-8, one sentence per line.

    \b
        nmt new experiments/own corpus.de corpus.es

    Files can be compressed (gzip, bzip2, xz, zstd) or SGML of WMT. Without TARGET, each line of SOURCE has both sides,
    with a tab between them.

    If you give no development or test text, it is sampled from the training text: one pair in twenty, at least 100 and
    at most 2,000. No sentence is then in two of the sets. The command writes the text to FOLDER/text, and settings that
    suit the amount of text to FOLDER/config.yaml.
    """
    from pipeline.own_text.parallel_text import ParallelText
    from pipeline.own_text.settings import write_experiment

    texts = {"train": ParallelText(source, target)}
    for split, files in (("dev", dev), ("test", test)):
        if files:
            texts[split] = ParallelText(*files)
    if init_from and subwords:
        raise UserError("--init-from, --subwords: a trained model has its vocabularies; leave out --subwords")
    pair_counts, advice = write_experiment(
        folder, texts, codes=languages or None, tokenized=tokenized, subwords=subwords, init_from=init_from
    )

    counts_text = ", ".join(f"{count:,} {split}" for split, count in pair_counts.items())
    click.echo(f"{folder / 'config.yaml'}: {counts_text} pairs")
    for line in advice:
        click.echo(line)
    click.echo(f"Next: {format_next_command(folder)}")


def format_next_command(folder: Path) -> str:
    """Return the shell command that runs the experiment in a folder: make EXPERIMENT=FOLDER run."""
    return f"make EXPERIMENT={shlex.quote(str(folder))} run"
