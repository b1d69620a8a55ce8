"""Subcommands for tokenized test sets: decode, align, perplexity, rescore, oracle."""

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
    load_models,
    model_option,
    models_option,
    parse_settings,
    settings_option,
    source_option,
)
from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from nmt.settings.decoding import Average, ComputeOptions, Decoding

_store_option = click.option(
    "--store",
    type=FOLDER,
    help="Folder in which the result is kept. If it is there, made of the same models and text, it is linked.",
)


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
@_store_option
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
    store: Path | None,
    output: Path,
) -> None:
    """Translate a tokenized test set by beam search. The output has one JSON line per sentence, with its alignment.

    Beside NAME.jsonl, the command writes NAME.provenance.json: settings, checksums of the weights, code, packages,
    device and seconds. If the command is killed, the same command resumes the work.
    """
    decoding = parse_settings(Decoding, settings)
    if mode == "no_unk" and reference is None:
        raise UserError("--mode no_unk needs --reference: its sentences have no unknown word on both sides")
    from nmt.evaluation.translations import provenance_path, sha256_of_lines, write_model_names
    from nmt.store.result_store import collect_model_facts, provide_result

    facts = {
        "models": collect_model_facts(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        # the reference decides which sentences have no unknown word
        "reference": sha256_of_lines(reference) if mode == "no_unk" and reference else None,
        "mode": mode,
        "decoding": decoding.deciding_fields(),
    }

    def translate(paths: Mapping[str, Path]) -> None:
        from nmt.backend.device import device_name
        from nmt.decoding.test_set import translate_file
        from nmt.evaluation.translations import initial_provenance, write_provenance
        from nmt.store import trained_model
        from nmt.store.model_folder import WEIGHTS

        translations = paths[name]
        models = trained_model.load_models(model_paths, decoding.device, decoding.threads)
        weights = [folder / WEIGHTS for folder in model_paths]
        record = initial_provenance(mode, decoding, weights, device_name(models[0].device), average)
        done = translate_file(models, source, reference, mode, decoding, translations, average)
        write_provenance(record, translations, *done)

    # in the format that the output's name asks for
    name = f"translations{output.suffix}"
    outputs = {name: output, "translations.provenance.json": provenance_path(output)}
    provide_result(store, facts, outputs, translate)
    # a model may have had another name when its translations were made
    sentences = write_model_names(output, [folder.name for folder in model_paths])
    click.echo(f"{output}: {sentences:,} sentences", err=True)


@click.command()
@models_option
@average_option
@click.option("--name", required=True, metavar="ID", help="Id of the model or ensemble in the config.")
@click.option("--seed", type=int, help="Seed of the run. An ensemble has none.")
@source_option
@click.option("--reference", required=True, type=EXISTING, help="Tokenized reference translation.")
@compute_options()
@_store_option
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
    compute: ComputeOptions,
    store: Path | None,
    output: Path,
) -> None:
    """Measure the perplexity per word of a tokenized test set's reference, end symbols included."""
    from nmt.evaluation.translations import sha256_of_lines
    from nmt.store.result_store import collect_model_facts, provide_result

    def measure(paths: Mapping[str, Path]) -> None:
        from nmt.decoding.test_set import measure_perplexity

        models, batch_size = load_models(model_paths, compute)
        write_json(
            paths["perplexity.json"], measure_perplexity(models, source, reference, batch_size, average)
        )

    facts = {
        "models": collect_model_facts(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        "perplexity_of": sha256_of_lines(reference),
    }
    provide_result(store, facts, {"perplexity.json": output}, measure)
    write_json(output, {"model": name, "seed": seed, **read_json(output)})


@click.command()
@model_option
@source_option
@click.option("--target", required=True, type=EXISTING, help="Tokenized translation of --source.")
@compute_options()
@_store_option
@click.option(
    "--output", required=True, type=FILE, help="File for the attention: JSON lines, one per sentence pair."
)
def align(
    model_path: Path, source: Path, target: Path, compute: ComputeOptions, store: Path | None, output: Path
) -> None:
    """Write the attention of a model while it is fed given translations (teacher forcing)."""
    from nmt.evaluation.translations import sha256_of_lines
    from nmt.store.result_store import collect_model_facts, provide_result

    def measure(paths: Mapping[str, Path]) -> None:
        from nmt.decoding.test_set import align_file

        (model,), batch_size = load_models([model_path], compute)
        align_file(model, source, target, batch_size, paths["alignments.jsonl"])

    facts = {
        "models": collect_model_facts([model_path]),
        "source": sha256_of_lines(source),
        "attention_for": sha256_of_lines(target),
    }
    provide_result(store, facts, {"alignments.jsonl": output}, measure)


_lists = click.option(
    "--lists",
    required=True,
    type=EXISTING,
    help="n-best lists in Moses' format, `id ||| hypothesis ||| features ||| score`, with ids from 0 in the order of"
    " the source (also compressed), or translations written by `nmt test-set decode` (.jsonl).",
)


@click.command(short_help="Rescore another system's n-best lists with a model, mixing both scores.")
@models_option
@average_option
@source_option
@_lists
@click.option(
    "--weight",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Weight w of the model: score = w log p + (1 - w) score of the list.",
)
@click.option("--output", required=True, type=FILE, help="File for the best translations, one per line.")
@click.option(
    "--output-lists", type=FILE, help="File for the lists, best first, with log p as one more feature."
)
@compute_options(batch_size=256)
@_store_option
def rescore(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    lists: Path,
    weight: float,
    output: Path,
    output_lists: Path | None,
    compute: ComputeOptions,
    store: Path | None,
) -> None:
    """Rescore another system's n-best lists with one model or an ensemble (Sutskever et al., 2014).

    The new score of a hypothesis is the weighted mean of its score in the list and its log-probability under the model
    (nats). The translation is the hypothesis with the best mean. Memory does not grow with the lists. If the command is
    killed, the same command resumes the work.
    """
    from nmt.evaluation.translations import sha256_of_lines
    from nmt.store.result_store import collect_model_facts, provide_result

    # in the formats that the outputs' names ask for
    best_name = f"best{output.suffix}"
    lists_name = f"lists{output_lists.suffix}" if output_lists else ""

    def run(paths: Mapping[str, Path]) -> None:
        from nmt.decoding.rescoring import Rescorer, rescore_n_best_lists

        models, batch_size = load_models(model_paths, compute)
        rescorer = Rescorer(models, average, batch_size, weight)
        done = rescore_n_best_lists(rescorer, source, lists, paths[best_name], paths.get(lists_name))
        counts = f"{done.sentences:,} sentences, {done.hypotheses:,} hypotheses"
        click.echo(f"{output}: {counts} in {done.seconds:,.1f} s", err=True)

    facts = {
        "models": collect_model_facts(model_paths),
        "average": average,
        "source": sha256_of_lines(source),
        "lists": sha256_of_lines(lists),
        "weight": weight,
    }
    outputs = {best_name: output}
    if output_lists:
        outputs[lists_name] = output_lists
    provide_result(store, facts, outputs, run)


@click.command()
@source_option
@_lists
@click.option("--reference", required=True, type=EXISTING, help="Tokenized reference translation.")
@click.option("--output", required=True, type=FILE, help="File for the chosen hypotheses, one per line.")
def oracle(source: Path, lists: Path, reference: Path, output: Path) -> None:
    """Choose the hypothesis with the best sentence BLEU from each n-best list: an upper bound for rescoring.

    sacrebleu computes the sentence BLEU on tokens, cased and smoothed.
    """
    from nmt.decoding.rescoring import write_oracle

    lines = write_oracle(source, lists, reference, output)
    click.echo(f"{output}: {lines:,} sentences", err=True)
