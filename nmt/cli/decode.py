"""The subcommands that run a trained model on a tokenized test set: decode, align, perplexity."""

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
    "--model", "model_path", required=True, type=EXISTING, help="Folder that `nmt train` wrote."
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
    help="Folder that `nmt train` wrote. Repeat it for an ensemble.",
)


@click.command()
@_trained_models
@average_option
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
@click.option("--output", required=True, type=FILE, help="JSON lines, one per sentence.")
def decode(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    reference: Path | None,
    mode: Literal["all", "no_unk"],
    settings: str,
    output: Path,
) -> None:
    """Translate a tokenized test set by beam search; one JSON line per sentence, with its alignment.

    Beside NAME.jsonl it writes NAME.made.json: settings, the weights' checksums, code, packages, device and seconds.
    Killed, the same command resumes where it stopped.
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
@click.option("--name", required=True, metavar="ID", help="Id of the model or system in the config.")
@click.option("--seed", type=int, help="Seed of the run; an ensemble has none.")
@_source
@click.option("--reference", required=True, type=EXISTING, help="Its tokenized translation.")
@_batch_size
@threads_option
@device_option
@click.option("--output", required=True, type=FILE, help="Perplexity, words and log-probability as JSON.")
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
    """Measure the perplexity of a tokenized test set's reference, per word, end symbols included."""
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
@click.option("--target", required=True, type=EXISTING, help="Its tokenized translation.")
@_batch_size
@threads_option
@device_option
@click.option("--output", required=True, type=FILE, help="JSON lines, one per sentence pair.")
def align(
    model_path: Path, source: Path, target: Path, batch_size: int, threads: int, device: str, output: Path
) -> None:
    """Write a model's attention while it reads given translations."""
    from nmt.decoding.test_set import align_file
    from nmt.model import trained_model
    from nmt.model.device import choose_device, make_deterministic

    make_deterministic(threads)
    model = trained_model.load(model_path, choose_device(device))
    align_file(model, source, target, batch_size, output)
