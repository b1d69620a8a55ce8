"""The subcommands `nmt status` and `nmt preflight`, which report on a whole experiment."""

from pathlib import Path

import click

from nmt.cli.options import parse_existing_folder
from nmt.errors import UserError

folder_argument = click.argument("folder", type=parse_existing_folder, default=".")


@click.command()
@folder_argument
def status(folder: Path) -> None:
    """Show how far the trainings of the experiment in FOLDER are, and which of them run, wait or have failed.

    \b
        nmt status experiments/demo

    Without FOLDER, the experiment is in the working directory. The development score is the NLL in nats per sentence,
    or BLEU if training.dev_score says so. To repeat the command regularly, run `watch nmt status FOLDER`.

    The command only reads files, so it works during and after a run, on any machine with access to the folder. It uses
    the settings of the last run (settings/run.json) or, before the first run, those of config.yaml.
    """
    from pipeline.monitor.status import format_status_table, read_last_settings

    click.echo(format_status_table(read_last_settings(folder), folder))


@click.command()
@folder_argument
@click.option(
    "--profile", help="Profile of Snakemake, such as slurm, with which jobs are submitted to a cluster."
)
def preflight(folder: Path, profile: str | None) -> None:
    """Check whether the experiment in FOLDER has what it needs: disk, GPU, partitions and programs.

    \b
        nmt preflight experiments/multi30k
        nmt preflight --profile slurm

    Without FOLDER, the experiment is in the working directory. The command also estimates the hours of training. Every
    run of Snakemake does the same before its first job. Exit code 2 means that something is missing.
    """
    from pipeline.monitor.preflight import run_preflight

    snakemake_options = ["--profile", profile] if profile else ["--cores", "1"]
    forecast, problems = run_preflight(folder, snakemake_options)

    if not forecast and not problems:
        forecast = ["nothing is left to train or to download"]
    for line in forecast:
        click.echo(line)
    if problems:
        raise UserError(*problems)
