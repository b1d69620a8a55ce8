"""The subcommands that need torch: train, decode, align."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import FILE, FOLDER, parse_settings, settings_option, vocabularies
from nmt.config.schema import Decoding, ModelRun
from nmt.errors import UserError

EXISTING = click.Path(exists=True, path_type=Path)
_trained_model = click.option(
    "--model", "model_path", required=True, type=EXISTING, help="Folder that `nmt train` wrote."
)
_source = click.option("--source", required=True, type=EXISTING, help="Tokenized text, a sentence a line.")
MORE_TO_DO = 75
"""Exit code of a run that stopped in good order before its end (EX_TEMPFAIL: run it again)."""


@click.command()
@settings_option("The model's settings (as its folder's settings.json)")
@click.option("--train", "train_folder", required=True, type=EXISTING, help="Binarized training text.")
@click.option("--dev", "dev_folder", required=True, type=EXISTING, help="Binarized development text.")
@vocabularies
@click.option("--continue-from", type=EXISTING, help="final_state.safetensors of the model to train on from.")
@click.option(
    "--state", required=True, type=FOLDER, help="Folder for checkpoints; a killed run goes on from there."
)
@click.option("--output", required=True, type=FOLDER, help="Folder of the finished model.")
@click.option(
    "--if-locked",
    type=click.Choice(["wait", "refuse"]),
    default="refuse",
    show_default=True,
    help="What to do while another process trains in the same state folder.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="Stop in good order after so long, time spent waiting for another process included.",
)
@click.option(
    "--job-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=math.inf,
    help="In a job of Slurm: its time limit, should Slurm not tell it. Training stops in good order five minutes"
    " before, or a fifth of a short limit.",
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
    """Train one model, or go on where an earlier run of the same command was stopped.

    Writes model.safetensors, final_state.safetensors, summary.json, history.jsonl, settings.json and both
    vocabularies to OUTPUT when the run has reached its end. Exit code 75 says that it stopped in good order before
    that (signal, --max-seconds, the end of a job): run the same command again.
    """
    run = parse_settings(ModelRun, settings)
    from nmt.io import locks
    from nmt.model import trained_model
    from nmt.monitor.slurm import seconds_to_work
    from nmt.training.data import TrainingData
    from nmt.training.trainer import Trainer

    if (run.continue_from is None) != (continue_from is None):
        raise UserError(
            f"--continue-from: settings say {run.continue_from!r}, the option says {continue_from}"
        )
    deadline = time.monotonic() + min(max_seconds, seconds_to_work(job_minutes))
    with stopping_in_good_order(run), locks.hold(state, if_locked, deadline) as holding:
        data = TrainingData.open(train_folder, dev_folder, source_vocabulary, target_vocabulary)
        trainer = Trainer(run, data.train, data.dev, data.sizes, state)
        trainer.resume(continue_from)
        stopped_by = trainer.run(deadline - time.monotonic(), holding.lost)
        summary = trained_model.export(output, trainer, (source_vocabulary, target_vocabulary), stopped_by)
    click.echo(
        f"{run.label}: {summary['updates']:,} updates, {summary['hours']:.2f} hours, NLL a sentence: "
        f"train {summary['train_nll']:.2f}, dev {summary['dev_nll']:.2f} (stopped by {stopped_by})",
        err=True,
    )


@contextmanager
def stopping_in_good_order(run: ModelRun) -> Iterator[None]:
    """Turn a stop before the run's end, or a wait that took too long, into a line and an exit code of its own."""
    from nmt.io.locks import StillLocked
    from nmt.training.trainer import Interrupted

    try:
        yield
    except (Interrupted, StillLocked) as interruption:
        click.echo(f"nmt: {run.model}: {interruption}", err=True)
        sys.exit(MORE_TO_DO)


@click.command()
@click.option(
    "--model",
    "model_paths",
    required=True,
    multiple=True,
    type=EXISTING,
    help="Folder that `nmt train` wrote. Repeat it for an ensemble: the mean of the models' distributions.",
)
@_source
@click.option("--reference", type=EXISTING, help="Its tokenized translation; needed for --mode no_unk.")
@click.option(
    "--mode",
    type=click.Choice(["all", "no_unk"]),
    default="all",
    show_default=True,
    help="all: every line, [UNK] as the settings say. no_unk: lines known on both sides, [UNK] forbidden.",
)
@settings_option("The config's `decoding`")
@click.option("--output", required=True, type=FILE, help="JSON lines, one a sentence.")
def decode(
    model_paths: tuple[Path, ...],
    source: Path,
    reference: Path | None,
    mode: Literal["all", "no_unk"],
    settings: str,
    output: Path,
) -> None:
    """Translate a tokenized test set by beam search; one JSON line a sentence, with its alignment.

    Beside NAME.jsonl it writes NAME.made.json: settings, the weights' sums, code, packages, device and seconds. Killed,
    the same command goes on where it stopped.
    """
    decoding = parse_settings(Decoding, settings)
    if mode == "no_unk" and reference is None:
        raise UserError("--mode no_unk needs --reference: its sentences have no unknown word on both sides")
    from nmt.decoding.sidecar import Making
    from nmt.decoding.test_set import translate_file
    from nmt.decoding.text_translator import refuse_unlike
    from nmt.model import trained_model
    from nmt.model.memory import keep_freed_memory
    from nmt.model.trained_model import device_name
    from nmt.training.trainer import choose_device, make_deterministic

    make_deterministic(decoding.threads)
    keep_freed_memory()
    models = [trained_model.load(path, choose_device(decoding.device)) for path in model_paths]
    refuse_unlike(models)
    making = Making.of(mode, decoding, model_paths, device_name(choose_device(decoding.device)))
    done = translate_file(models, source, reference, mode, decoding, output)
    making.write(output, done.sentences, done.seconds, done.resumed)
    click.echo(f"{output}: {done.sentences:,} sentences", err=True)


@click.command()
@_trained_model
@_source
@click.option("--target", required=True, type=EXISTING, help="Its tokenized translation.")
@click.option(
    "--batch-size", type=click.IntRange(min=1), default=80, show_default=True, help="Pairs side by side."
)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="torch's threads.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="auto: the GPU where there is one.",
)
@click.option("--output", required=True, type=FILE, help="JSON lines, one a sentence pair.")
def align(
    model_path: Path, source: Path, target: Path, batch_size: int, threads: int, device: str, output: Path
) -> None:
    """Write a model's attention while it reads given translations."""
    from nmt.decoding.test_set import align_file
    from nmt.model import trained_model
    from nmt.training.trainer import choose_device, make_deterministic

    make_deterministic(threads)
    model = trained_model.load(model_path, choose_device(device))
    align_file(model, source, target, batch_size, output)
