"""The command `nmt`: one subcommand per stage, imported when it is called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import os
import sys

import click

import nmt
from nmt.errors import UserError, printable
from nmt.io import job_progress

# heading of the help -> subcommand -> module of nmt.cli that defines it (dashes become underscores)
SECTIONS = {
    "Data": {
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
    "Data selection": {
        "lm-sample": "selection",
        "kenlm-programs": "selection",
        "lm-train": "selection",
        "select-score": "selection",
        "select-threshold": "selection",
        "select-apply": "selection",
    },
    "Training and decoding": {
        "train": "train",
        "package": "translate",
        "decode": "decode",
        "sweep": "sweep",
        "align": "decode",
        "trees": "tree",
        "perplexity": "decode",
        "rescore": "rescore",
        "oracle": "rescore",
    },
    "Phrase-based system": {
        "moses-programs": "phrase_based",
        "moses-text": "phrase_based",
        "moses-align": "phrase_based",
        "moses-phrases": "phrase_based",
        "moses-tune": "phrase_based",
        "moses-decode": "phrase_based",
    },
    "Evaluation, tables and figures": {
        "evaluate": "evaluate",
        "alignment-error-rate": "evaluate",
        "compare": "evaluate",
        "score-table": "tables",
        "significance": "tables",
        "training-table": "tables",
        "sentence-table": "tables",
        "perplexity-table": "tables",
        "ablations": "tables",
        "tables-document": "tables",
        "figure2": "figures",
        "figure3": "figures",
        "unknown-words": "figures",
        "length-curves": "figures",
        "score-groups": "figures",
        "sentence-vectors": "vectors",
        "learning-curves": "figures",
        "decoding-sweep": "sweep",
        "finding": "pages",
        "explorer": "pages",
        "playground": "pages",
        "report": "pages",
    },
    "Publishing": {
        "package-results": "publish",
        "ro-crate": "publish",
        "verify": "publish",
        "model-card": "publish",
        "release": "publish",
        "unpack": "publish",
    },
    "Your own text": {
        "new": "new",
        "translate": "translate",
        "shortlist": "shortlist",
        "score": "translate",
        "vectors": "vectors",
        "tree": "tree",
    },
    "Monitoring": {
        "status": "monitor",
        "preflight": "monitor",
    },
}
SUBCOMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}
_SENTENCE = 200
"""More letters than a subcommand's first sentence has; the help shows it whole."""


class LazyGroup(click.Group):
    """A group that imports the module of a subcommand only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All subcommands in the order of the help."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand."""
        if cmd_name not in SUBCOMMANDS:
            return None
        module = importlib.import_module(f"nmt.cli.{SUBCOMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every subcommand with its first sentence, under the heading of what it is for."""
        width = max(map(len, SUBCOMMANDS))
        for heading, names in SECTIONS.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(_SENTENCE))
                        for name, command in commands.items()
                        if command
                    ]
                )


@click.group(cls=LazyGroup, context_settings={"max_content_width": 110})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    Each stage of the pipeline is a subcommand; Snakemake calls them, and each also works by hand. To use a trained
    model, see `translate` and `score`; to follow a run, `status`.
    """


def main() -> None:
    """Run a subcommand; a `UserError` or a full disk becomes one line on standard error."""
    job_progress.begin()
    try:
        commands(prog_name="nmt")
    except UserError as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        if os.environ.get("NMT_TRACEBACK") or not error.name or error.name.startswith("nmt"):
            raise
        fail(
            f"{error.name}: not installed, translating does without: install nmt-repro with its extra `workflow`"
        )
    except RuntimeError as error:
        fail(str(_without_memory(error)))
    except OSError as error:
        if os.environ.get("NMT_TRACEBACK"):
            raise
        where = f": {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{where}")


def _without_memory(error: RuntimeError) -> UserError:
    """What is said of an error of torch's for want of memory; raises others again."""
    if "torch" in sys.modules:
        from nmt.model.device import out_of_memory

        if line := out_of_memory(error, f"nmt {' '.join(sys.argv[1:2])}"):
            return line
    raise error


def fail(message: str) -> None:
    """Print one line and leave with the exit code for bad input."""
    print(f"nmt: error: {printable(message)}", file=sys.stderr)
    job_progress.failed(message)
    sys.exit(2)
