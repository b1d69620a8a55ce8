"""Options that several subcommands of the pipeline share."""

from __future__ import annotations

import click

from nmt.cli.options import PATH, file_option, settings_option

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
