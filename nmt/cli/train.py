"""The subcommand `nmt train`."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any, Literal

import click

from nmt.cli.options import (
    EXISTING,
    FOLDER,
    add_vocabulary_options,
    input_option,
    parse_settings,
    settings_option,
)
from nmt.settings.paper import add_run_defaults
from nmt.settings.training import ModelRun

STOPPED_EARLY = 75
"""Exit code of a training that stopped cleanly before its end (EX_TEMPFAIL): run the command again."""


@click.command()
@settings_option(
    "The settings of the model, as in settings.json of a trained model (missing keys have the values of the paper)"
)
@input_option("--train", help="Binarized training text.")
@input_option("--dev", help="Binarized development text.")
@add_vocabulary_options
@click.option("--continue-from", type=EXISTING, help="Folder of the finished model to continue from.")
@click.option(
    "--init-from",
    type=FOLDER,
    metavar="FOLDER",
    help="Folder of a model whose weights become the initial weights, for fine-tuning on new text or with a new "
    "learning rate. Model type, sizes and vocabularies must be the same. Only the weights are used.",
)
@click.option(
    "--store",
    "store_folder",
    required=True,
    type=FOLDER,
    help="Folder for all trainings. A killed training resumes from there, and a finished training is not repeated.",
)
@click.option(
    "--shared-store",
    "shared_stores",
    multiple=True,
    type=FOLDER,
    help="Store of another experiment, whose finished models are used, too. Repeat it for several stores.",
)
@click.option("--output", required=True, type=FOLDER, help="Folder for the finished model.")
@click.option(
    "--if-locked",
    type=click.Choice(["wait", "refuse"]),
    default="refuse",
    show_default=True,
    help="What to do if another process runs the same training.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="Stop cleanly after this number of seconds, which includes the time of waiting for another process.",
)
@click.option(
    "--job-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="Time limit of a Slurm job, used if Slurm does not report it. Training stops cleanly before the limit: five "
    "minutes, or a fifth of the limit if that is less.",
)
def train(
    settings: str,
    store_folder: Path,
    shared_stores: tuple[Path, ...],
    output: Path,
    if_locked: Literal["wait", "refuse"],
    max_seconds: float,
    job_minutes: float,
    **file_options: Any,
) -> None:
    """Train one model, resume its training, or copy it from the store if it is finished.

    The settings, the texts, the vocabularies and the model that is continued identify the training in the store. At
    its end, OUTPUT gets model.safetensors, final_state.safetensors, summary.json, history.jsonl, settings.json
    and both vocabularies. Exit code 75 means that the training stopped before its end (signal, --max-seconds, time
    limit of a job): run the same command again.
    """
    # These modules do not import PyTorch, which takes seconds and is not needed if the training is finished.
    from nmt.backend.arithmetic import prepare_arithmetic
    from nmt.io.system import seconds_until_stop
    from nmt.store.training_store import TrainingStore, compute_model_key, copy_model
    from nmt.training.training_files import TrainingFiles

    # 1. check that settings and options agree
    run = parse_settings(ModelRun, settings, add_run_defaults)
    files = TrainingFiles(**file_options)
    files.check_agreement(run)

    # 2. look for the finished model in the store, by a key of everything that the weights depend on
    deadline = time.monotonic() + min(max_seconds, seconds_until_stop(job_minutes))
    training_inputs = files.collect_inputs(run)
    store = TrainingStore(store_folder, shared_stores)
    model_folder = store.find_model(compute_model_key(training_inputs, run))

    # 3. if there is none, train it
    if model_folder:
        click.echo(f"nmt: {output.name}: is trained, in {model_folder}", err=True)
    else:
        prepare_arithmetic(run.training)
        from nmt.io.locks import StillLocked
        from nmt.training.stored_training import train_in_store
        from nmt.training.trainer import Interrupted

        try:
            model_folder = train_in_store(
                store, output.name, run, files, training_inputs, if_locked, deadline
            )
        except (Interrupted, StillLocked) as interruption:
            click.echo(f"nmt: {run.model}: {interruption}", err=True)
            sys.exit(STOPPED_EARLY)

    # 4. copy the finished model into the output folder
    summary = copy_model(model_folder, output, run)
    click.echo(
        f"{run.label}: {summary['updates']:,} updates, {summary['hours']:.2f} hours, NLL per sentence: "
        f"train {summary['train_nll']:.2f}, dev {summary['dev_nll']:.2f} (stopped by {summary['stopped_by']})",
        err=True,
    )
    if files.init_from and summary["updates"] and summary["best_update"] == 0:
        click.echo(
            f"nmt: {run.label}: no update was better than {files.init_from}, so the model keeps its weights",
            err=True,
        )
