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
from nmt.errors import UserError, of_system, printable
from nmt.io import job_progress

# heading of the help -> subcommand -> where its function is
Sections = dict[str, dict[str, str]]
SECTIONS: Sections = {
    "Use a trained model": {
        "translate": "nmt.cli.translate:translate",
        "score": "nmt.cli.translate:score",
        "vectors": "nmt.cli.vectors:vectors",
        "tree": "nmt.cli.tree:tree",
    },
    "Train a model and share it": {
        "train": "nmt.cli.train:train",
        "shortlist": "nmt.cli.shortlist:shortlist",
        "unpack": "nmt.cli.archive:unpack",
    },
}
"""Subcommands for direct use."""
# group -> subcommand -> where its function is
Groups = dict[str, dict[str, str]]
GROUPS: Groups = {
    "model": {
        "package": "nmt.cli.translate:package",
        "card": "nmt.cli.archive:model_card",
        "release": "nmt.cli.archive:release",
    },
    "data": {
        "tokenize": "nmt.cli.data:tokenize",
        "vocabulary": "nmt.cli.data:vocabulary",
        "binarize": "nmt.cli.data:binarize",
    },
    "selection": {
        "kenlm": "nmt.cli.selection:kenlm_programs",
        "train-lm": "nmt.cli.selection:lm_train",
    },
    "test-set": {
        "decode": "nmt.cli.decode:decode",
        "align": "nmt.cli.decode:align",
        "perplexity": "nmt.cli.decode:perplexity",
        "rescore": "nmt.cli.rescore:rescore",
        "oracle": "nmt.cli.rescore:oracle",
        "evaluate": "nmt.cli.evaluate:evaluate",
        "alignment-error-rate": "nmt.cli.evaluate:alignment_error_rate",
    },
}
"""Subcommands that mostly the workflow calls."""
DESCRIPTIONS = {
    "model": "Prepare a trained model for others: its text settings, card and archive.",
    "data": "Prepare text: download, generate and tokenize it, and convert it to ids.",
    "selection": "Language models for the selection of training text.",
    "test-set": "Translate and score test sets, and rescore n-best lists.",
    "moses": "Train and run Moses, the phrase-based system.",
    "figure": "Draw figures.",
    "page": "Write the playground.",
}
"""The description of each group."""
PIPELINE = "pipeline.cli"
"""The package of the pipeline's subcommands. A checkout of the project has it, an installed wheel does not."""


def pipeline_commands() -> tuple[Sections, Groups]:
    """Return the pipeline's `SECTIONS` and `GROUPS`, which are empty if this package is not in a checkout."""
    root = Path(nmt.__file__).resolve().parents[1]
    if not root.joinpath(*PIPELINE.split("."), "__init__.py").is_file():
        return {}, {}
    if str(root) not in sys.path:
        sys.path.append(str(root))  # an editable installation brings `nmt` alone
    pipeline = importlib.import_module(PIPELINE)
    return pipeline.SECTIONS, pipeline.GROUPS


@cache
def sections() -> Sections:
    """Return the available subcommands for direct use, by heading."""
    return SECTIONS | pipeline_commands()[0]


@cache
def groups() -> Groups:
    """Return the available groups of subcommands, in the order of `DESCRIPTIONS`."""
    here, pipeline = GROUPS, pipeline_commands()[1]
    merged = {name: here.get(name, {}) | pipeline.get(name, {}) for name in DESCRIPTIONS}
    return {name: members for name, members in merged.items() if members}


@cache
def subcommands() -> dict[str, str]:
    """Return the place of each subcommand's function, by its words: "translate", "data tokenize"."""
    people = {name: place for section in sections().values() for name, place in section.items()}
    return people | {
        f"{group} {name}": place for group, names in groups().items() for name, place in names.items()
    }


@cache
def subcommand(words: str) -> click.Command:
    """Import a subcommand, and have it check its files before it begins."""
    from nmt.cli.outputs import guarded

    module, _, function = subcommands()[words].partition(":")
    command: click.Command = getattr(importlib.import_module(module), function)
    command.name = words.split()[-1]
    assert command.callback
    command.callback = guarded(command, command.callback)
    return command


def called() -> str:
    """Return the command that runs: `nmt` and the subcommand's words."""
    words = sys.argv[1:3] if sys.argv[1:2] and sys.argv[1] in groups() else sys.argv[1:2]
    return " ".join(["nmt", *words])


_SENTENCE = 200
"""Upper limit for the length of a subcommand's first sentence, so that the help shows all of it."""


class LazyGroup(click.Group):
    """A group that imports the module of a subcommand only when it is needed."""

    def members(self) -> Sections:
        """Return the words of each subcommand by its name in this group, under the headings of the help."""
        assert self.name
        return {"Subcommands": {name: f"{self.name} {name}" for name in groups()[self.name]}}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all subcommands in the order of the help."""
        return [name for section in self.members().values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand."""
        for section in self.members().values():
            if cmd_name in section:
                return subcommand(section[cmd_name])
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand as click does, which suggests similar names."""
        name = args[0]
        if name.startswith("-") or name in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        hint = (
            ""
            if any(pipeline_commands())
            else " The pipeline's subcommands are in a checkout of the project."
        )
        if elsewhere := self.elsewhere(name):
            hint = f" Did you mean {' or '.join(f'`nmt {words}`' for words in elsewhere)}?"
        raise click.NoSuchCommand(
            name,
            f"No such command {name!r}.{hint}",
            possibilities=[] if elsewhere else self.list_commands(ctx),
            ctx=ctx,
        )

    def elsewhere(self, name: str) -> list[str]:
        """Return the words of the subcommands that have this name in their group, or whose function has it."""
        return [
            words
            for words, place in subcommands().items()
            if name in (words.split()[-1], place.partition(":")[2].replace("_", "-"))
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every subcommand with its first sentence, under its heading."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in self.members().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.described(ctx, name)) for name in names])

    def described(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a subcommand."""
        command = self.get_command(ctx, name)
        assert command
        return command.get_short_help_str(_SENTENCE)


class AllCommands(LazyGroup):
    """The subcommands for direct use, and the groups of the workflow's steps."""

    def members(self) -> Sections:
        """Return the words of each subcommand or group, under the headings of the help."""
        people = {heading: {name: name for name in names} for heading, names in sections().items()}
        return people | {
            "Steps of the workflow, in groups (nmt GROUP --help)": {name: name for name in groups()}
        }

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand, or make a group of names."""
        if cmd_name in groups():
            return LazyGroup(cmd_name, help=DESCRIPTIONS[cmd_name])
        return super().get_command(ctx, cmd_name)


@click.group(cls=AllCommands, context_settings={"max_content_width": 110})
@click.version_option(nmt.__version__, prog_name="nmt")
def commands() -> None:
    """Neural machine translation by jointly learning to align and translate (Bahdanau et al., 2015).

    The commands for direct use come first. The steps of the workflow are called by Snakemake, but each step also works
    by hand. `nmt COMMAND --help` shows the options of a command.
    """


def main() -> None:
    """Run a subcommand; an error of the input or of the system becomes one line on standard error."""
    job_progress.begin()
    os.environ.pop("MPLBACKEND", None)  # a notebook kernel's may not be installed here, and files need none
    try:
        commands(prog_name="nmt")
    except Exception as error:
        line = in_one_line(error)
        if line is None or os.environ.get("NMT_TRACEBACK"):
            raise
        fail(line)


def in_one_line(error: Exception) -> str | None:
    """Return the line for an error of the input or of the system; None for a fault of the program."""
    match error:
        case UserError():
            return str(error)
        case OSError():
            return str(of_system(error))
        case MemoryError():
            return f"{called()}: out of memory ({error}); use smaller batches, or a machine with more"
        case ModuleNotFoundError() if error.name and not error.name.startswith(("nmt", "pipeline")):
            hint = "install nmt-repro with its extra `workflow`"
            return f"{error.name}: not installed, but `{called()}` needs it: {hint}"
        case ImportError() if error.path and error.path.endswith(".so"):
            return f"{error.path}: cannot be loaded: {error}"
        case RuntimeError() if str(error).startswith("Symlink loop"):  # an OSError from Python 3.13 on
            return f"{error}; expected a path without such a loop"
        case RuntimeError() if "torch" in sys.modules:
            from nmt.model.device import out_of_memory

            line = out_of_memory(error, called())
            return str(line) if line else None
        case UnicodeError() | json.JSONDecodeError():
            return f"{called()}: {error}"
    return None


def fail(message: str) -> None:
    """Print one line and leave with the exit code for bad input."""
    click.echo(f"nmt: error: {printable(message)}", err=True)
    job_progress.failed(message)
    sys.exit(2)
