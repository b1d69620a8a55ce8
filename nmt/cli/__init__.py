"""The command `nmt`. The module of a subcommand is imported only when it is called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import click

import nmt
from nmt.environment import REPOSITORY
from nmt.errors import UserError, convert_os_error
from nmt.io import progress
from nmt.io.messages import print_error


class LazyGroup(click.Group):
    """The command `nmt`, or a group of its subcommands.

    Attributes:
        sections: heading of the help -> name -> a group, or the function of a subcommand as "module:function".
        entries: the entries of all sections, by name.
    """

    def __init__(
        self, name: str, sections: Mapping[str, Mapping[str, str | LazyGroup]], **attributes: Any
    ) -> None:
        super().__init__(name, **attributes)
        self.sections = sections
        self.entries = {name: entry for entries in sections.values() for name, entry in entries.items()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name and the subcommand that the arguments name, and the other arguments.

        Raises UserError for an unknown name.
        """
        if args[0] not in self.entries:
            from nmt.settings.base import suggest_name  # slow to import

            suggestion = suggest_name(args[0], self.entries)
            raise UserError(
                f"{args[0]}: no such subcommand{suggestion}; `{ctx.command_path} --help` lists them"
            )
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all subcommands in the order of the help."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand, which is imported, or a group; None if the name is unknown."""
        entry = self.entries.get(cmd_name)
        return load_subcommand(entry) if isinstance(entry, str) else entry

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each subcommand with its whole first sentence below the heading of its section."""
        # all sections have the same first column
        width = max(map(len, self.entries))
        for heading, names in self.sections.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                assert command
                rows.append((name.ljust(width), command.get_short_help_str(limit=200)))
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


@cache
def load_subcommand(function_path: str) -> click.Command:
    """Import a subcommand, such as "nmt.cli.train:train". Its function first checks the names of its output files."""
    from nmt.cli.options import check_outputs_first

    module, _, function = function_path.partition(":")
    command: click.Command = getattr(importlib.import_module(module), function)
    assert command.callback
    command.callback = check_outputs_first(command.callback)
    return command


def find_pipeline_commands() -> dict[str, str]:
    """Return the subcommands of the pipeline, which a checkout of the project has, but an installed wheel has not."""
    if not (REPOSITORY / "pipeline" / "cli" / "__init__.py").is_file():
        return {}
    # An editable installation puts only `nmt` on the path.
    if str(REPOSITORY) not in sys.path:
        sys.path.append(str(REPOSITORY))
    pipeline_commands: dict[str, str] = importlib.import_module("pipeline.cli").COMMANDS
    return pipeline_commands


GROUPS = {
    "model": LazyGroup(
        "model",
        {"Subcommands": {"package": "nmt.cli.model:package", "release": "nmt.cli.model:release"}},
        help="Prepare a trained model for others: its text settings and archive.",
    ),
    "data": LazyGroup(
        "data",
        {
            "Subcommands": {
                "tokenize": "nmt.cli.data:tokenize",
                "vocabulary": "nmt.cli.data:vocabulary",
                "binarize": "nmt.cli.data:binarize",
            }
        },
        help="Prepare text: tokenize it, and convert it to ids.",
    ),
    "test-set": LazyGroup(
        "test-set",
        {
            "Subcommands": {
                "decode": "nmt.cli.sentence_sets:decode",
                "align": "nmt.cli.sentence_sets:align",
                "perplexity": "nmt.cli.sentence_sets:perplexity",
                "rescore": "nmt.cli.sentence_sets:rescore",
                "oracle": "nmt.cli.sentence_sets:oracle",
            }
        },
        help="Translate test sets, measure perplexity, and rescore n-best lists.",
    ),
}
"""Groups of subcommands that are mostly called by the workflow."""
SECTIONS = {
    "Use a trained model": {
        "translate": "nmt.cli.translate:translate",
        "score": "nmt.cli.translate:score",
        "vectors": "nmt.cli.vectors_and_trees:vectors",
        "tree": "nmt.cli.vectors_and_trees:tree",
    },
    "Train a model and share it": {
        "train": "nmt.cli.train:train",
        "unpack": "nmt.cli.model:unpack",
    },
    "Run an experiment": find_pipeline_commands(),
    "Steps of the workflow, in groups (nmt GROUP --help)": GROUPS,
}


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    The commands for direct use come first. Snakemake runs the steps of the workflow, but you can also run each step
    yourself. `nmt COMMAND --help` shows the options of a command.

    \b
        nmt translate --model experiments/demo/models/rnnsearch-50
        nmt status experiments/demo
    """


def main() -> None:
    """Run the subcommand of the command line. An error of the input or of the system is printed as one line."""
    progress.clear_progress()

    # A notebook sets MPLBACKEND for its own kernel. That backend may not be installed here, and
    # figures that are written to files need none.
    os.environ.pop("MPLBACKEND", None)
    try:
        sys.exit(commands(prog_name="nmt", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "nmt"
        exit_with_error(f"{error.format_message()} `{command} --help` shows the options")
    except click.Abort:  # Ctrl-C
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        message = describe_error(error)
        if message is None or os.environ.get("NMT_TRACEBACK"):
            raise
        exit_with_error(message)


def describe_error(error: Exception) -> str | None:
    """Return the message for an error of the input or of the system, or None for a fault of the program."""
    match error:
        case UserError():
            return str(error)
        case OSError():
            return str(convert_os_error(error))
        case MemoryError():
            return "out of memory; use smaller batches, or a machine with more"
        case ModuleNotFoundError() if error.name and not error.name.startswith(("nmt", "pipeline")):
            return f"{error.name}: not installed; install nmt-repro with its extra `workflow`"
        case ImportError() if ".so" in str(error):
            # NumPy's message is a page of advice. Its last line is the system's message.
            return f"a library cannot be loaded: {str(error).splitlines()[-1]}"
        # PyTorch raises a RuntimeError if a GPU is out of memory. If PyTorch is not loaded, this is another error, and
        # loading PyTorch would take a second.
        case RuntimeError() if "torch" in sys.modules:
            from nmt.backend.device import find_out_of_memory_error

            memory_error = find_out_of_memory_error(error)
            return str(memory_error) if memory_error else None
        case UnicodeError() | json.JSONDecodeError():
            return str(error)
    return None


def exit_with_error(message: str) -> None:
    """Print a line per problem, record the failure for `nmt status`, and exit with code 2 (bad input)."""
    print_error(message)
    progress.record_failure(message)
    sys.exit(2)
