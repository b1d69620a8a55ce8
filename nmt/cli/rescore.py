"""Subcommands that read n-best lists of another system: test-set rescore, test-set oracle."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    EXISTING,
    FILE,
    NumberRange,
    average_option,
    batch_size_option,
    compute_options,
    load_models,
    models_option,
    source_option,
)
from nmt.settings.decoding import Average, ComputeOptions

_lists = click.option(
    "--lists",
    required=True,
    type=EXISTING,
    help="n-best lists in Moses' format, `id ||| hypothesis ||| features ||| score`, with ids from 0 in the order of"
    " the source (also .gz, .zst), or translations written by `nmt test-set decode` (.jsonl).",
)


@click.command(short_help="Rescore another system's n-best lists with a model, mixing both scores.")
@models_option
@average_option
@source_option
@_lists
@click.option(
    "--weight",
    type=NumberRange(0, 1),
    default=0.5,
    show_default=True,
    help="Weight w of the model: score = w log p + (1 - w) score of the list.",
)
@click.option("--output", required=True, type=FILE, help="File for the best translations, one per line.")
@click.option(
    "--output-lists", type=FILE, help="File for the lists, best first, with log p as one more feature."
)
@batch_size_option("Hypotheses", 256)
@compute_options
def rescore(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    lists: Path,
    weight: float,
    output: Path,
    output_lists: Path | None,
    batch_size: int,
    compute: ComputeOptions,
) -> None:
    """Rescore another system's n-best lists with one model or an ensemble (Sutskever et al., 2014).

    The new score of a hypothesis is the weighted mean of its score in the list and its log-probability under the model
    (nats). The translation is the hypothesis with the best mean. Memory does not grow with the lists. If the command is
    killed, the same command resumes the work.
    """
    from nmt.decoding.rescoring import Rescorer
    from nmt.decoding.rescoring import rescore as run

    models = load_models(model_paths, compute)
    rescorer = Rescorer(models, average, batch_size, weight)
    done = run(rescorer, source, lists, output, output_lists)
    rate = f", {done.words / done.seconds:,.0f} words/s" if done.seconds else ""
    click.echo(
        f"{output}: {done.sentences:,} sentences, {done.hypotheses:,} hypotheses, {done.words:,} words of distinct"
        f" hypotheses scored in {done.seconds:,.1f} s{rate}",
        err=True,
    )


@click.command()
@source_option
@_lists
@click.option("--reference", required=True, type=EXISTING, help="Tokenized reference translation.")
@click.option("--output", required=True, type=FILE, help="File for the chosen hypotheses, one per line.")
def oracle(source: Path, lists: Path, reference: Path, output: Path) -> None:
    """Choose the hypothesis with the best sentence BLEU from each n-best list: an upper bound for rescoring.

    sacrebleu computes the sentence BLEU on tokens, cased and smoothed.
    """
    from nmt.decoding.oracle import oracle as choose

    lines = choose(source, lists, reference, output)
    click.echo(f"{output}: {lines:,} sentences", err=True)
