"""The subcommand that compares the systems of an experiment."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, file_option, parse_settings
from nmt.io.files import write_json
from pipeline.cli.options import given_translations, report_settings
from pipeline.config.artifacts import Report


@click.command()
@click.option(
    "--translations",
    type=(str, PATH, PATH),
    required=True,
    multiple=True,
    metavar="MODEL ALL NO_UNK",
    help="A model's id and its translations, written by `nmt test-set decode --mode all` and `--mode no_unk`."
    " Repeat it for each model, and for each seed of a model.",
)
@given_translations
@file_option("--source", "Tokenized source of the test set.")
@file_option("--reference", "Tokenized reference of the test set.")
@click.option(
    "--raw-reference",
    type=PATH,
    metavar="FILE",
    help="Raw reference of the test set [default: the tokenized reference, detokenized].",
)
@report_settings
@file_option("--output", "JSON file for the comparison.")
def compare(
    translations: tuple[tuple[str, Path, Path], ...],
    given: tuple[tuple[str, Path], ...],
    source: Path,
    reference: Path,
    raw_reference: Path | None,
    settings: str,
    output: Path,
) -> None:
    """Compare models: 95% bootstrap intervals of BLEU, paired significance, BLEU of sacrebleu's tokenization and chrF.

    The bootstrap is over sentences, with the seed `bootstrap_seed` of the settings. Intervals run from the 2.5th to
    the 97.5th percentile; p-values are two-sided. BLEU with sacrebleu's own tokenization (13a) and chrF are
    computed on detokenized text. If a model has several seeds, its scores are means, and the bootstrap is over
    sentences and seeds.
    """
    from nmt.data.detokenization import Detokenizer
    from nmt.evaluation.comparison import EvaluatedText
    from nmt.evaluation.comparison import compare as compared

    wanted = parse_settings(Report, settings)
    detokenize = Detokenizer(wanted.languages.target, wanted.tokenization)
    test = EvaluatedText(source, reference, raw_reference, detokenize)
    by_model: dict[str, list[list[Path]]] = {}
    for model, *paths in translations:
        by_model.setdefault(model, []).append(paths)
    found = compared(by_model, dict(given), test, wanted.bootstrap_samples, wanted.bootstrap_seed)
    write_json(output, found)
