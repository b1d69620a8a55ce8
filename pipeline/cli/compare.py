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
    help="A model's id and its translations, from `decode --mode all` and `--mode no_unk`. Repeat it, for each "
    "seed of a model, too.",
)
@given_translations
@file_option("--source", "Tokens of the test set's source side.")
@file_option("--reference", "Tokens of the reference.")
@click.option(
    "--raw-reference",
    type=PATH,
    metavar="FILE",
    help="The raw reference; without it the tokens are detokenized.",
)
@report_settings
@file_option("--output", "The comparison as JSON.")
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

    Bootstrap over sentences, seeded by the settings' `bootstrap_seed`: intervals are the 2.5th and 97.5th
    percentile, p-values are sacrebleu's. BLEU with sacrebleu's own tokenization (13a) and chrF are of detokenized
    text. Of a model with several seeds scores are means, and the bootstrap is over sentences and seeds.
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
