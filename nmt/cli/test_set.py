"""The subcommands for tokenized test sets: test-set decode, perplexity, align, rescore and oracle.

A store keeps results under a key of their inputs, the checksums and settings that a result depends on.
`link_or_compute_result` computes a result only if the store does not have it. The names of the inputs are part of the
key, so a name that was changed would have all results computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from nmt.cli.options import (
    EXISTING,
    FILE,
    FOLDER,
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
from nmt.evaluation.translations import (
    initial_provenance,
    provenance_path,
    sha256_of_lines,
    write_model_names,
    write_provenance,
)
from nmt.io.files import read_json, write_json
from nmt.settings.decoding import Average, ComputeOptions, Decoding
from nmt.store.model_folder import WEIGHTS
from nmt.store.result_store import collect_model_checksums, link_or_compute_result

_store_option = click.option(
    "--store",
    type=FOLDER,
    help="Folder in which results are kept. If it has the result for the same models, text and settings, the output is "
    "a link to it.",
)
_reference_option = input_option("--reference", help="Tokenized reference translation.")


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
@_store_option
@output_option(help="File for the translations: JSON lines, one per sentence.")
def decode(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    reference: Path | None,
    mode: Literal["all", "no_unk"],
    settings: str,
    store: Path | None,
    output: Path,
) -> None:
    """Translate a tokenized test set by beam search. The output has one JSON line per sentence, with its alignment.

    The command also writes NAME.provenance.json for the output NAME.jsonl. That file has the settings, the checksums of
    the weights, the versions of code and packages, the device and the seconds. If the command is killed, the same
    command resumes the work.
    """
    # 1. what the translations depend on
    decoding = parse_settings(Decoding, settings)
    if mode == "no_unk" and reference is None:
        raise UserError(
            "--mode no_unk needs --reference, to choose the lines without unknown words on either side"
        )
    inputs = {
        "models": collect_model_checksums(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        # with no_unk, the words of the reference decide which lines are translated
        "reference": sha256_of_lines(reference) if mode == "no_unk" and reference else None,
        "mode": mode,
        "decoding": decoding.deciding_fields(),
    }

    # 2. translate, unless the store has the result. The extension of the output says how it is compressed.
    name = f"translations{output.suffix}"
    outputs = {name: output, "translations.provenance.json": provenance_path(output)}

    def translate(paths: Mapping[str, Path]) -> None:
        from nmt.backend.device import device_name
        from nmt.decoding.test_set import translate_file
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
            output=paths[name],
            average=average,
        )
        write_provenance(provenance | summary, paths[name])

    link_or_compute_result(store, inputs, outputs, translate)

    # 3. write the models' names, since a result from the store may come from models with other names
    sentence_count = write_model_names(output, [folder.name for folder in model_paths])
    click.echo(f"{output}: {sentence_count:,} sentences", err=True)


@click.command()
@models_option
@average_option
@click.option("--name", required=True, metavar="ID", help="Id of the model or ensemble in config.yaml.")
@click.option("--seed", type=int, help="Seed of the run. An ensemble has none.")
@source_option
@_reference_option
@compute_options()
@_store_option
@output_option(help="JSON file for perplexity, words and log-probability.")
def perplexity(
    model_paths: tuple[Path, ...],
    average: Average,
    name: str,
    seed: int | None,
    source: Path,
    reference: Path,
    compute: ComputeOptions,
    store: Path | None,
    output: Path,
) -> None:
    """Measure the perplexity per word of the reference of a test set, with end-of-sentence symbols."""

    def write_perplexity(paths: Mapping[str, Path]) -> None:
        from nmt.decoding import test_set

        models, batch_size = load_models(model_paths, compute)
        result = test_set.measure_perplexity(models, source, reference, batch_size, average)
        write_json(paths["perplexity.json"], result)

    inputs = {
        "models": collect_model_checksums(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        "perplexity_of": sha256_of_lines(reference),  # this name also says what was computed
    }
    link_or_compute_result(store, inputs, {"perplexity.json": output}, write_perplexity)

    # The names are added here, since a result from the store may come from another run with equal weights.
    write_json(output, {"model": name, "seed": seed, **read_json(output)})


@click.command()
@model_option
@source_option
@input_option("--target", help="Tokenized translation of --source.")
@compute_options()
@_store_option
@output_option(help="File for the attention: JSON lines, one per sentence pair.")
def align(
    model_path: Path, source: Path, target: Path, compute: ComputeOptions, store: Path | None, output: Path
) -> None:
    """Write the attention of a model that reads given translations (teacher forcing)."""

    def write_attention(paths: Mapping[str, Path]) -> None:
        from nmt.decoding.test_set import align_file

        (model,), batch_size = load_models([model_path], compute)
        align_file(model, source, target, batch_size, paths["alignments.jsonl"])

    inputs = {
        "models": collect_model_checksums([model_path]),
        "source": sha256_of_lines(source),
        "attention_for": sha256_of_lines(target),  # this name also says what was computed
    }
    link_or_compute_result(store, inputs, {"alignments.jsonl": output}, write_attention)


_lists_option = input_option(
    "--lists",
    "n_best_lists",
    help="n-best lists: in Moses' format, `id ||| hypothesis ||| features ||| score`, with ids from 0 in the order of "
    "the source, or as `nmt test-set decode` writes them (.jsonl). The file may be compressed.",
)


@click.command(
    short_help="Rescore the n-best lists of another system by interpolating its score with that of a model."
)
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
@_store_option
def rescore(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    n_best_lists: Path,
    weight: float,
    output: Path,
    output_lists: Path | None,
    compute: ComputeOptions,
    store: Path | None,
) -> None:
    """Rescore the n-best lists of another system with one model or an ensemble (Sutskever et al., 2014).

    The new score of a hypothesis is the weighted mean of its score in the list and its log-probability under the model
    (in nats). The translation is the hypothesis with the best mean. Memory does not grow with the number of lists. If
    the command is killed, the same command resumes the work.
    """
    inputs = {
        "models": collect_model_checksums(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        "lists": sha256_of_lines(n_best_lists),
        "weight": weight,
    }

    # The extensions of the outputs say how they are compressed.
    best_name = f"best{output.suffix}"
    lists_name = f"lists{output_lists.suffix}" if output_lists else ""
    outputs = {best_name: output}
    if output_lists:
        outputs[lists_name] = output_lists

    def rescore_lists(paths: Mapping[str, Path]) -> None:
        from nmt.decoding import rescoring

        models, batch_size = load_models(model_paths, compute)
        rescorer = rescoring.Rescorer(models, average, batch_size, weight)
        sentence_count = rescoring.rescore_n_best_lists(
            rescorer, source, n_best_lists, output=paths[best_name], new_lists=paths.get(lists_name)
        )
        click.echo(f"{output}: {sentence_count:,} sentences", err=True)

    link_or_compute_result(store, inputs, outputs, rescore_lists)


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
