"""Subcommands that run a trained model on a tokenized test set: test-set decode, align and perplexity."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import (
    FILE,
    average_option,
    device_option,
    parse_settings,
    settings_option,
    threads_option,
)
from nmt.errors import UserError
from nmt.settings.base import MOST_SENTENCES
from nmt.settings.decoding import Average, Decoding

EXISTING = click.Path(exists=True, path_type=Path)
_trained_model = click.option(
    "--model",
    "model_path",
    required=True,
    type=EXISTING,
    help="Folder of a trained model, written by `nmt train`.",
)
_source = click.option(
    "--source", required=True, type=EXISTING, help="Tokenized text, one sentence per line."
)


_trained_models = click.option(
    "--model",
    "model_paths",
    required=True,
    multiple=True,
    type=EXISTING,
    help="Folder of a trained model, written by `nmt train`. Repeat it for an ensemble.",
)


@click.command()
@_trained_models
@average_option
@_source
@click.option("--reference", type=EXISTING, help="Tokenized reference translation, needed for --mode no_unk.")
@click.option(
    "--mode",
    type=click.Choice(["all", "no_unk"]),
    default="all",
    show_default=True,
    help="all: every line; the settings say whether [UNK] is allowed. no_unk: only lines without unknown words on both"
    " sides; [UNK] is forbidden.",
)
@settings_option("The config's `decoding`")
@click.option(
    "--output", required=True, type=FILE, help="File for the translations: JSON lines, one per sentence."
)
def decode(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    reference: Path | None,
    mode: Literal["all", "no_unk"],
    settings: str,
    output: Path,
) -> None:
    """Translate a tokenized test set by beam search. The output has one JSON line per sentence, with its alignment.

    Beside NAME.jsonl, the command writes NAME.made.json: settings, checksums of the weights, code, packages, device and
    seconds. If the command is killed, the same command resumes the work.
    """
    decoding = parse_settings(Decoding, settings)
    if mode == "no_unk" and reference is None:
        raise UserError("--mode no_unk needs --reference: its sentences have no unknown word on both sides")
    from nmt.decoding.sidecar import Making
    from nmt.decoding.test_set import translate_file
    from nmt.decoding.text_translator import refuse_unlike
    from nmt.model import trained_model
    from nmt.model.device import choose_device, device_name, keep_freed_memory, make_deterministic

    make_deterministic(decoding.threads)
    keep_freed_memory()
    models = [trained_model.load(path, choose_device(decoding.device)) for path in model_paths]
    refuse_unlike(models)
    making = Making.of(mode, decoding, model_paths, device_name(choose_device(decoding.device)), average)
    done = translate_file(models, source, reference, mode, decoding, output, average)
    making.write(output, done.sentences, done.seconds, done.resumed)
    click.echo(f"{output}: {done.sentences:,} sentences", err=True)


_batch_size = click.option(
    "--batch-size",
    type=click.IntRange(1, MOST_SENTENCES),
    default=80,
    show_default=True,
    help="Pairs per batch.",
)


@click.command()
@_trained_models
@average_option
@click.option("--name", required=True, metavar="ID", help="Id of the model or ensemble in the config.")
@click.option("--seed", type=int, help="Seed of the run. An ensemble has none.")
@_source
@click.option("--reference", required=True, type=EXISTING, help="Tokenized reference translation.")
@_batch_size
@threads_option
@device_option
@click.option(
    "--output", required=True, type=FILE, help="JSON file for perplexity, words and log-probability."
)
def perplexity(
    model_paths: tuple[Path, ...],
    average: Average,
    name: str,
    seed: int | None,
    source: Path,
    reference: Path,
    batch_size: int,
    threads: int,
    device: str,
    output: Path,
) -> None:
    """Measure the perplexity per word of a tokenized test set's reference, end symbols included."""
    from nmt.decoding.perplexity import perplexity as measure
    from nmt.decoding.text_translator import refuse_unlike
    from nmt.io.files import write_json
    from nmt.model import trained_model
    from nmt.model.device import choose_device, make_deterministic

    make_deterministic(threads)
    models = [trained_model.load(path, choose_device(device)) for path in model_paths]
    refuse_unlike(models)
    found = measure(models, source, reference, batch_size, average)
    write_json(output, {"model": name, "seed": seed, **found})


@click.command()
@_trained_model
@_source
@click.option("--target", required=True, type=EXISTING, help="Tokenized translation of --source.")
@_batch_size
@threads_option
@device_option
@click.option(
    "--output", required=True, type=FILE, help="File for the attention: JSON lines, one per sentence pair."
)
def align(
    model_path: Path, source: Path, target: Path, batch_size: int, threads: int, device: str, output: Path
) -> None:
    """Write the attention of a model while it is fed given translations (teacher forcing)."""
    from nmt.decoding.test_set import align_file
    from nmt.model import trained_model
    from nmt.model.device import choose_device, make_deterministic

    make_deterministic(threads)
    model = trained_model.load(model_path, choose_device(device))
    align_file(model, source, target, batch_size, output)
