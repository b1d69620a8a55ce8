"""Subcommands that run a trained model on a tokenized test set: test-set decode, align and perplexity."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import (
    EXISTING,
    FILE,
    average_option,
    batch_size_option,
    compute_options,
    load_models,
    model_option,
    models_option,
    parse_settings,
    settings_option,
    source_option,
)
from nmt.errors import UserError
from nmt.settings.decoding import Average, ComputeOptions, Decoding


@click.command()
@models_option
@average_option
@source_option
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
    from nmt.model import trained_model
    from nmt.model.device import device_name

    models = trained_model.load_all(model_paths, decoding.device, decoding.threads)
    making = Making.of(mode, decoding, model_paths, device_name(models[0].device), average)
    done = translate_file(models, source, reference, mode, decoding, output, average)
    making.write(output, done.sentences, done.seconds, done.resumed)
    click.echo(f"{output}: {done.sentences:,} sentences", err=True)


@click.command()
@models_option
@average_option
@click.option("--name", required=True, metavar="ID", help="Id of the model or ensemble in the config.")
@click.option("--seed", type=int, help="Seed of the run. An ensemble has none.")
@source_option
@click.option("--reference", required=True, type=EXISTING, help="Tokenized reference translation.")
@batch_size_option("Pairs")
@compute_options
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
    compute: ComputeOptions,
    output: Path,
) -> None:
    """Measure the perplexity per word of a tokenized test set's reference, end symbols included."""
    from nmt.decoding.perplexity import perplexity as measure
    from nmt.io.files import write_json

    models = load_models(model_paths, compute)
    found = measure(models, source, reference, batch_size, average)
    write_json(output, {"model": name, "seed": seed, **found})


@click.command()
@model_option
@source_option
@click.option("--target", required=True, type=EXISTING, help="Tokenized translation of --source.")
@batch_size_option("Pairs")
@compute_options
@click.option(
    "--output", required=True, type=FILE, help="File for the attention: JSON lines, one per sentence pair."
)
def align(
    model_path: Path, source: Path, target: Path, batch_size: int, compute: ComputeOptions, output: Path
) -> None:
    """Write the attention of a model while it is fed given translations (teacher forcing)."""
    from nmt.decoding.test_set import align_file

    (model,) = load_models([model_path], compute)
    align_file(model, source, target, batch_size, output)
