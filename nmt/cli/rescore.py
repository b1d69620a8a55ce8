"""The subcommand `rescore`."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import FILE, average_option
from nmt.config.base import MOST_SENTENCES, MOST_THREADS
from nmt.config.schema import Average
from nmt.errors import UserError

EXISTING = click.Path(exists=True, path_type=Path)


@click.command(short_help="Rescore another system's n-best lists with a model, mixing both scores.")
@click.option(
    "--model",
    "model_paths",
    required=True,
    multiple=True,
    type=EXISTING,
    help="Folder that `nmt train` wrote. Repeat it for an ensemble.",
)
@average_option
@click.option("--source", required=True, type=EXISTING, help="Tokenized text, one sentence per line.")
@click.option(
    "--lists",
    required=True,
    type=EXISTING,
    help="n-best lists in Moses' form, `id ||| hypothesis ||| features ||| score`, ids counted from 0 in the source's"
    " order (.gz, .zst), or translations of `nmt decode` (.jsonl).",
)
@click.option(
    "--weight",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share w of the model: score = w log p + (1 - w) score of the list.",
)
@click.option("--reference", type=EXISTING, help="Tokenized translation, which the oracle is told.")
@click.option("--output", required=True, type=FILE, help="Best translations, one per line.")
@click.option("--output-lists", type=FILE, help="The lists with log p as one more feature, best first.")
@click.option(
    "--output-oracle", type=FILE, help="Of each list the hypothesis with the best smoothed sentence BLEU."
)
@click.option(
    "--batch-size",
    type=click.IntRange(1, MOST_SENTENCES),
    default=256,
    show_default=True,
    help="Hypotheses per batch.",
)
@click.option(
    "--threads", type=click.IntRange(1, MOST_THREADS), default=1, show_default=True, help="torch's threads."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="auto: the GPU where there is one.",
)
def rescore(
    model_paths: tuple[Path, ...],
    average: Average,
    source: Path,
    lists: Path,
    weight: float,
    reference: Path | None,
    output: Path,
    output_lists: Path | None,
    output_oracle: Path | None,
    batch_size: int,
    threads: int,
    device: str,
) -> None:
    """Rescore another system's n-best lists with one model or an ensemble (Sutskever et al., 2014).

    Every hypothesis gets the mean of its score in the list and of the model's log-probability of it (nats); that with
    the best mean is the translation. Memory does not grow with the lists. Killed, the same command resumes.
    """
    if (reference is None) != (output_oracle is None):
        raise UserError(
            "--reference and --output-oracle: one is given without the other; the oracle needs both"
        )
    from nmt.decoding.rescoring import Outputs, Rescorer
    from nmt.decoding.rescoring import rescore as run
    from nmt.decoding.text_translator import refuse_unlike
    from nmt.model import trained_model
    from nmt.model.device import choose_device, keep_freed_memory, make_deterministic

    make_deterministic(threads)
    keep_freed_memory()
    models = [trained_model.load(path, choose_device(device)) for path in model_paths]
    refuse_unlike(models)
    rescorer = Rescorer(models, average, batch_size, weight)
    done = run(rescorer, source, lists, Outputs(output, output_lists, output_oracle), reference)
    rate = f", {done.words / done.seconds:,.0f} words/s" if done.seconds else ""
    click.echo(
        f"{output}: {done.sentences:,} sentences, {done.hypotheses:,} hypotheses, {done.words:,} words of different"
        f" ones scored in {done.seconds:,.1f} s{rate}",
        err=True,
    )
