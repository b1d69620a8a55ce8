"""The command `nmt`: one verb a stage. Verbs are imported when they are called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import os
import sys

import click

import nmt
from nmt.errors import UserError

# verb -> module of nmt.cli that defines it (dashes become underscores), in the order in which data flows
VERBS = {
    "download": "data",
    "extract": "data",
    "generate": "grammar",
    "clean": "data",
    "tokenize": "data",
    "overlap": "data",
    "lm-sample": "selection",
    "kenlm-programs": "selection",
    "lm-train": "selection",
    "select-score": "selection",
    "cut-candidate": "selection",
    "cut-choose": "selection",
    "select-threshold": "selection",
    "select-apply": "selection",
    "vocabulary": "data",
    "binarize": "data",
    "count": "counts",
    "sum-counts": "counts",
    "data-report": "counts",
    "train": "model",
    "package": "translator",
    "decode": "model",
    "sweep": "model",
    "align": "model",
    "evaluate": "report",
    "alignment-error-rate": "report",
    "compare": "report",
    "table1": "report",
    "significance": "report",
    "table2": "report",
    "table3": "report",
    "figure2": "report",
    "figure3": "report",
    "unknown-words": "report",
    "learning-curves": "report",
    "readings": "report",
    "decoding-sweep": "report",
    "explorer": "report",
    "report": "report",
    "translate": "translator",
    "score": "translator",
    "status": "status",
    "preflight": "status",
    "keep": "publish",
    "remake": "publish",
    "provenance": "publish",
    "verify": "publish",
    "model-card": "publish",
    "release": "publish",
    "unpack": "publish",
}


class LazyGroup(click.Group):
    """A group whose verbs' modules are imported only when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs in the order in which data flows."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"nmt.cli.{VERBS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.group(cls=LazyGroup, context_settings={"max_content_width": 110})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    One verb a stage of the pipeline, in the order in which data flows; each also works by hand. The last two are for
    text of your own: translate and score use a model that has been trained.
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
