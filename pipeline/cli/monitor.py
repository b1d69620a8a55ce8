"""The subcommands about a whole experiment: status, preflight."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.errors import UserError

FOLDER = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")


@click.command()
@FOLDER
def status(folder: Path) -> None:
    """Show how far the trainings of the experiment in FOLDER (default: here) are: what runs, waits or has failed.

    The development score is the NLL in nats per sentence, or BLEU if training.dev_score says so. To repeat the command
    regularly, call `watch nmt status FOLDER`.

    The command only reads files, so it works during and after a run, on any machine with access to the folder. Settings
    are those of the last call of Snakemake (settings/run.json), before the first run those of config.yaml.
    """
    from pipeline.monitor.status import format_status_table, read_last_settings

    click.echo(format_status_table(read_last_settings(folder), folder))


@click.command()
@FOLDER
@click.option(
    "--configfile",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings file that overrides the folder's, as given to Snakemake.",
)
@click.option(
    "--config",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Single key that overrides the settings, as given to Snakemake. Repeat it.",
)
@click.option("--profile", help="Profile of Snakemake, such as slurm: the jobs are sent to a cluster.")
def preflight(folder: Path, files: tuple[Path, ...], pairs: tuple[str, ...], profile: str | None) -> None:
    """Check what the experiment in FOLDER (default: here) still needs.

    It checks disk, GPU, partitions and finished models, and estimates the hours. Every run of Snakemake does the
    same before its first job. Exit code 2 means that something is missing.
    """
    from pipeline.config.layers import read_layer
    from pipeline.monitor.preflight import check

    for file in files:  # what Snakemake says of such a file does not name it
        read_layer(file)
    options = ["--profile", profile] if profile else ["--cores", "1"]
    options += ["--configfile", *(str(file.absolute()) for file in files)] if files else []
    options += ["--config", *pairs] if pairs else []
    forecast, problems = check(folder, options)
    for line in forecast or ["nothing is left to train or to fetch"] * (not problems):
        click.echo(line)
    if problems:
        raise UserError(*problems)
