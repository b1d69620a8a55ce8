"""Subcommands that write tables: those of the group `nmt table` except `compare`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nmt.cli.options import PATH, Command, file_option, parse_settings
from nmt.errors import UserError
from nmt.io.files import read_json, write_text
from pipeline.cli.options import given_translations, report_settings, summaries
from pipeline.config.artifacts import Report

if TYPE_CHECKING:
    from pipeline.results.tables.writer import Table


def table_command(make: Callable[..., Table]) -> Callable[..., None]:
    """Turn a function that returns a table of the report's settings into one that writes its three files."""

    @wraps(make)
    def command(settings: str, output_csv: Path, output_md: Path, output_tex: Path, **options: Any) -> None:
        from pipeline.results.tables.writer import write_table

        table = make(settings=parse_settings(Report, settings), **options)
        write_table(table, output_csv, output_md, output_tex)

    for form in ("tex", "md", "csv"):
        command = file_option(f"--output-{form}", f"The table as .{form}.")(command)
    return report_settings(command)


def table_of_paper(command: Command) -> Command:
    """Add the options `--paper FILE --table NAME`, which choose a paper and one of its tables."""
    for option in (
        click.option("--table", "name", required=True, metavar="NAME", help="The table's name in that file."),
        file_option(
            "--paper", "File with a paper's tables and reported results (workflow/papers/PAPER.yaml)."
        ),
    ):
        command = option(command)
    return command


@click.command()
@table_of_paper
@file_option(
    "--score",
    "Scores of a run or another system, written by `nmt test-set evaluate`. Repeat it, in the order of the rows.",
    multiple=True,
)
@click.option(
    "--dev-score",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Scores on the development set, written by `nmt test-set evaluate`. Repeat it.",
)
@click.option(
    "--summary", type=PATH, multiple=True, metavar="FILE", help="The summary.json of a run. Repeat it."
)
@click.option(
    "--comparison",
    type=PATH,
    metavar="FILE",
    help="Output of `nmt table compare`. It adds intervals and further metrics.",
)
@table_command
def score_table(
    paper: Path,
    name: str,
    score: tuple[Path, ...],
    dev_score: tuple[Path, ...],
    summary: tuple[Path, ...],
    comparison: Path | None,
    settings: Report,
) -> Table:
    """Write a table of BLEU scores: one row per system, one column per set and kind of sentences (Table 1).

    The file of --paper defines the columns, and the reported scores that stand beside the measured ones.
    """
    from pipeline.results.papers import ScoreTable, read_table
    from pipeline.results.run_results import read_runs
    from pipeline.results.tables.scores import SCORES, Measured
    from pipeline.results.tables.scores import score_table as make

    called, table = read_table(paper, name, ScoreTable, settings.reported)
    measured = Measured(
        {"test": read_runs(score, SCORES), "dev": read_runs(dev_score, SCORES)},
        read_runs(summary, ("family", "optimizer", "hidden_units", "updates")),
        read_json(comparison) if comparison else None,
    )
    return make(table, called, measured, settings)


@click.command()
@file_option("--comparison", "Output of `nmt table compare`.")
@table_command
def significance(comparison: Path, settings: Report) -> Table:
    """Write the table of paired significance: the difference in BLEU and the p-value of each pair of models."""
    from pipeline.results.tables.significance import significance as make

    return make(read_json(comparison), settings)


@click.command()
@table_of_paper
@summaries
@table_command
def training_table(
    paper: Path,
    name: str,
    summary: tuple[Path, ...],
    settings: Report,
) -> Table:
    """Write a table of learning statistics (Table 2).

    Models of one family (RNNencdec, RNNsearch) come one after the other, otherwise in the order given.
    """
    from pipeline.results.papers import TrainingTable, read_table
    from pipeline.results.run_results import read_runs
    from pipeline.results.tables.training import training_table as make

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
    called, table = read_table(paper, name, TrainingTable, settings.reported)
    return make(table, called, read_runs(summary, keys), settings)


@click.command()
@table_of_paper
@click.option(
    "--translations",
    type=(str, PATH),
    required=True,
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its translations of the test set, written by `nmt test-set decode`. Repeat it.",
)
@given_translations
@file_option("--reference", "Tokenized reference of the test set.")
@click.option(
    "--dev-translations",
    type=(str, PATH),
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its translations of the development set. Repeat it.",
)
@click.option(
    "--dev-given",
    type=(str, PATH),
    multiple=True,
    metavar="SYSTEM FILE",
    help="Translations of another system for the development set. Repeat it.",
)
@click.option(
    "--dev-reference", type=PATH, metavar="FILE", help="Tokenized reference of the development set."
)
@table_command
def sentence_table(
    paper: Path,
    name: str,
    translations: tuple[tuple[str, Path], ...],
    given: tuple[tuple[str, Path], ...],
    reference: Path,
    dev_translations: tuple[tuple[str, Path], ...],
    dev_given: tuple[tuple[str, Path], ...],
    dev_reference: Path | None,
    settings: Report,
) -> Table:
    """Write a table of sentences with their reference and the systems' translations (Table 3).

    The paper's own sentences come first if the sets contain them. The others are drawn at random from the sentences
    with a length in the paper's range.
    """
    from nmt.evaluation.translations import read_translations
    from nmt.io.text_files import read_lines
    from pipeline.results.papers import SentenceTable, read_table
    from pipeline.results.tables.sentences import SetTexts
    from pipeline.results.tables.sentences import sentence_table as make

    def read(
        translations: tuple[tuple[str, Path], ...], given: tuple[tuple[str, Path], ...], reference: Path
    ) -> SetTexts:
        return SetTexts(
            list(read_lines(reference)),
            {model: list(read_translations(path)) for model, path in translations},
            {system: list(read_lines(path)) for system, path in given},
        )

    _, table = read_table(paper, name, SentenceTable)
    sets = {"test": read(translations, given, reference)}
    if "dev" in table.sets:
        if dev_reference is None:
            raise UserError(f"--dev-reference: not given, but {name} has sentences of the development set")
        sets["dev"] = read(dev_translations, dev_given, dev_reference)
    return make(table, sets, settings)


@click.command()
@table_of_paper
@file_option(
    "--perplexity",
    "Perplexity of a run, written by `nmt test-set perplexity`. Repeat it, in the order of the rows.",
    multiple=True,
)
@table_command
def perplexity_table(
    paper: Path,
    name: str,
    perplexity: tuple[Path, ...],
    settings: Report,
) -> Table:
    """Write a table of perplexities on the test set (Sutskever et al., 2014)."""
    from pipeline.results.papers import PerplexityTable, read_table
    from pipeline.results.run_results import read_runs
    from pipeline.results.tables.perplexity import perplexity_table as make

    called, table = read_table(paper, name, PerplexityTable, settings.reported)
    found = read_runs(perplexity, ("perplexity", "log_probability", "sentences", "words"))
    return make(table, called, found, settings)


@click.command()
@file_option("--score", "Scores of a run, written by `nmt test-set evaluate`. Repeat it.", multiple=True)
@summaries
@file_option(
    "--run-settings", "The settings.json of a run, written by `nmt train`. Repeat it.", multiple=True
)
@table_command
def ablations(
    score: tuple[Path, ...],
    summary: tuple[Path, ...],
    run_settings: tuple[Path, ...],
    settings: Report,
) -> Table:
    """Write the table of ablations: how much each ambiguous detail of the paper changes BLEU and NLL.

    The table has one block per baseline of the setting `ablations`. The details in which a run differs from its
    baseline are taken from the settings of both runs.
    """
    from pipeline.results.run_results import read_runs
    from pipeline.results.tables.ablations import ablations as make

    return make(
        read_runs(score, ("bleu_all", "bleu_no_unk")),
        read_runs(summary, ("dev_nll",)),
        read_runs(run_settings, ("architecture", "training")),
        settings,
    )


@click.command()
@file_option("--table", "A table as .tex. Repeat it, in the order of the document.", multiple=True)
@file_option("--output", "The document, in the same folder as the tables.")
def tables_document(table: tuple[Path, ...], output: Path) -> None:
    """Write a LaTeX document that contains several tables and compiles by itself."""
    from pipeline.results.tables.latex import document

    write_text(output, document(table))
