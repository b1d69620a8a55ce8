"""Options that several subcommands of the pipeline share."""

from __future__ import annotations

import click

from nmt.cli.options import PATH, Command, file_option, settings_option


def table_outputs(command: Command) -> Command:
    """Add the options that name the three files of a table."""
    for form in ("tex", "md", "csv"):
        command = file_option(f"--output-{form}", f"The table as .{form}.")(command)
    return command


report_settings = settings_option(
    "The config's `artifacts`, `languages`, `tokenization`, `labels` (by model id) and `unknown` (from `decoding`)"
)


summaries = file_option(
    "--summary", "The summary.json of a run, written by `nmt train`. Repeat it.", multiple=True
)


own_sentences = click.option(
    "--paper",
    type=PATH,
    metavar="FILE",
    help="File with the paper's example sentences (workflow/papers/PAPER.yaml).",
)


given_translations = click.option(
    "--given",
    type=(str, PATH),
    multiple=True,
    metavar="SYSTEM FILE",
    help="Translations of another system for the whole test set, tokenized, one per line. Repeat it.",
)
