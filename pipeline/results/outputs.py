"""The names of what a run makes of its replication package; the rules and `build` list them from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.results.papers import Paper, PerplexityTable, ScoreTable, SentenceTable, TrainingTable

COMPARISON, FINDING, DOCUMENT = "comparison.json", "headline.txt", "tables.tex"
TABLES_MADE = "tables.provenance.json"
"""The file that names the code and packages which made the tables."""
DATA = "data"
"""The table and the figure of the corpora."""
TREE, VECTORS = "cho2014b_figure6", "sentence_vectors"
"""Figures that need a model: the first is drawn from it, the second from a file that it wrote."""


@dataclass(frozen=True)
class Outputs:
    """Tables and figures in the order of the papers, and the runs whose attention is compared with known alignments.

    corpora: whether there are counts of the corpora, and with them a table and a figure.
    """

    tables: list[str]
    figures: list[str]
    aligned: list[str]
    corpora: bool

    @property
    def error_rates(self) -> list[str]:
        """The files of alignment error rates."""
        return [f"alignment_error_rate/{run}.json" for run in self.aligned]

    @property
    def table_files(self) -> list[str]:
        """The files with numbers, which follow from the package to the byte."""
        forms = [f"{table}.{form}" for table in self.tables for form in ("csv", "md", "tex")]
        return [*forms, DOCUMENT, *self.error_rates, FINDING]

    @property
    def data_files(self) -> list[str]:
        """The files of the corpora's table and figure."""
        return [f"{DATA}.{form}" for form in ("csv", "md", "tex", "pdf", "png")] if self.corpora else []

    @property
    def figure_files(self) -> list[str]:
        """The files of figures."""
        return [f"{figure}.{form}" for figure in self.figures for form in ("pdf", "png")]


def has_gold_alignments(config: Config) -> bool:
    """Return whether word alignments of the test text are known: given, or written by the grammar with the text."""
    grammar = config.corpora[config.use.test[0]].grammar
    return config.artifacts.gold_alignments is not None or grammar is not None


def list_outputs(config: Config, papers: Sequence[Paper]) -> Outputs:
    """Return what a run with these settings makes, of the papers that the settings name."""
    tables = {name: table for paper in papers for name, table in paper.tables.items()}
    kinds = (ScoreTable, PerplexityTable, TrainingTable, SentenceTable)
    first, *others = ([name for name, table in tables.items() if isinstance(table, kind)] for kind in kinds)
    lacking = {TREE} if config.artifacts.figure3_model else {TREE, "figure3"}
    figures = dict.fromkeys(name for paper in papers for name in paper.figures if name not in lacking)
    aligning = [model for model in config.use.models if config.models[model].aligns]
    return Outputs(
        [
            *first,
            "significance",
            *(name for names in others for name in names),
            *(["ablations"] if config.artifacts.ablations else []),
        ],
        [*figures, *([VECTORS] if config.sentence_vectors else [])],
        list(collect_runs(config, aligning)) if has_gold_alignments(config) else [],
        corpora=config.pretrained.models is None,
    )
