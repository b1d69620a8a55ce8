"""The subcommands for tokenized test sets: test-set decode, perplexity, align, rescore and oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from nmt.backend.arithmetic import prepare_arithmetic
from nmt.cli.options import (
    EXISTING,
    FILE,
    average_option,
    compute_options,
    input_option,
    load_models,
    model_option,
    models_option,
    output_option,
    parse_settings,
    settings_option,
    source_option,
)
from nmt.errors import UserError
from nmt.evaluation.translations import initial_provenance, provenance_path, write_provenance
from nmt.io.files import is_replaceable, write_json
from nmt.settings.base import read_settings
from nmt.settings.decoding import Average, ComputeOptions, Decoding
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, WEIGHTS

_reference_option = input_option("--reference", help="Tokenized reference translation.")


def _prepare_arithmetic(folders: Sequence[Path]) -> None:
    """Let this process compute in portable arithmetic if a model in one of these folders was trained in it."""
    for folder in folders:
        prepare_arithmetic(read_settings(ModelRun, folder / SETTINGS).training)


def _check_replaceable(output: Path, neighbour: str) -> None:
    """Raise a UserError if an output is a pipe, a device or standard output, beside which nothing can be written."""
    if not is_replaceable(output):
        raise UserError(f"{output}: expected a file; {neighbour} is written beside it")


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
    help="all: translate every line; the settings say whether [UNK] is allowed. no_unk: translate only lines without "
    "unknown words on either side; [UNK] is forbidden.",
)
@settings_option("The key `decoding` of config.yaml")
@output_option(help="File for the translations: JSON lines, one per sentence.")
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

    The command also writes NAME.provenance.json for the output NAME.jsonl. That file has the settings, the checksums of
    the weights, the versions of code and packages, the device and the seconds.
    """
    decoding = parse_settings(Decoding, settings)
    if mode == "no_unk" and reference is None:
        raise UserError(
            "--mode no_unk needs --reference, to choose the lines without unknown words on either side"
        )
    _check_replaceable(output, provenance_path(output).name)

    _prepare_arithmetic(model_paths)
    from nmt.backend.device import device_name
    from nmt.decoding.sentence_sets import translate_file
    from nmt.store import trained_model

    models = trained_model.load_models(model_paths, decoding.device, decoding.threads)
    weights = [folder / WEIGHTS for folder in model_paths]
    provenance = initial_provenance(mode, decoding, weights, device_name(models[0].device), average)
    summary = translate_file(
        models=models,
        source=source,
        reference=reference,
        mode=mode,
        decoding=decoding,
        output=output,
        average=average,
    )
    write_provenance(provenance | summary, output)
    click.echo(f"{output}: {summary['sentences']:,} sentences", err=True)


@click.command()
@models_option
@average_option
@click.option("--name", required=True, metavar="ID", help="Id of the model or ensemble in config.yaml.")
@click.option("--seed", type=int, help="Seed of the run. An ensemble has none.")
@source_option
@_reference_option
@compute_options()
@output_option(help="JSON file for perplexity, words and log-probability.")
def perplexity(
    model_paths: tuple[Path, ...],
    average: Average,
    name: str,
    seed: int | None,
    source: Path,
    reference: Path,
    compute: ComputeOptions,
    output: Path,
) -> None:
    """Measure the perplexity per word of the reference of a test set, with end-of-sentence symbols."""
    _prepare_arithmetic(model_paths)
    from nmt.decoding.sentence_sets import measure_perplexity

    models, batch_size = load_models(model_paths, compute)
    result = measure_perplexity(models, source, reference, batch_size, average)
    write_json(output, {"model": name, "seed": seed, **result})


@click.command()
@model_option
@source_option
@input_option("--target", help="Tokenized translation of --source.")
@compute_options()
@output_option(help="File for the attention: JSON lines, one per sentence pair.")
def align(model_path: Path, source: Path, target: Path, compute: ComputeOptions, output: Path) -> None:
    """Write the attention of a model that reads given translations (teacher forcing)."""
    _prepare_arithmetic([model_path])
    from nmt.decoding.sentence_sets import align_file

    (model,), batch_size = load_models([model_path], compute)
    align_file(model, source, target, batch_size, output)


_lists_option = input_option(
    "--lists",
    "n_best_lists",
    help="n-best lists: in Moses' format, `id ||| hypothesis ||| features ||| score`, with ids from 0 in the order of "
    "the source, or as `nmt test-set decode` writes them (.jsonl). The file may be compressed.",
)


@click.command(short_help="Rescore the n-best lists of a different system: mix its scores with a model's.")
@models_option
@average_option
@source_option
@_lists_option
@click.option(
    "--weight",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Weight w of the model: score = w log p + (1 - w) score of the list.",
)
@output_option(help="File for the best translations, one per line.")
@click.option(
    "--output-lists", type=FILE, help="File for the n-best lists, best first, with log p as one more feature."
)
@compute_options(batch_size=256)
def rescore(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    n_best_lists: Path,
    weight: float,
    output: Path,
    output_lists: Path | None,
    compute: ComputeOptions,
) -> None:
    """Rescore the n-best lists of a different system with one model or an ensemble (Sutskever et al., 2014).

    The new score of a hypothesis is the weighted mean of its score in the list and its log-probability under the model
    (in nats). The translation is the hypothesis with the best mean. Memory does not grow with the number of lists. If
    the command is killed, the same command resumes the work.
    """
    _check_replaceable(output, "a record of the finished lists")
    for path in (source, n_best_lists):
        if not path.is_file():
            raise UserError(f"{path}: expected a file, because it is read several times")
    _prepare_arithmetic(model_paths)
    from nmt.decoding import rescoring

    models, batch_size = load_models(model_paths, compute)
    rescorer = rescoring.Rescorer(models, average, batch_size, weight)
    sentence_count = rescoring.rescore_n_best_lists(rescorer, source, n_best_lists, output, output_lists)
    click.echo(f"{output}: {sentence_count:,} sentences", err=True)


@click.command()
@source_option
@_lists_option
@_reference_option
@output_option(help="File for the chosen hypotheses, one per line.")
def oracle(source: Path, n_best_lists: Path, reference: Path, output: Path) -> None:
    """Choose the hypothesis with the best sentence BLEU from each n-best list: an upper bound for rescoring.

    sacrebleu computes the sentence BLEU on tokens, cased and smoothed.
    """
    from nmt.decoding import rescoring

    sentence_count = rescoring.write_oracle(source, n_best_lists, reference, output)
    click.echo(f"{output}: {sentence_count:,} sentences", err=True)
