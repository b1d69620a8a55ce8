"""The command `nmt`: one subcommand per stage, imported when it is called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import json
import os
import sys
from functools import cache
from pathlib import Path

import click

import nmt
from nmt.errors import UserError, convert_os_error, error_lines
from nmt.io import progress

# heading of the help -> words of the subcommand -> where its function is
Commands = dict[str, dict[str, str]]
GROUPS = "Steps of the workflow, in groups (nmt GROUP --help)"
COMMANDS: Commands = {
    "Use a trained model": {
        "translate": "nmt.cli.translate:translate",
        "score": "nmt.cli.translate:score",
        "vectors": "nmt.cli.encoders:vectors",
        "tree": "nmt.cli.encoders:tree",
    },
    "Train a model and share it": {
        "train": "nmt.cli.train:train",
        "shortlist": "nmt.cli.train:shortlist",
        "unpack": "nmt.cli.train:unpack",
    },
    "Run an experiment": {},
    GROUPS: {
        "model package": "nmt.cli.train:package",
        "model release": "nmt.cli.train:release",
        "data tokenize": "nmt.cli.data:tokenize",
        "data vocabulary": "nmt.cli.data:vocabulary",
        "data binarize": "nmt.cli.data:binarize",
        "test-set decode": "nmt.cli.test_set:decode",
        "test-set align": "nmt.cli.test_set:align",
        "test-set perplexity": "nmt.cli.test_set:perplexity",
        "test-set rescore": "nmt.cli.test_set:rescore",
        "test-set oracle": "nmt.cli.test_set:oracle",
    },
}
"""The library's subcommands. Those of the groups are mostly called by the workflow."""
DESCRIPTIONS = {
    "model": "Prepare a trained model for others: its text settings and archive.",
    "data": "Prepare text: tokenize it, and convert it to ids.",
    "test-set": "Translate test sets, measure perplexity, and rescore n-best lists.",
}
"""The description of each group."""
PIPELINE = "pipeline.cli"
"""The package of the pipeline's subcommands. A checkout of the project has it, an installed wheel does not."""


@cache
def find_commands() -> Commands:
    """Return the library's subcommands and, in a checkout, the pipeline's."""
    root = Path(nmt.__file__).resolve().parents[1]
    if not root.joinpath(*PIPELINE.split("."), "__init__.py").is_file():
        return COMMANDS
    if str(root) not in sys.path:
        sys.path.append(str(root))  # an editable installation brings `nmt` alone
    pipeline: Commands = importlib.import_module(PIPELINE).COMMANDS
    return {heading: names | pipeline.get(heading, {}) for heading, names in COMMANDS.items()}


def list_subcommands() -> dict[str, str]:
    """Return the place of each subcommand's function, by its words: "translate", "data tokenize"."""
    return {words: place for names in find_commands().values() for words, place in names.items()}


@cache
def load_subcommand(words: str) -> click.Command:
    """Import a subcommand, and have it check its files before it begins."""
    from nmt.cli.options import guarded

    module, _, function = list_subcommands()[words].partition(":")
    command: click.Command = getattr(importlib.import_module(module), function)
    command.name = words.split()[-1]
    assert command.callback
    command.callback = guarded(command.callback)
    return command


def running_command() -> str:
    """Return the command that runs: `nmt` and the subcommand's words."""
    words = sys.argv[1:3] if sys.argv[1:2] and sys.argv[1] in DESCRIPTIONS else sys.argv[1:2]
    return " ".join(["nmt", *words])


class LazyGroup(click.Group):
    """All subcommands, or a group of them. Imports the module of a subcommand only when it is needed."""

    def sections(self) -> dict[str, list[str]]:
        """Return the names of subcommands and groups, under the headings of the help."""
        if self.name in DESCRIPTIONS:
            prefix = f"{self.name} "
            own = [words.removeprefix(prefix) for words in list_subcommands() if words.startswith(prefix)]
            return {"Subcommands": own}
        return {
            heading: list(dict.fromkeys(words.split()[0] for words in names))
            for heading, names in find_commands().items()
            if names
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all subcommands in the order of the help."""
        return [name for names in self.sections().values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand, or make a group."""
        words = f"{self.name} {cmd_name}" if self.name in DESCRIPTIONS else cmd_name
        if words in DESCRIPTIONS:
            return LazyGroup(words, help=DESCRIPTIONS[words])
        return load_subcommand(words) if words in list_subcommands() else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every subcommand with its whole first sentence, under its heading."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in self.sections().items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (name.ljust(width), command.get_short_help_str(200)) for name, command in commands if command
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(cls=LazyGroup, context_settings={"max_content_width": 110})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    The commands for direct use come first. The steps of the workflow are called by Snakemake, but each step also works
    by hand. `nmt COMMAND --help` shows the options of a command.
    """


def main() -> None:
    """Run a subcommand; an error of the input or of the system becomes one line on standard error."""
    progress.clear_progress()
    os.environ.pop("MPLBACKEND", None)  # a notebook kernel's may not be installed here, and files need none
    try:
        commands(prog_name="nmt")
    except Exception as error:
        line = describe_error(error)
        if line is None or os.environ.get("NMT_TRACEBACK"):
            raise
        exit_with_error(line)


def describe_error(error: Exception) -> str | None:
    """Return the line for an error of the input or of the system; None for a fault of the program."""
    match error:
        case UserError():
            return str(error)
        case OSError():
            return str(convert_os_error(error))
        case MemoryError():
            detail = f" ({error})" if str(error) else ""
            return f"{running_command()}: out of memory{detail}; use smaller batches, or a machine with more"
        case ModuleNotFoundError() if error.name and not error.name.startswith(("nmt", "pipeline")):
            hint = "install nmt-repro with its extra `workflow`"
            return f"{error.name}: not installed, but `{running_command()}` needs it: {hint}"
        case ImportError() if ".so" in str(error):  # NumPy's has a page of advice before what the system says
            return f"{running_command()}: a library cannot be loaded: {str(error).splitlines()[-1]}"
        case RuntimeError() if "torch" in sys.modules:
            from nmt.backend.device import find_out_of_memory_error

            line = find_out_of_memory_error(error, running_command())
            return str(line) if line else None
        case UnicodeError() | json.JSONDecodeError():
            return f"{running_command()}: {error}"
    return None


def exit_with_error(message: str) -> None:
    """Print a line per problem and leave with the exit code for bad input."""
    click.echo(error_lines(message), err=True)
    progress.record_failure(message)
    sys.exit(2)
