"""The command `nmt`: one verb a stage. Verbs are imported when they are called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import os
import sys

import click

import nmt
from nmt.errors import UserError

# heading of the help -> verb -> module of nmt.cli that defines it (dashes become underscores)
SECTIONS = {
    "Text": {
        "download": "data",
        "extract": "data",
        "generate": "synthetic",
        "clean": "data",
        "tokenize": "data",
        "overlap": "data",
        "vocabulary": "data",
        "binarize": "data",
        "count": "statistics",
        "sum-counts": "statistics",
        "data-report": "statistics",
    },
    "Selection of training text": {
        "lm-sample": "selection",
        "kenlm-programs": "selection",
        "lm-train": "selection",
        "select-score": "selection",
        "cut-candidate": "selection",
        "cut-choose": "selection",
        "select-threshold": "selection",
        "select-apply": "selection",
    },
    "Models": {
        "train": "decode",
        "package": "translate",
        "decode": "decode",
        "sweep": "sweep",
        "align": "decode",
    },
    "Scores, tables and figures": {
        "evaluate": "evaluate",
        "alignment-error-rate": "evaluate",
        "compare": "evaluate",
        "table1": "tables",
        "significance": "tables",
        "table2": "tables",
        "table3": "tables",
        "ablations": "tables",
        "figure2": "figures",
        "figure3": "figures",
        "unknown-words": "figures",
        "learning-curves": "figures",
        "decoding-sweep": "sweep",
        "explorer": "pages",
        "report": "pages",
    },
    "Publishing": {
        "keep": "publish",
        "remake": "publish",
        "provenance": "publish",
        "verify": "publish",
        "model-card": "publish",
        "release": "publish",
        "unpack": "publish",
    },
    "Text of your own": {
        "translate": "translate",
        "score": "translate",
    },
    "An experiment as a whole": {
        "status": "monitor",
        "preflight": "monitor",
    },
}
VERBS = {verb: module for verbs in SECTIONS.values() for verb, module in verbs.items()}
_SENTENCE = 200
"""More letters than a verb's first sentence has; the help shows it whole."""


class LazyGroup(click.Group):
    """A group whose verbs' modules are imported only when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"nmt.cli.{VERBS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every verb with its first sentence, under the heading of what it is for."""
        width = max(map(len, VERBS))
        for heading, verbs in SECTIONS.items():
            commands = {verb: self.get_command(ctx, verb) for verb in verbs}
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (verb.ljust(width), command.get_short_help_str(_SENTENCE))
                        for verb, command in commands.items()
                        if command
                    ]
                )


@click.group(cls=LazyGroup, context_settings={"max_content_width": 110})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    One verb a stage of the pipeline; Snakemake calls them, and each also works by hand. To use a model that has been
    trained, see `translate` and `score`; to see how a run is getting on, `status`.
    """


def main() -> None:
    """Run a verb; a `UserError` or a full disk becomes one line on standard error."""
    try:
        commands(prog_name="nmt")
    except UserError as error:
        fail(str(error))
    except OSError as error:
        if os.environ.get("NMT_TRACEBACK"):
            raise
        where = f": {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{where}")


def fail(message: str) -> None:
    """Print one line and leave with the exit code for bad input."""
    print(f"nmt: error: {message}", file=sys.stderr)
    sys.exit(2)
