"""Subcommands that measure translations and attention: evaluate, alignment-error-rate, compare."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    PATH,
    file_option,
)
from nmt.errors import UserError
from nmt.io.files import write_json

_model = click.option("--model", required=True, metavar="ID", help="Id of the model in the config.")


@click.command()
@_model
@click.option(
    "--seed", type=int, help="Seed of the run, as a model may have several; none for other systems."
)
@click.option(
    "--all", type=PATH, metavar="FILE", help="Translations of the whole test set, from `decode --mode all`."
)
@click.option(
    "--given",
    type=PATH,
    metavar="FILE",
    help="Instead of --all another system's translations, tokenized, one per line; of --no-unk the lines count.",
)
@file_option("--no-unk", "Translations of the sentences without unknown words, from `decode --mode no_unk`.")
@file_option(
    "--source", "Tokens of the test set's source side. Repeat it for several test corpora.", multiple=True
)
@file_option("--reference", "Tokens of the reference; as often and in the order of --source.", multiple=True)
@file_option("--output", "Scores as JSON.")
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

    BLEU is computed by sacrebleu on the tokens as they are, cased and without smoothing, which is what
    Moses' multi-bleu.perl gives; the signature is kept. The output also holds the counts of each sentence,
    from which tables and figures take those of some lengths or without unknown words.
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
@file_option("--alignments", "Attention on source and reference, from `align`.")
@file_option(
    "--gold",
    "Gold links, one sentence per line (0-0 1?2), or in the WPT 2003 format. Repeat it as for the test set.",
    multiple=True,
)
@file_option("--output", "Error rates as JSON.")
def alignment_error_rate(model: str, alignments: Path, gold: tuple[Path, ...], output: Path) -> None:
    """Alignment error rate of attention against gold word alignments (Och and Ney).

    Each word of the reference is linked to the source word that gets most attention while the model is fed
    the reference; links of the end symbol don't count. Beside it stand the
    rates of the matrix' diagonal and of words at the same position.
    """
    from nmt.evaluation.alignment_error_rate import alignment_error_rate as evaluate

    write_json(output, evaluate(model, alignments, gold))
