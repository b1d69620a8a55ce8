"""Tables and figures as one function of the replication package: `build`.

The rules of the workflow call it with the package of their run, `nmt verify` with somebody's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nmt.evaluation.alignment_error_rate import compute_alignment_error_rate
from nmt.io.files import format_json, write_text
from pipeline.config.display import ReportSettings
from pipeline.config.experiment import select_contrasted_models
from pipeline.results.corpora import build_corpora_table
from pipeline.results.finding import finding
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import COMPARISON, DATA, DOCUMENT, FINDING, Outputs, list_outputs
from pipeline.results.papers import PerplexityTable, ScoreTable, SentenceTable, TrainingTable
from pipeline.results.papers import Table as PaperTable
from pipeline.results.runs import Runs
from pipeline.results.tables.latex import document
from pipeline.results.tables.perplexity import perplexity_table
from pipeline.results.tables.scores import Measured, score_table
from pipeline.results.tables.sentences import SetTexts, sentence_table
from pipeline.results.tables.training import training_table
from pipeline.results.tables.writer import Table, forms

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def list_package_outputs(inputs: Inputs) -> Outputs:
    """Return what follows from a package. One that is kept small has no attention, and so no alignment error rates."""
    listed = list_outputs(inputs.config, list(inputs.papers.values()))
    aligned = [run for run in listed.aligned if inputs.package.alignments(run).is_file()]
    return replace(listed, aligned=aligned)


# --- tables -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextFiles:
    """Files that are made together: a table in its three forms, or one file."""

    files: tuple[str, ...]
    make: Callable[[], dict[str, str]]
    """Returns their contents."""


def list_text_files(inputs: Inputs) -> Iterator[TextFiles]:
    """Yield every table or other text that follows from a package."""
    listed = list_package_outputs(inputs)

    @cache
    def made(name: str) -> dict[str, str]:
        return {f"{name}.{form}": text for form, text in forms(table(name, inputs)).items()}

    def whole() -> str:
        return document({name: made(name)[f"{name}.tex"] for name in listed.tables})

    yield _one(COMPARISON, lambda: format_json(inputs.comparison))
    for name in [*listed.tables, *([DATA] if listed.corpora else [])]:
        yield TextFiles(tuple(f"{name}.{form}" for form in ("csv", "md", "tex")), partial(made, name))
    yield _one(DOCUMENT, whole)
    for run, file in zip(listed.aligned, listed.error_rates, strict=True):
        yield _one(file, partial(_error_rate, run, inputs))
    models = select_contrasted_models(inputs.config)
    yield _one(FINDING, lambda: finding(inputs.scores_of_runs(models), inputs.settings) + "\n")


def _one(file: str, make: Callable[[], str]) -> TextFiles:
    return TextFiles((file,), lambda: {file: make()})


def table(name: str, inputs: Inputs) -> Table:
    """Return one of the tables of `Outputs.tables`."""
    settings = inputs.settings
    if name == DATA:
        return build_corpora_table(inputs.counts, inputs.config.languages, inputs.reported_data)
    paper = next((paper for paper in inputs.papers.values() if name in paper.tables), None)
    if paper is None:
        own: Table = import_module(f"pipeline.results.tables.{name}").of_package(inputs)
        return own
    described = as_wanted(paper.tables[name], settings)
    match described:
        case ScoreTable():
            scores: dict[str, Runs] = {set_: inputs.scores(set_) for set_ in described.sets}
            measured = Measured(scores, inputs.summaries(), inputs.comparison)
            return score_table(described, paper.name, measured, settings)
        case PerplexityTable():
            return perplexity_table(described, paper.name, inputs.perplexities(), settings)
        case TrainingTable():
            return training_table(described, paper.name, inputs.summaries(), settings)
        case SentenceTable():
            sets: dict[str, SetTexts] = {set_: _texts(set_, described, inputs) for set_ in described.sets}
            return sentence_table(described, sets, settings)


def as_wanted(table: PaperTable, settings: ReportSettings) -> PaperTable:
    """Return a paper's table, without the reported numbers where they are not wanted."""
    if settings.reported or isinstance(table, SentenceTable):
        return table
    return table.model_copy(update={"reported": {}})


def _texts(set_: str, table: SentenceTable, inputs: Inputs) -> SetTexts:
    """Return the models' translations of a set, and other systems' as far as there are any."""
    mode, models = "no_unk" if table.known else "all", inputs.config.artifacts.table3_models
    others = [system for system in inputs.other_systems(set_) if system in table.others]
    return SetTexts(
        inputs.lines("reference", set_),
        {model: inputs.translations(model, mode, set_) for model in models},
        {system: inputs.other_lines(system, set_) for system in others},
    )


def _error_rate(run: str, inputs: Inputs) -> str:
    return format_json(compute_alignment_error_rate(run, inputs.package.alignments(run), inputs.package.gold))


# --- files ------------------------------------------------------------------------------------------------------------


def build(inputs: Inputs, out: Path, only: Collection[str] | None = None) -> None:
    """Make tables and figures from a package.

    Args:
        inputs: the package.
        out: folder for the files.
        only: names of files; without it, all are made.
    """
    for text in list_text_files(inputs):
        if wanted := [file for file in text.files if only is None or file in only]:
            contents = text.make()
            for file in wanted:
                write_text(out / file, contents[file])
    listed = list_package_outputs(inputs)
    for name in [*listed.figures, *([DATA] if listed.corpora else [])]:
        files = [f"{name}.{form}" for form in ("pdf", "png")]
        if only is None or set(files) & set(only):
            # imported here, since `nmt verify` draws nothing
            from nmt.plots.style import save_figure

            figure = import_module(f"pipeline.results.figures.{name}").draw(inputs)
            for file in files:
                save_figure(figure, out / file, described(figure))


def described(figure: Figure) -> str:
    """Name the labelled lines, each with its first and last point: the alternative text of the picture."""
    sentences = []
    for axes in figure.axes:
        what = " ".join([axes.get_title(), *axes.get_ylabel().split("\n")]).strip()
        for line in axes.get_lines():
            points = np.asarray(line.get_xydata(), dtype=float)
            points = points[np.isfinite(points).all(axis=1)]
            if len(points) and not str(line.get_label()).startswith("_"):
                ends = ", ".join(f"{y:.3g} at {x:,.6g}" for x, y in points[[0, -1]].tolist())
                sentences.append(f"{what}, {line.get_label()}: {ends}.")
    return " ".join(sentences)
