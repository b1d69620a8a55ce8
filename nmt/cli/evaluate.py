"""Subcommands that measure translations and attention: test-set evaluate, test-set alignment-error-rate."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, file_option
from nmt.errors import UserError
from nmt.io.files import write_json

_model = click.option("--model", required=True, metavar="ID", help="Id of the model in the config.")


@click.command()
@_model
@click.option("--seed", type=int, help="Seed of the run. Other systems have none.")
@click.option(
    "--all",
    type=PATH,
    metavar="FILE",
    help="Translations of the whole test set, written by `nmt test-set decode --mode all`.",
)
@click.option(
    "--given",
    type=PATH,
    metavar="FILE",
    help="Instead of --all: translations of another system, tokenized, one per line. From --no-unk, only the line"
    " numbers are then used.",
)
@file_option(
    "--no-unk",
    "Translations of the sentences without unknown words, written by `nmt test-set decode --mode no_unk`.",
)
@file_option(
    "--source", "Tokenized source of the test set. Repeat it for further test corpora.", multiple=True
)
@file_option(
    "--reference", "Tokenized reference. Repeat it as often as --source, in the same order.", multiple=True
)
@file_option("--output", "JSON file for the scores.")
def evaluate(
    model: str,
    seed: int | None,
    all: Path | None,
    given: Path | None,
    no_unk: Path,
    source: tuple[Path, ...],
    reference: tuple[Path, ...],
    output: Path,
) -> None:
    """Measure a model's translations: BLEU on all sentences and on those without unknown words.

    sacrebleu computes BLEU on the given tokens, cased and without smoothing. The result is that of Moses'
    multi-bleu.perl. The output contains sacrebleu's signature and the counts of each sentence, from which tables and
    figures compute BLEU of parts of the test set.
    """
    from nmt.evaluation.bleu import score, score_given

    if (all is None) == (given is None):
        raise UserError("expected one of --all and --given")
    if len(source) != len(reference):
        raise UserError(
            f"--source is given {len(source)} times, --reference {len(reference)} times; give one of each"
        )
    test = list(zip(source, reference, strict=True))
    found = score(model, all, no_unk, test) if all else score_given(model, given or Path(), no_unk, test)
    write_json(output, {"seed": seed, **found})


@click.command()
@_model
@file_option("--alignments", "Attention on source and reference, written by `nmt test-set align`.")
@file_option(
    "--gold",
    "Gold links, one sentence per line (0-0 1?2), or in the WPT 2003 format. Repeat it for further test corpora.",
    multiple=True,
)
@file_option("--output", "JSON file for the error rates.")
def alignment_error_rate(model: str, alignments: Path, gold: tuple[Path, ...], output: Path) -> None:
    """Measure the alignment error rate of attention against gold word alignments (Och and Ney, 2003).

    Each word of the reference is linked to the source word with most attention, while the model is fed the reference.
    Links of the end symbol do not count. The output also has the rates of two baselines: the diagonal of the matrix,
    and words at the same position.
    """
    from nmt.evaluation.alignment_error_rate import alignment_error_rate as evaluate

    write_json(output, evaluate(model, alignments, gold))
