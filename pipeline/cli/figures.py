"""Subcommands that draw figures: the group `nmt figure`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nmt.cli.options import figure_outputs, file_option, parse_settings
from pipeline.cli.options import own_sentences, report_settings, summaries
from pipeline.config.artifacts import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


scores_option = file_option(
    "--score", "Scores of a model or system, written by `nmt test-set evaluate`. Repeat it.", multiple=True
)


def figure_command(draw: Callable[..., Figure]) -> Callable[..., None]:
    """Turn a function that returns a figure of the report's settings into one that writes its two files."""

    @wraps(draw)
    def command(settings: str, output_pdf: Path, output_png: Path, **options: Any) -> None:
        from nmt.plots.style import save

        save(draw(settings=parse_settings(Report, settings), **options), output_pdf, output_png)

    return report_settings(figure_outputs(command))


@click.command()
@scores_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    multiple=True,
    help="Length limit of a model's training pairs, in words, to be marked. Repeat it.",
)
@figure_command
def figure2(score: tuple[Path, ...], limit: tuple[int, ...], settings: Report) -> Figure:
    """Draw Figure 2: BLEU against sentence length, one curve per model."""
    from pipeline.results.figures import bleu_curves
    from pipeline.results.run_results import read_by_model

    scores = read_by_model(score, ("by_sentence",))
    return bleu_curves.figure2(scores, settings, limit)


@click.command()
@file_option("--all", "Translations of the whole test set, written by `nmt test-set decode --mode all`.")
@file_option(
    "--no-unk",
    "Translations of the sentences without unknown words, written by `nmt test-set decode --mode no_unk`.",
)
@own_sentences
@figure_command
def figure3(all: Path, no_unk: Path, paper: Path | None, settings: Report) -> Figure:
    """Draw Figure 3: four matrices of attention between source and generated words.

    Panel (a) shows any sentence. Panels (b)-(d) show the paper's own sentences if the test set contains them. Other
    sentences are drawn at random, with the seed of the settings, from those without unknown words and with a length in
    the range of the settings.
    """
    from nmt.evaluation.translations import read_translations
    from pipeline.results.figures.figure3 import choose_sentences
    from pipeline.results.figures.figure3 import figure3 as draw
    from pipeline.results.papers import read_paper

    everything, no_unk_records = list(read_translations(all)), list(read_translations(no_unk))
    own = read_paper(paper).openings if paper else []
    choice = choose_sentences(everything, no_unk_records, settings.figure3_words, settings.figure3_seed, own)
    if choice.compromise:
        print(choice.compromise, file=sys.stderr)
    lines = ", ".join(
        f"({letter}) {record.line + 1}" for letter, record in zip("abcd", choice.records, strict=False)
    )
    print(f"Figure 3 shows these sentences of the test set: {lines}", file=sys.stderr)
    return draw(choice.records)


@click.command()
@scores_option
@figure_command
def unknown_words(score: tuple[Path, ...], settings: Report) -> Figure:
    """Draw BLEU against the number of unknown words in the source, one curve per model.

    The figure is like Figure 4c of Cho et al. (2014b).
    """
    from pipeline.results.figures import bleu_curves
    from pipeline.results.run_results import read_by_model

    scores = read_by_model(score, ("by_sentence",))
    return bleu_curves.unknown_words(scores, settings)


@click.command()
@scores_option
@figure_command
def length_curves(score: tuple[Path, ...], settings: Report) -> Figure:
    """Draw BLEU against the length of source, reference and both, one panel per system.

    The figure is like Figures 4 (a, b) and 5 of Cho et al. (2014b).
    """
    from pipeline.results.figures.length_curves import length_curves as draw
    from pipeline.results.run_results import read_by_model

    scores = read_by_model(score, ("by_sentence",))
    return draw(scores, settings)


@click.command()
@scores_option
@file_option("--text", "Tokenized test set, the side whose words are ranked.")
@file_option("--vocabulary", "Vocabulary of that side, written by `nmt data vocabulary` (.tsv).")
@figure_command
def score_groups(score: tuple[Path, ...], text: Path, vocabulary: Path, settings: Report) -> Figure:
    """Draw BLEU of groups of equal size, with the sentences sorted by length and by average rank of their words.

    The figure is like Figure 3 of Sutskever et al. (2014).
    """
    from nmt.data.vocabulary import Vocabulary
    from nmt.evaluation.translations import words
    from nmt.io.text_files import read_lines
    from pipeline.results.figures.score_groups import score_groups as draw
    from pipeline.results.run_results import read_by_model

    ranked = Vocabulary.read(vocabulary)
    ranks = [ranked.mean_rank(words(line)) for line in read_lines(text)]
    scores = {system: row["by_sentence"] for system, row in read_by_model(score, ("by_sentence",)).items()}
    return draw(scores, ranks, settings)


@click.command()
@summaries
@file_option(
    "--history", "The history.jsonl of a run; as often and in the order of --summary.", multiple=True
)
@figure_command
def learning_curves(summary: tuple[Path, ...], history: tuple[Path, ...], settings: Report) -> Figure:
    """Draw the learning curves of all runs: development and training NLL against updates.

    Each model has a colour; the runs of a model with several seeds are thin lines in its colour. If a run continues
    another one that is also drawn, its curve starts where the curve of the other ends.
    """
    from pipeline.results.figures import learning_curves as curves

    return curves.learning_curves(curves.read_curves(summary, history), settings)


@click.command()
@file_option("--coordinates", "Sentences in the plane, written by `nmt vectors --output-tsv`.")
@figure_outputs
def sentence_vectors(coordinates: Path, output_pdf: Path, output_png: Path) -> None:
    """Draw sentences in the plane in which their vectors differ most (Sutskever et al., 2014, Figure 2)."""
    from nmt.evaluation.principal_components import read_panels
    from nmt.plots.style import save
    from pipeline.results.figures.sentence_vectors import sentence_vectors as draw

    save(draw(read_panels(coordinates)), output_pdf, output_png)
