"""What the pipeline's subcommands have in common."""

from __future__ import annotations

import click

from nmt.cli.options import PATH, Command, file_option, settings_option


def table_outputs(command: Command) -> Command:
    """The options that name the three files of a table."""
    for form in ("tex", "md", "csv"):
        command = file_option(f"--output-{form}", f"The table as .{form}.")(command)
    return command


report_settings = settings_option(
    "The config's `artifacts`, `languages` and `tokenization`, `labels` (by model id), `unknown` (of `decoding`)"
)


summaries = file_option(
    "--summary", "The summary.json of a run, written by `train`. Repeat it.", multiple=True
)


own_sentences = click.option(
    "--paper",
    type=PATH,
    metavar="FILE",
    help="Names the paper's own example sentences (workflow/papers/PAPER.yaml).",
)


given_translations = click.option(
    "--given",
    type=(str, PATH),
    multiple=True,
    metavar="SYSTEM FILE",
    help="Another system's translations of the whole test set, tokenized, one per line. Repeat it.",
)
