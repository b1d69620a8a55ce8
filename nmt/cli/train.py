"""The subcommands that train and share models: train, model package, model release, unpack and shortlist."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import (
    EXISTING,
    FILE,
    FOLDER,
    add_vocabulary_options,
    file_option,
    input_option,
    model_option,
    output_option,
    parse_settings,
    settings_option,
)
from nmt.errors import UserError
from nmt.settings.decoding import TextSettings
from nmt.settings.paper import add_run_defaults, add_text_defaults
from nmt.settings.training import ModelRun

STOPPED_EARLY = 75
"""Exit code of a training that stopped cleanly before its end (EX_TEMPFAIL): run the command again."""


@click.command()
@settings_option(
    "The settings of the model, as in settings.json of a trained model (missing keys have the values of the paper)"
)
@input_option("--train", "train_folder", help="Binarized training text.")
@input_option("--dev", "dev_folder", help="Binarized development text.")
@add_vocabulary_options
@click.option("--continue-from", type=EXISTING, help="Folder of the finished model to continue from.")
@click.option(
    "--init-from",
    type=FOLDER,
    metavar="FOLDER",
    help="Folder of a model whose weights become the initial weights, for fine-tuning on other text or with another "
    "learning rate. Model type, sizes and vocabularies must be the same. Nothing but the weights is used.",
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
    help="Time limit of a Slurm job, used if Slurm does not report it. Training stops cleanly five minutes before the "
    "limit, or a fifth of the limit before it, if that is less.",
)
def train(
    settings: str,
    train_folder: Path,
    dev_folder: Path,
    source_vocabulary: Path,
    target_vocabulary: Path,
    continue_from: Path | None,
    init_from: Path | None,
    store_folder: Path,
    shared_stores: tuple[Path, ...],
    output: Path,
    if_locked: Literal["wait", "refuse"],
    max_seconds: float,
    job_minutes: float,
) -> None:
    """Train one model, resume its training, or link to it if it is finished.

    The settings, the texts, the vocabularies and the model that is continued decide which training of the store this
    is. At its end, OUTPUT gets model.safetensors, final_state.safetensors, summary.json, history.jsonl, settings.json
    and both vocabularies. Exit code 75 means that the training stopped before its end (signal, --max-seconds, time
    limit of a job): run the same command again.
    """
    # These modules do not import PyTorch, which takes seconds and is not needed if the training is finished.
    from nmt.data.meta import data_checksums, read_meta
    from nmt.io.system import seconds_until_stop
    from nmt.store.model_folder import initial_weights_checksum, read_model_key
    from nmt.store.result_store import TrainingStore, collect_training_inputs, compute_model_key, link_model

    # 1. check that settings and options agree
    run = parse_settings(ModelRun, settings, add_run_defaults)
    if (run.continue_from is None) != (continue_from is None):
        raise UserError(
            f"--continue-from: settings say {run.continue_from!r}, the option says {continue_from}"
        )
    if continue_from and init_from:
        raise UserError("--continue-from, --init-from: a training begins with one model; give one of them")

    # 2. look for the finished model in the store, by a key of everything that the weights depend on
    deadline = time.monotonic() + min(max_seconds, seconds_until_stop(job_minutes))
    base_key = read_model_key(continue_from) if continue_from else None
    data = data_checksums(read_meta(train_folder), read_meta(dev_folder))
    data |= initial_weights_checksum(init_from)
    training_inputs = collect_training_inputs(run, data, base_key)
    store = TrainingStore(store_folder, shared_stores)
    model_folder = store.find_model(compute_model_key(training_inputs, run))

    # 3. if there is none, train it
    if model_folder:
        click.echo(f"nmt: {output.name}: is trained, in {model_folder}", err=True)
    else:
        from nmt.io.locks import StillLocked
        from nmt.training.stored_training import TrainingFiles, train_in_store
        from nmt.training.trainer import Interrupted

        files = TrainingFiles(
            train=train_folder,
            dev=dev_folder,
            source_vocabulary=source_vocabulary,
            target_vocabulary=target_vocabulary,
            base=continue_from,
            base_key=base_key,
            init_from=init_from,
        )
        try:
            model_folder = train_in_store(
                store, output.name, run, files, training_inputs, if_locked, deadline
            )
        except (Interrupted, StillLocked) as interruption:
            click.echo(f"nmt: {run.model}: {interruption}", err=True)
            sys.exit(STOPPED_EARLY)

    # 4. link or copy the finished model into the output folder
    summary = link_model(store, model_folder, output, run)
    click.echo(
        f"{run.label}: {summary['updates']:,} updates, {summary['hours']:.2f} hours, NLL per sentence: "
        f"train {summary['train_nll']:.2f}, dev {summary['dev_nll']:.2f} (stopped by {summary['stopped_by']})",
        err=True,
    )


@click.command(short_help="Write text.json into the folder of a model, so that it can translate raw text.")
@model_option
@settings_option("`languages`, `tokenization` and `decoding` (missing keys have the values of the paper)")
def package(model_path: Path, settings: str) -> None:
    """Write text.json into the folder of a model, so that it can translate raw text.

    The file has both languages, the tokenization and the default settings of decoding. No other file of the folder
    changes. The folder can then be moved anywhere.
    """
    from nmt.store import model_folder

    model_folder.write_text_settings(model_path, parse_settings(TextSettings, settings, add_text_defaults))


@click.command()
@model_option
@click.option(
    "--with-final-state",
    is_flag=True,
    help="Also pack the final state of training, from which it can continue.",
)
@click.option(
    "--bits",
    type=click.Choice([32, 16]),
    default=32,
    show_default=True,
    help="Bits per weight. With 16, the archive is half as large, but some translations change.",
)
@output_option(metavar="FILE.tar.zst", help="Archive to write.")
def release(model_path: Path, with_final_state: bool, bits: int, output: Path) -> None:
    """Pack a model for others: weights, vocabularies, settings, summary, model card and checksums in one archive.

    `nmt unpack` (or `tar --zstd -xf`) unpacks the folder for `nmt translate --model`. Equal models give archives with
    equal bytes.
    """
    from nmt.store.archive import pack_model

    file_names = pack_model(model_path, output, with_final_state, bits)
    click.echo(f"{output}: {', '.join(file_names)}", err=True)


@click.command()
@click.argument("archives", type=FILE, nargs=-1, required=True)
@click.option(
    "--output",
    type=FOLDER,
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Folder in which the folders of the models are created.",
)
def unpack(archives: Sequence[Path], output: Path) -> None:
    """Unpack archives of `nmt model release`, each into a folder named like its model, and verify their checksums."""
    from nmt.store.archive import unpack_model

    for archive in archives:
        click.echo(unpack_model(archive, output))


LIKELY_TRANSLATIONS, FREQUENT_WORDS = 20, 1000


@click.command(short_help="Write a shortlist: the likely translations of each source word.")
@model_option
@file_option(
    "--bitext",
    "Folder of the binarized training text of the model: data/binary/train of its experiment.",
    metavar="FOLDER",
)
@click.option(
    "--likely",
    "likely_count",
    type=click.IntRange(1, 100_000),
    default=LIKELY_TRANSLATIONS,
    show_default=True,
    help="Number of target words per source word.",
)
@click.option(
    "--frequent",
    "frequent_count",
    type=click.IntRange(0),
    default=FREQUENT_WORDS,
    show_default=True,
    help="Number of the most frequent target words, which are allowed in every sentence.",
)
@file_option("--output", "File for `nmt translate --shortlist`.")
def shortlist(model_path: Path, bitext: Path, likely_count: int, frequent_count: int, output: Path) -> None:
    """Write a shortlist for `nmt translate --shortlist`: the likely translations of each source word.

    These are the target words that are most associated with the source word, by Dice's coefficient over sentence pairs.
    """
    from nmt.data.bitext import Bitext
    from nmt.decoding.shortlist import make_shortlist
    from nmt.store.trained_model import read_vocabularies

    make_shortlist(
        vocabularies=read_vocabularies(model_path),
        bitext=Bitext.open(bitext),
        likely_count=likely_count,
        frequent_count=frequent_count,
        output=output,
    )
