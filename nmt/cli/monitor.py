"""The subcommands about a whole experiment: status, preflight."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from nmt.config.faults import shortened
from nmt.config.overlays import find_layers, load
from nmt.config.schema import Config
from nmt.config.yaml_text import parse
from nmt.errors import UserError

PACKAGE = Path(__file__).resolve().parents[2]


def experiment(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and options by which a command finds an experiment and its settings."""
    options = [
        click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default="."),
        click.option(
            "--configfile",
            "files",
            multiple=True,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Settings that override the folder's, as given to Snakemake.",
        ),
        click.option("--config", "pairs", multiple=True, metavar="KEY=VALUE", help="The same, single keys."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def settings(folder: Path, files: tuple[Path, ...], pairs: tuple[str, ...]) -> Config:
    """The settings of the experiment in a folder: the paper's, its own and what the command line lays over them."""
    return load(find_layers(_paper(folder), folder, files, dict(map(_pair, pairs))))


def _paper(folder: Path) -> Path:
    """The paper's settings: of the repository that the folder lies in, or that this package lies in."""
    for place in (folder.resolve(), *folder.resolve().parents, PACKAGE):
        if (place / "Snakefile").is_file() and (place / "config.yaml").is_file():
            return place / "config.yaml"
    raise UserError(
        f"{folder}: no Snakefile with a config.yaml beside it here or above; expected an experiment's folder"
    )


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--config {text}: expected KEY=VALUE, such as seed=2")
    try:
        return key, parse(value)
    except ValueError as error:
        raise UserError(f"--config {shortened(text)}: {error}; write the value as in config.yaml") from None


@click.command()
@experiment
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def status(folder: Path, files: tuple[Path, ...], pairs: tuple[str, ...], as_json: bool) -> None:
    """Show how far the experiment in FOLDER (default: here) is: what is done, runs, waits or has failed.

    For every stage and model: rate, time left, last and best development score. Reads files only, so it works beside a
    run, from any machine that sees the folder, and after the end. Development scores are NLLs in nats per sentence, or
    BLEU where training.dev_score says so. `watch nmt status FOLDER` looks again and again.
    """
    from nmt.monitor.status import look, shown

    found = look(settings(folder, files, pairs), folder)
    sys.stdout.write((found.as_json() if as_json else shown(found)) + "\n")


@click.command()
@experiment
@click.option("--cluster", is_flag=True, help="The jobs are to run on a Slurm cluster, not on this machine.")
@click.option("--partition", "partitions", multiple=True, help="Partition for jobs without a GPU. Repeat it.")
@click.option(
    "--gpu-partition", "gpu_partitions", multiple=True, help="Partition for jobs with a GPU. Repeat it."
)
def preflight(
    folder: Path,
    files: tuple[Path, ...],
    pairs: tuple[str, ...],
    cluster: bool,
    partitions: tuple[str, ...],
    gpu_partitions: tuple[str, ...],
) -> None:
    """Check what the experiment in FOLDER (default: here) still needs: hours, disk, GPU, network, partitions, lmplz.

    Every run of Snakemake does the same before its first job. Exit code 2 says that something is missing.
    """
    from nmt.monitor.preflight import forecast, missing, on_partitions, work_left

    config = settings(folder, files, pairs)
    sent = cluster or partitions or gpu_partitions
    asked = on_partitions(config, folder, partitions, gpu_partitions) if sent else None
    work = work_left(config, folder, asked)
    for line in forecast(config, work, folder) or ["nothing is left to train or to fetch"]:
        click.echo(line)
    problems = missing(config, work, folder)
    if problems:
        raise UserError("\n".join(problems))
