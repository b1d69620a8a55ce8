"""The subcommand that writes the demo's text."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import FILE, PATH, parse_settings, settings_option
from nmt.errors import UserError


@click.command()
@settings_option("The config's `grammar`: seed and size of the language")
@click.option(
    "--split",
    required=True,
    type=click.Choice(["train", "dev", "test"]),
    help="Split of the language. No two splits share a sentence.",
)
@click.option("--pairs", required=True, type=click.IntRange(min=1), help="Number of sentence pairs.")
@click.option(
    "--output-source",
    required=True,
    multiple=True,
    type=FILE,
    help="File for the English side of a shard. Repeat it, in order.",
)
@click.option(
    "--output-target",
    required=True,
    multiple=True,
    type=FILE,
    help="File for the French side of a shard. Repeat it, in order.",
)
@click.option(
    "--output-alignment",
    required=True,
    multiple=True,
    type=FILE,
    help="File for the alignments of a shard. Repeat it, in order.",
)
@click.option("--counts", required=True, type=PATH, help="JSON file for the counts of pairs and words.")
def generate(
    settings: str,
    split: str,
    pairs: int,
    output_source: tuple[Path, ...],
    output_target: tuple[Path, ...],
    output_alignment: tuple[Path, ...],
    counts: Path,
) -> None:
    """Generate synthetic English-French sentence pairs with word alignments from the project's own grammar.

    The text is raw, not tokenized. A line of the alignments holds the links `i-j` of a pair: positions of source and
    target token from 0, after tokenization by Moses' tokenizer. Blocks of 10,000 pairs go to the shards in turn. The
    same settings give the same text, whatever the number of shards. The extension of a file says how it is compressed.
    """
    from pipeline.config.catalogue import GrammarSettings
    from pipeline.grammar.corpus import Split, write_corpus

    if not len(output_source) == len(output_target) == len(output_alignment):
        found = f"{len(output_source)}, {len(output_target)} and {len(output_alignment)} files"
        raise UserError(
            f"--output-source, -target, -alignment: {found}, expected as many of each; give each once per shard"
        )
    chosen: Split = split  # type: ignore[assignment]  # click checked it
    wanted = parse_settings(GrammarSettings, settings)
    write_corpus(wanted, chosen, pairs, output_source, output_target, output_alignment, counts)
