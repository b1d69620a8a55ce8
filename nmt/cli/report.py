"""Verbs of the last stage: scores, tables and figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from nmt.cli.options import parse_settings
from nmt.errors import UserError
from nmt.files import read_json, write_json
from nmt.settings import Decoding, Report

_PATH = click.Path(path_type=Path)


def _file(name: str, help_text: str, **extra: Any) -> Callable[[Any], Any]:
    return click.option(name, type=_PATH, required=True, metavar="FILE", help=help_text, **extra)


_settings = click.option(
    "--settings",
    required=True,
    metavar="JSON",
    help="The config's `artifacts`, plus `labels` (model id to label) and `unknown` (of `decoding`): JSON, or the "
    "path of a JSON file.",
)
_model = click.option("--model", required=True, metavar="ID", help="Id of the model in the config.")
_paper = click.option(
    "--paper",
    type=_PATH,
    metavar="FILE",
    help="What the paper reports (workflow/paper.yaml); needed when the settings say `reported: true`.",
)
_own_sentences = click.option(
    "--paper",
    type=_PATH,
    metavar="FILE",
    help="Names the paper's own example sentences (workflow/paper.yaml).",
)
_summaries = _file("--summary", "The summary.json of a run, written by `train`. Repeat it.", multiple=True)


def _table_outputs(verb: Callable[..., Any]) -> Callable[..., Any]:
    for form in ("tex", "md", "csv"):
        verb = _file(f"--output-{form}", f"The table as .{form}.")(verb)
    return verb


def _figure_outputs(verb: Callable[..., Any]) -> Callable[..., Any]:
    for form in ("png", "pdf"):
        verb = _file(f"--output-{form}", f"The figure as .{form}.")(verb)
    return verb


@click.command()
@_model
@click.option("--seed", type=int, required=True, help="Seed of the run: a model may have several.")
@_file("--all", "Translations of the whole test set, from `decode --mode all`.")
@_file("--no-unk", "Translations of the sentences without unknown words, from `decode --mode no_unk`.")
@_file("--source", "Tokens of the test set's source side. Repeat it for several test corpora.", multiple=True)
@_file("--reference", "Tokens of the reference; as often and in the order of --source.", multiple=True)
@_file("--output", "Scores as JSON.")
def evaluate(
    model: str,
    seed: int,
    all: Path,
    no_unk: Path,
    source: tuple[Path, ...],
    reference: tuple[Path, ...],
    output: Path,
) -> None:
    """Measure a model's translations: BLEU on all sentences and on those without unknown words.

    BLEU is computed by sacrebleu on the tokens as they are, cased and without smoothing, which is what
    Moses' multi-bleu.perl gives; the signature is kept. The output also holds the counts of each sentence,
    from which `figure2` and `unknown-words` draw their curves.
    """
    from nmt.evaluation import score

    if len(source) != len(reference):
        raise UserError(
            f"--source is given {len(source)} times, --reference {len(reference)} times; give one of each"
        )
    test = list(zip(source, reference, strict=True))
    write_json(output, {"seed": seed, **score(model, all, no_unk, test)})


@click.command()
@_model
@_file("--alignments", "Attention on source and reference, from `align`.")
@_file(
    "--gold",
    "Known links: 0-0 1?2, a line a sentence, or as WPT 2003 has them. Repeat it as for the test set.",
    multiple=True,
)
@_file("--output", "Error rates as JSON.")
def alignment_error_rate(model: str, alignments: Path, gold: tuple[Path, ...], output: Path) -> None:
    """Compare attention with known word alignments (Och and Ney's alignment error rate).

    Each word of the reference is linked to the source word that gets most attention while the model is fed
    the reference; links of the end symbol don't count. Beside it stand the
    rates of the matrix' diagonal and of words at the same position.
    """
    from nmt.alignment_error_rate import alignment_error_rate as evaluate

    write_json(output, evaluate(model, alignments, gold))


@click.command()
@click.option(
    "--translations",
    type=(str, _PATH, _PATH),
    required=True,
    multiple=True,
    metavar="MODEL ALL NO_UNK",
    help="A model's id and its translations, from `decode --mode all` and `--mode no_unk`. Repeat it.",
)
@click.option(
    "--given",
    type=(str, _PATH),
    multiple=True,
    metavar="SYSTEM FILE",
    help="Another system's translations of the whole test set, tokenised, a line each.",
)
@_file("--source", "Tokens of the test set's source side.")
@_file("--reference", "Tokens of the reference.")
@click.option(
    "--raw-reference",
    type=_PATH,
    metavar="FILE",
    help="The reference as it came; without it its tokens are detokenised.",
)
@click.option("--target-language", required=True, metavar="CODE", help="As Moses' detokenizer knows it.")
@_settings
@_file("--output", "The comparison as JSON.")
def compare(
    translations: tuple[tuple[str, Path, Path], ...],
    given: tuple[tuple[str, Path], ...],
    source: Path,
    reference: Path,
    raw_reference: Path | None,
    target_language: str,
    settings: str,
    output: Path,
) -> None:
    """Compare models: 95% intervals of their BLEU, paired significance of each pair, and today's metrics.

    All by sacrebleu: bootstrap over sentences, seeded by the settings' `bootstrap_seed`; BLEU with its own
    tokenisation (13a) and chrF on detokenised text.
    """
    from nmt.comparison import EvaluatedText
    from nmt.comparison import compare as compared

    wanted = parse_settings(Report, settings)
    test = EvaluatedText(source, reference, raw_reference, target_language)
    by_model = {model: paths for model, *paths in translations}
    found = compared(by_model, dict(given), test, wanted.bootstrap_samples, wanted.bootstrap_seed)
    write_json(output, found)


@click.command()
@_file("--comparison", "What `compare` found.")
@_settings
@_table_outputs
def significance(
    comparison: Path, settings: str, output_csv: Path, output_md: Path, output_tex: Path
) -> None:
    """Write the table of paired significance: each pair of models, its difference in BLEU and p."""
    from nmt import tables
    from nmt.significance import significance as make

    table = make(read_json(comparison), parse_settings(Report, settings))
    tables.write_table(table, output_csv, output_md, output_tex)


@click.command()
@_file("--score", "Scores of a run, from `evaluate`. Repeat it, in the order of the rows.", multiple=True)
@_summaries
@click.option(
    "--comparison", type=_PATH, metavar="FILE", help="What `compare` found; adds intervals and more."
)
@_paper
@_settings
@_table_outputs
def table1(
    score: tuple[Path, ...],
    summary: tuple[Path, ...],
    comparison: Path | None,
    paper: Path | None,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write Table 1: BLEU on all sentences and on those without unknown words."""
    from nmt import tables
    from nmt.reported import read_paper

    wanted = parse_settings(Report, settings)
    scores = tables.read_runs(
        score, ("bleu_all", "bleu_no_unk", "signature", "sentences_all", "sentences_no_unk")
    )
    summaries = tables.read_runs(summary, ("family", "optimizer", "hidden_units", "updates"))
    compared = read_json(comparison) if comparison else None
    table = tables.table1(scores, summaries, wanted, read_paper(paper, wanted.reported), compared)
    tables.write_table(table, output_csv, output_md, output_tex)


@click.command()
@_summaries
@_paper
@_settings
@_table_outputs
def table2(
    summary: tuple[Path, ...],
    paper: Path | None,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write Table 2: learning statistics.

    The rows of a family (RNNencdec, RNNsearch) stand together, otherwise in the order given.
    """
    from nmt import tables
    from nmt.reported import read_paper

    wanted = parse_settings(Report, settings)
    keys = (
        "family",
        "updates",
        "epochs",
        "hours",
        "device",
        "train_nll",
        "dev_nll",
        "optimizer",
        "hidden_units",
    )
    table = tables.table2(tables.read_runs(summary, keys), wanted, read_paper(paper, wanted.reported))
    tables.write_table(table, output_csv, output_md, output_tex)


@click.command()
@click.option(
    "--translations",
    type=(str, _PATH),
    required=True,
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its translations of the whole test set, from `decode --mode all`. Repeat it.",
)
@_file("--reference", "Tokens of the reference.")
@_own_sentences
@click.option("--source-language", required=True, metavar="CODE", help="As Moses' detokenizer knows it.")
@click.option("--target-language", required=True, metavar="CODE", help="As Moses' detokenizer knows it.")
@_settings
@_table_outputs
def table3(
    translations: tuple[tuple[str, Path], ...],
    reference: Path,
    paper: Path | None,
    source_language: str,
    target_language: str,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write Table 3: long sentences with their reference and what the models make of them.

    The paper's own sentences come first where the test set holds them; others are drawn from the long ones.
    """
    from nmt import tables
    from nmt.records import read_translations
    from nmt.reported import read_own_sentences
    from nmt.settings import Languages
    from nmt.table3 import table3 as make
    from nmt.text import read_lines

    table = make(
        {model: list(read_translations(path)) for model, path in translations},
        list(read_lines(reference)),
        read_own_sentences(paper).table3,
        parse_settings(Report, settings),
        Languages(source=source_language, target=target_language),
    )
    tables.write_table(table, output_csv, output_md, output_tex)


@click.command()
@_file("--score", "A model's scores, from `evaluate`. Repeat it for each curve.", multiple=True)
@_settings
@_figure_outputs
def figure2(score: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path) -> None:
    """Draw Figure 2: BLEU against sentence length, a curve a model."""
    from nmt import figures, score_figures, tables

    wanted = parse_settings(Report, settings)
    scores = tables.read_by_model(score, ("by_sentence",))
    figures.save(score_figures.figure2(scores, wanted), output_pdf, output_png)


@click.command()
@_file("--score", "A model's scores, from `score`. Repeat it for each curve.", multiple=True)
@_settings
@_figure_outputs
def unknown_words(score: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path) -> None:
    """Draw BLEU against the number of unknown words in the source, a curve a model (Cho et al., 2014b, Fig. 4c)."""
    from nmt import figures, score_figures, tables

    wanted = parse_settings(Report, settings)
    scores = tables.read_by_model(score, ("by_sentence",))
    figures.save(score_figures.unknown_words(scores, wanted), output_pdf, output_png)


@click.command()
@_file("--all", "Translations of the whole test set, from `decode --mode all`.")
@_file("--no-unk", "Translations of the sentences without unknown words, from `decode --mode no_unk`.")
@_own_sentences
@_settings
@_figure_outputs
def figure3(
    all: Path, no_unk: Path, paper: Path | None, settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw Figure 3: four matrices of attention between source and generated words.

    (a) shows any sentence; (b)-(d) are the paper's own where the test set holds them. Others are drawn, with the seed
    of the settings, from those without unknown words and with a length in the settings' range.
    """
    from nmt import figures
    from nmt.records import read_translations
    from nmt.reported import read_own_sentences

    wanted = parse_settings(Report, settings)
    everything, known = list(read_translations(all)), list(read_translations(no_unk))
    own = read_own_sentences(paper).figure3
    choice = figures.choose_sentences(everything, known, wanted.figure3_words, wanted.figure3_seed, own)
    if choice.compromise:
        print(choice.compromise, file=sys.stderr)
    lines = ", ".join(
        f"({letter}) {record.line}" for letter, record in zip("abcd", choice.records, strict=False)
    )
    print(f"Figure 3 shows these lines of the test set, counted from 0: {lines}", file=sys.stderr)
    figures.save(figures.figure3(choice.records), output_pdf, output_png)


@click.command()
@_summaries
@_file("--history", "The history.jsonl of a run; as often and in the order of --summary.", multiple=True)
@_settings
@_figure_outputs
def learning_curves(
    summary: tuple[Path, ...], history: tuple[Path, ...], settings: str, output_pdf: Path, output_png: Path
) -> None:
    """Draw the learning curves of all runs: development and training NLL against updates.

    A colour a model; several seeds are thin lines of it. A run that goes on from another
    starts where that one's curve ends, if it is given too.
    """
    from nmt import figures
    from nmt import learning_curves as curves

    wanted = parse_settings(Report, settings)
    figure = curves.learning_curves(curves.read_curves(summary, history), wanted)
    figures.save(figure, output_pdf, output_png)


@click.command()
@_file("--score", "Scores of a run, from `evaluate`. Repeat it.", multiple=True)
@_summaries
@_file("--run-settings", "The settings.json of a run, written by `train`. Repeat it.", multiple=True)
@_settings
@_table_outputs
def readings(
    score: tuple[Path, ...],
    summary: tuple[Path, ...],
    run_settings: tuple[Path, ...],
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write the table of readings: what it is worth to read an open point of the paper in another way.

    A block for each baseline of the settings' `readings`; what differs from it is read from the runs' own settings.
    """
    from nmt import tables
    from nmt.readings import readings as compare

    table = compare(
        tables.read_runs(score, ("bleu_all", "bleu_no_unk")),
        tables.read_runs(summary, ("dev_nll",)),
        tables.read_runs(run_settings, ("architecture", "training")),
        parse_settings(Report, settings),
    )
    tables.write_table(table, output_csv, output_md, output_tex)


@click.command()
@click.option(
    "--sweep",
    type=(str, _PATH),
    required=True,
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its scores, from `sweep`. Repeat it, in the order of the rows.",
)
@click.option(
    "--decoding", required=True, metavar="JSON", help="The config's `decoding`, which is marked; or its file."
)
@_settings
@_table_outputs
@_figure_outputs
def decoding_sweep(
    sweep: tuple[tuple[str, Path], ...],
    decoding: str,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
    output_pdf: Path,
    output_png: Path,
) -> None:
    """Write table and figure of a sweep over decoding settings: BLEU against the beam's width, for each combination.

    The CSV has a row for each width; the others show the best one of each combination.
    """
    from nmt import figures, tables
    from nmt.sweep_figure import sweep_figure
    from nmt.sweep_table import read_sweeps, sweep_table

    wanted, configured = parse_settings(Report, settings), parse_settings(Decoding, decoding, "--decoding")
    sweeps = read_sweeps(sweep)
    tables.write_table(sweep_table(sweeps, configured, wanted), output_csv, output_md, output_tex)
    figures.save(sweep_figure(sweeps, configured, wanted), output_pdf, output_png)


@click.command()
@click.option(
    "--translations",
    type=(str, _PATH),
    multiple=True,
    required=True,
    metavar="LABEL FILE",
    help="A model's name on the page and its translations, from `decode`. Repeat it, with the same sentences.",
)
@_file("--reference", "Tokens of the reference.")
@click.option(
    "--title", default="Translations and alignments", show_default=True, help="Heading of the page."
)
@_file("--output", "The page, one HTML file.")
def explorer(translations: tuple[tuple[str, Path], ...], reference: Path, title: str, output: Path) -> None:
    """Write a page to explore translations: search, filter, compare two models, see what each word attended to.

    One file that a browser opens from the file system, without a network.
    """
    from nmt.explorer import labels_of, write_explorer

    count = write_explorer(list(labels_of(translations)), reference, title, output)
    click.echo(f"{output}: {count:,} sentences, {output.stat().st_size / 1e6:.1f} MB", err=True)


@click.command()
@click.option("--title", required=True, help="Of the page.")
@_file(
    "--artifact",
    "A table (.md), figure (.png) or error rate (.json), in the order of the page. Repeat it.",
    multiple=True,
)
@_file("--captions", "Folder with a caption (.rst) for each artifact's name.")
@click.option("--seeds", default="", help="Which runs of models with several seeds the figures show.")
@click.option("--config", required=True, metavar="JSON", help="The run's merged settings.")
@_file("--benchmarks", "Folder of Snakemake's benchmark files.")
@_file("--output", "The page.")
def report(
    title: str,
    artifact: tuple[Path, ...],
    captions: Path,
    seeds: str,
    config: str,
    benchmarks: Path,
    output: Path,
) -> None:
    """Write one HTML page with a run's tables and figures, settings, times and versions; it needs nothing else."""
    from nmt import report_page

    try:
        values = json.loads(config)
    except json.JSONDecodeError as error:
        raise UserError(f"--config: not JSON: {error.msg}") from None
    report_page.write(output, title, artifact, captions, seeds, values, benchmarks)
