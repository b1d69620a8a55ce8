"""Subcommands that write tables: table1, significance, table2, table3, ablations."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import (
    PATH,
    file_option,
    own_sentences,
    parse_settings,
    report_settings,
    summaries,
    table_outputs,
)
from nmt.config.schema import Report
from nmt.io.files import read_json

_paper = click.option(
    "--paper",
    type=PATH,
    metavar="FILE",
    help="What the paper reports (workflow/papers/bahdanau2015.yaml); needed when the settings say `reported: true`.",
)


@click.command()
@file_option(
    "--score", "Scores of a run, from `evaluate`. Repeat it, in the order of the rows.", multiple=True
)
@summaries
@click.option("--comparison", type=PATH, metavar="FILE", help="Output of `compare`; adds intervals and more.")
@_paper
@report_settings
@table_outputs
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
    from nmt.report.paper_numbers import read_paper
    from nmt.report.run_results import read_runs
    from nmt.report.tables.table1 import table1 as make
    from nmt.report.tables.writer import write_table

    wanted = parse_settings(Report, settings)
    scores = read_runs(score, ("bleu_all", "bleu_no_unk", "signature", "sentences_all", "sentences_no_unk"))
    summaries = read_runs(summary, ("family", "optimizer", "hidden_units", "updates"))
    compared = read_json(comparison) if comparison else None
    table = make(scores, summaries, wanted, read_paper(paper, wanted.reported), compared)
    write_table(table, output_csv, output_md, output_tex)


@click.command()
@file_option("--comparison", "Output of `compare`.")
@report_settings
@table_outputs
def significance(
    comparison: Path, settings: str, output_csv: Path, output_md: Path, output_tex: Path
) -> None:
    """Write the table of paired significance: each pair of models, its difference in BLEU and p."""
    from nmt.report.tables.significance import significance as make
    from nmt.report.tables.writer import write_table

    table = make(read_json(comparison), parse_settings(Report, settings))
    write_table(table, output_csv, output_md, output_tex)


@click.command()
@summaries
@_paper
@report_settings
@table_outputs
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
    from nmt.report.paper_numbers import read_paper
    from nmt.report.run_results import read_runs
    from nmt.report.tables.table2 import table2 as make
    from nmt.report.tables.writer import write_table

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
    table = make(read_runs(summary, keys), wanted, read_paper(paper, wanted.reported))
    write_table(table, output_csv, output_md, output_tex)


@click.command()
@click.option(
    "--translations",
    type=(str, PATH),
    required=True,
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its translations of the whole test set, from `decode --mode all`. Repeat it.",
)
@file_option("--reference", "Tokens of the reference.")
@own_sentences
@report_settings
@table_outputs
def table3(
    translations: tuple[tuple[str, Path], ...],
    reference: Path,
    paper: Path | None,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write Table 3: long sentences with their reference and the models' translations.

    The paper's own sentences come first where the test set holds them; others are drawn from the long ones.
    """
    from nmt.evaluation.translations import read_translations
    from nmt.io.text_files import read_lines
    from nmt.report.paper_numbers import read_own_sentences
    from nmt.report.tables.table3 import table3 as make
    from nmt.report.tables.writer import write_table

    table = make(
        {model: list(read_translations(path)) for model, path in translations},
        list(read_lines(reference)),
        read_own_sentences(paper).table3,
        parse_settings(Report, settings),
    )
    write_table(table, output_csv, output_md, output_tex)


@click.command()
@file_option("--score", "Scores of a run, from `evaluate`. Repeat it.", multiple=True)
@summaries
@file_option("--run-settings", "The settings.json of a run, written by `train`. Repeat it.", multiple=True)
@report_settings
@table_outputs
def ablations(
    score: tuple[Path, ...],
    summary: tuple[Path, ...],
    run_settings: tuple[Path, ...],
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
) -> None:
    """Write the table of ablations: how much each ambiguous detail of the paper changes BLEU and NLL.

    One block per baseline of the settings' `ablations`; differences are read from the runs' own settings.
    """
    from nmt.report.run_results import read_runs
    from nmt.report.tables.ablations import ablations as make
    from nmt.report.tables.writer import write_table

    table = make(
        read_runs(score, ("bleu_all", "bleu_no_unk")),
        read_runs(summary, ("dev_nll",)),
        read_runs(run_settings, ("architecture", "training")),
        parse_settings(Report, settings),
    )
    write_table(table, output_csv, output_md, output_tex)


@click.command()
@file_option("--table", "A table as .tex, in the order of the document. Repeat it.", multiple=True)
@file_option("--output", "The document, in the folder of the tables.")
def tables_document(table: tuple[Path, ...], output: Path) -> None:
    """Write a LaTeX document of several tables that compiles by itself."""
    from nmt.report.tables.latex import document
    from nmt.report.tables.writer import write_text

    write_text(output, document(table))
