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
    are those of the last run (logs/jobs.json), before the first run those of config.yaml.
    """
    from pipeline.config.layers import find_layers, load
    from pipeline.monitor.jobs import FILE, read
    from pipeline.monitor.status import shown

    listed = folder / FILE
    config = read(listed).config if listed.exists() else load(find_layers(folder))
    click.echo(shown(config, folder))


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
@click.option(
    "--cluster", is_flag=True, help="Check for jobs that run on a Slurm cluster instead of this machine."
)
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
    """Check what the experiment in FOLDER (default: here) still needs.

    It checks disk, GPU, partitions and finished models, and estimates the hours. Every run of Snakemake does the
    same before its first job. Exit code 2 means that something is missing.
    """
    from pipeline.monitor.jobs import list_jobs
    from pipeline.monitor.partition_check import moved
    from pipeline.monitor.partition_check import partitions as known_partitions
    from pipeline.monitor.preflight import Work, forecast, missing

    listed = list_jobs(folder, files, pairs)
    sent = cluster or partitions or gpu_partitions
    work = Work.of_jobs(listed, moved(listed.due, partitions, gpu_partitions) if sent else None)
    for line in forecast(listed.config, work, folder) or ["nothing is left to train or to fetch"]:
        click.echo(line)
    if sent and not known_partitions().nodes:
        click.echo("no answer from sinfo here: partitions are not checked")
    if problems := missing(listed.config, work, folder):
        raise UserError(*problems)
