"""The subcommand `train`."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import EXISTING, FOLDER, parse_settings, settings_option, vocabularies
from nmt.errors import UserError
from nmt.settings.training import ModelRun

MORE_TO_DO = 75
"""Exit code of a run that stopped cleanly before its end (EX_TEMPFAIL): run the command again."""


@click.command()
@settings_option("The model's settings, as in settings.json of a model's folder")
@click.option("--train", "train_folder", required=True, type=EXISTING, help="Binarized training text.")
@click.option("--dev", "dev_folder", required=True, type=EXISTING, help="Binarized development text.")
@vocabularies
@click.option("--continue-from", type=EXISTING, help="final_state.safetensors of the model to continue from.")
@click.option(
    "--state", required=True, type=FOLDER, help="Folder for checkpoints. A killed run resumes from there."
)
@click.option("--output", required=True, type=FOLDER, help="Folder for the finished model.")
@click.option(
    "--if-locked",
    type=click.Choice(["wait", "refuse"]),
    default="refuse",
    show_default=True,
    help="What to do if another process is training in the same state folder.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="Stop cleanly after this number of seconds, including the time spent waiting for another process.",
)
@click.option(
    "--job-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="Time limit of a Slurm job, used if Slurm does not report it. Training stops cleanly five minutes before the"
    " limit, or a fifth of the limit before if it is short.",
)
def train(
    settings: str,
    train_folder: Path,
    dev_folder: Path,
    source_vocabulary: Path,
    target_vocabulary: Path,
    continue_from: Path | None,
    state: Path,
    output: Path,
    if_locked: Literal["wait", "refuse"],
    max_seconds: float,
    job_minutes: float,
) -> None:
    """Train one model, or resume an earlier run of the same command.

    At the end of the training, OUTPUT gets model.safetensors, final_state.safetensors, summary.json, history.jsonl,
    settings.json and both vocabularies. Exit code 75 means that the training stopped before its end (signal,
    --max-seconds, time limit of a job): run the same command again.
    """
    run = parse_settings(ModelRun, settings)
    from nmt.io import locks
    from nmt.io.system import seconds_to_work
    from nmt.training.checkpoint import export
    from nmt.training.data import open_data
    from nmt.training.trainer import Trainer

    if (run.continue_from is None) != (continue_from is None):
        raise UserError(
            f"--continue-from: settings say {run.continue_from!r}, the option says {continue_from}"
        )
    deadline = time.monotonic() + min(max_seconds, seconds_to_work(job_minutes))
    with stopping_in_good_order(run), locks.hold(state, if_locked, deadline) as holding:
        data = open_data(train_folder, dev_folder, source_vocabulary, target_vocabulary)
        trainer = Trainer(run, *data, state)
        trainer.resume(continue_from)
        stopped_by = trainer.run(deadline - time.monotonic(), holding.lost)
        summary = export(output, trainer, (source_vocabulary, target_vocabulary), stopped_by)
    click.echo(
        f"{run.label}: {summary['updates']:,} updates, {summary['hours']:.2f} hours, NLL per sentence: "
        f"train {summary['train_nll']:.2f}, dev {summary['dev_nll']:.2f} (stopped by {stopped_by})",
        err=True,
    )


@contextmanager
def stopping_in_good_order(run: ModelRun) -> Iterator[None]:
    """Turn an early stop, or a wait that took too long, into one line and the exit code `MORE_TO_DO`."""
    from nmt.io.locks import StillLocked
    from nmt.training.trainer import Interrupted

    try:
        yield
    except (Interrupted, StillLocked) as interruption:
        click.echo(f"nmt: {run.model}: {interruption}", err=True)
        sys.exit(MORE_TO_DO)
