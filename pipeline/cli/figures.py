"""Subcommands that draw figures: the group `nmt figure`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from nmt.cli.options import figure_outputs, file_option, parse_settings
from pipeline.cli.options import own_sentences, report_settings, summaries
from pipeline.config.artifacts import Report


@click.command()
@file_option(
    "--score",
    "Scores of a model, written by `nmt test-set evaluate`. Repeat it for each curve.",
    multiple=True,
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    multiple=True,
    help="Length limit of a model's training pairs, in words, to be marked. Repeat it.",
)
@report_settings
@figure_outputs
def figure2(
    score: tuple[Path, ...], limit: tuple[int, ...], settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw Figure 2: BLEU against sentence length, one curve per model."""
    from nmt.plots.style import save
    from pipeline.report.figures import bleu_curves
    from pipeline.report.run_results import read_by_model

    wanted = parse_settings(Report, settings)
    scores = read_by_model(score, ("by_sentence",))
    save(bleu_curves.figure2(scores, wanted, limit), output_pdf, output_png)


@click.command()
@file_option("--all", "Translations of the whole test set, written by `nmt test-set decode --mode all`.")
@file_option(
    "--no-unk",
    "Translations of the sentences without unknown words, written by `nmt test-set decode --mode no_unk`.",
)
@own_sentences
@report_settings
@figure_outputs
def figure3(
    all: Path, no_unk: Path, paper: Path | None, settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw Figure 3: four matrices of attention between source and generated words.

    Panel (a) shows any sentence. Panels (b)-(d) show the paper's own sentences if the test set contains them. Other
    sentences are drawn at random, with the seed of the settings, from those without unknown words and with a length in
    the range of the settings.
    """
    from nmt.evaluation.translations import read_translations
    from nmt.plots.style import save
    from pipeline.report.figures.figure3 import choose_sentences
    from pipeline.report.figures.figure3 import figure3 as draw
    from pipeline.report.papers import read_paper

    wanted = parse_settings(Report, settings)
    everything, known = list(read_translations(all)), list(read_translations(no_unk))
    own = read_paper(paper).openings if paper else []
    choice = choose_sentences(everything, known, wanted.figure3_words, wanted.figure3_seed, own)
    if choice.compromise:
        print(choice.compromise, file=sys.stderr)
    lines = ", ".join(
        f"({letter}) {record.line + 1}" for letter, record in zip("abcd", choice.records, strict=False)
    )
    print(f"Figure 3 shows these sentences of the test set: {lines}", file=sys.stderr)
    save(draw(choice.records), output_pdf, output_png)


@click.command()
@file_option(
    "--score",
    "Scores of a model, written by `nmt test-set evaluate`. Repeat it for each curve.",
    multiple=True,
)
@report_settings
@figure_outputs
def unknown_words(score: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path) -> None:
    """Draw BLEU against the number of unknown words in the source, one curve per model.

    The figure is like Figure 4c of Cho et al. (2014b).
    """
    from nmt.plots.style import save
    from pipeline.report.figures import bleu_curves
    from pipeline.report.run_results import read_by_model

    wanted = parse_settings(Report, settings)
    scores = read_by_model(score, ("by_sentence",))
    save(bleu_curves.unknown_words(scores, wanted), output_pdf, output_png)


@click.command()
@file_option(
    "--score",
    "Scores of a system, written by `nmt test-set evaluate`. Repeat it for each panel.",
    multiple=True,
)
@report_settings
@figure_outputs
def length_curves(score: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path) -> None:
    """Draw BLEU against the length of source, reference and both, one panel per system.

    The figure is like Figures 4 (a, b) and 5 of Cho et al. (2014b).
    """
    from nmt.plots.style import save
    from pipeline.report.figures.length_curves import length_curves as draw
    from pipeline.report.run_results import read_by_model

    scores = read_by_model(score, ("by_sentence",))
    save(draw(scores, parse_settings(Report, settings)), output_pdf, output_png)


@click.command()
@file_option(
    "--score",
    "Scores of a system, written by `nmt test-set evaluate`. Repeat it for each curve.",
    multiple=True,
)
@file_option("--text", "Tokenized test set, the side whose words are ranked.")
@file_option("--vocabulary", "Vocabulary of that side, written by `nmt data vocabulary` (.tsv).")
@report_settings
@figure_outputs
def score_groups(
    score: tuple[Path, ...], text: Path, vocabulary: Path, settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw BLEU of groups of equal size, with the sentences sorted by length and by average rank of their words.

    The figure is like Figure 3 of Sutskever et al. (2014).
    """
    from nmt.data.vocabulary import Vocabulary
    from nmt.evaluation.translations import words
    from nmt.io.text_files import read_lines
    from nmt.plots.style import save
    from pipeline.report.figures.score_groups import score_groups as draw
    from pipeline.report.run_results import read_by_model

    known = Vocabulary.read(vocabulary)
    ranks = [known.mean_rank(words(line)) for line in read_lines(text)]
    scores = {system: row["by_sentence"] for system, row in read_by_model(score, ("by_sentence",)).items()}
    save(draw(scores, ranks, parse_settings(Report, settings)), output_pdf, output_png)


@click.command()
@summaries
@file_option(
    "--history", "The history.jsonl of a run; as often and in the order of --summary.", multiple=True
)
@report_settings
@figure_outputs
def learning_curves(
    summary: tuple[Path, ...], history: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw the learning curves of all runs: development and training NLL against updates.

    Each model has a colour; the runs of a model with several seeds are thin lines in its colour. If a run continues
    another one that is also drawn, its curve starts where the curve of the other ends.
    """
    from nmt.plots.style import save
    from pipeline.report.figures import learning_curves as curves

    wanted = parse_settings(Report, settings)
    figure = curves.learning_curves(curves.read_curves(summary, history), wanted)
    save(figure, output_pdf, output_png)


@click.command()
@file_option("--coordinates", "Sentences in the plane, written by `nmt vectors --output-tsv`.")
@figure_outputs
def sentence_vectors(coordinates: Path, output_pdf: Path, output_png: Path) -> None:
    """Draw sentences in the plane in which their vectors differ most (Sutskever et al., 2014, Figure 2)."""
    from nmt.evaluation.principal_components import read_panels
    from nmt.plots.style import save
    from pipeline.report.figures.sentence_vectors import sentence_vectors as draw

    save(draw(read_panels(coordinates)), output_pdf, output_png)
