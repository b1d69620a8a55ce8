"""The command `nmt`: one subcommand per stage, imported when it is called, so that `--help` stays quick."""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from pathlib import Path

import click

import nmt
from nmt.errors import UserError, of_system, printable
from nmt.io import job_progress

# heading of the help -> subcommand -> module that defines it (dashes become underscores)
Sections = dict[str, dict[str, str]]
SECTIONS: Sections = {
    "Use a trained model": {
        "translate": "nmt.cli.translate",
        "score": "nmt.cli.translate",
        "vectors": "nmt.cli.vectors",
        "tree": "nmt.cli.tree",
    },
    "Train a model and share it": {
        "train": "nmt.cli.train",
        "package": "nmt.cli.translate",
        "shortlist": "nmt.cli.shortlist",
        "model-card": "nmt.cli.archive",
        "release": "nmt.cli.archive",
        "unpack": "nmt.cli.archive",
    },
}
"""What people call."""
STEPS: Sections = {
    "Pipeline steps that prepare text": {
        "clean": "nmt.cli.data",
        "tokenize": "nmt.cli.data",
        "overlap": "nmt.cli.data",
        "vocabulary": "nmt.cli.data",
        "binarize": "nmt.cli.data",
    },
    "Pipeline steps that select training data": {
        "lm-sample": "nmt.cli.selection",
        "kenlm-programs": "nmt.cli.selection",
        "lm-train": "nmt.cli.selection",
        "select-score": "nmt.cli.selection",
        "select-threshold": "nmt.cli.selection",
        "select-apply": "nmt.cli.selection",
    },
    "Pipeline steps that translate and score test sets": {
        "decode": "nmt.cli.decode",
        "align": "nmt.cli.decode",
        "perplexity": "nmt.cli.decode",
        "trees": "nmt.cli.tree",
        "rescore": "nmt.cli.rescore",
        "oracle": "nmt.cli.rescore",
        "evaluate": "nmt.cli.evaluate",
        "alignment-error-rate": "nmt.cli.evaluate",
    },
}
"""What mostly the workflow calls."""
PIPELINE = "pipeline.cli"
"""Where the pipeline has its subcommands: a checkout of the project has it, an installed wheel does not."""


def pipeline_sections() -> tuple[Sections, Sections]:
    """The pipeline's `SECTIONS` and `STEPS`; none where there is no checkout around this package."""
    root = Path(nmt.__file__).resolve().parents[1]
    if not root.joinpath(*PIPELINE.split("."), "__init__.py").is_file():
        return {}, {}
    if str(root) not in sys.path:
        sys.path.append(str(root))  # an editable installation brings `nmt` alone
    pipeline = importlib.import_module(PIPELINE)
    return pipeline.SECTIONS, pipeline.STEPS


@cache
def sections() -> Sections:
    """All subcommands that are at hand: those that people call, then the steps of the workflow."""
    people, steps = pipeline_sections()
    return {**SECTIONS, **people, **STEPS, **steps}


@cache
def subcommands() -> dict[str, str]:
    """The module of each subcommand."""
    return {name: module for section in sections().values() for name, module in section.items()}


@cache
def subcommand(name: str) -> click.Command:
    """Import a subcommand; its files are looked at before it begins."""
    from nmt.cli.outputs import guarded

    module = importlib.import_module(subcommands()[name])
    command: click.Command = getattr(module, name.replace("-", "_"))
    assert command.callback
    command.callback = guarded(command, command.callback)
    return command


_SENTENCE = 200
"""More letters than a subcommand's first sentence has; the help shows it whole."""


class LazyGroup(click.Group):
    """A group that imports the module of a subcommand only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All subcommands in the order of the help."""
        return list(subcommands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand."""
        if cmd_name not in subcommands():
            return None
        return subcommand(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, which suggests a name that is near; without a checkout, where the others are."""
        name = args[0]
        if name.startswith("-") or name in subcommands():
            return super().resolve_command(ctx, args)
        elsewhere = (
            ""
            if any(pipeline_sections())
            else " The pipeline's subcommands are in a checkout of the project."
        )
        raise click.NoSuchCommand(
            name, f"No such command {name!r}.{elsewhere}", possibilities=subcommands(), ctx=ctx
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every subcommand with its first sentence, under the heading of what it is for."""
        width = max(map(len, subcommands()))
        for heading, names in sections().items():
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

    What people call comes first. Snakemake calls the pipeline's steps, and each also works by hand. `nmt SUBCOMMAND
    --help` has the options.
    """


def main() -> None:
    """Run a subcommand; a `UserError` or a full disk becomes one line on standard error."""
    job_progress.begin()
    try:
        commands(prog_name="nmt")
    except UserError as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        if os.environ.get("NMT_TRACEBACK") or not error.name or error.name.startswith(("nmt", "pipeline")):
            raise
        command = " ".join(["nmt", *sys.argv[1:2]])
        fail(
            f"{error.name}: not installed, but `{command}` needs it: install nmt-repro with its extra `workflow`"
        )
    except RuntimeError as error:
        fail(str(_of_runtime(error)))
    except OSError as error:
        if os.environ.get("NMT_TRACEBACK"):
            raise
        fail(str(of_system(error)))


def _of_runtime(error: RuntimeError) -> UserError:
    """What is said of a loop of links, and of an error of torch's for want of memory; raises others again."""
    if str(error).startswith("Symlink loop"):  # an OSError from Python 3.13 on
        return UserError(f"{error}; expected a path that ends somewhere")
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
