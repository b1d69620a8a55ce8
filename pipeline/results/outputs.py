"""The names of the tables and figures that a run makes from its replication package."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.results.papers import Paper, PaperTable

COMPARISON, HEADLINE, DOCUMENT = "comparison.json", "headline.txt", "tables.tex"
TABLE_EXTENSIONS = ("csv", "md", "tex")
TABLES_PROVENANCE = "tables.provenance.json"
"""The file that names the code and packages which made the tables."""
DATA = "data"
"""The table of the corpora."""
CLAIMS = "claims"
"""The table of the papers' claims and their verdicts."""
TREE, VECTORS = "cho2014b_figure6", "sentence_vectors"
"""Figures that need a model: the model draws the first, and computes the vectors of the second."""


@dataclass(frozen=True)
class Outputs:
    """Tables and figures in the order of the papers, and the runs whose attention is compared with known alignments.

    has_corpora: whether there are counts of the corpora, and with them a table.
    """

    tables: list[str]
    figures: list[str]
    aligned_runs: list[str]
    has_corpora: bool

    @property
    def error_rates(self) -> list[str]:
        """The files of alignment error rates."""
        return [f"alignment_error_rate/{run}.json" for run in self.aligned_runs]

    @property
    def table_files(self) -> list[str]:
        """The files with numbers, which can be recomputed from the package to the byte."""
        files = [f"{table}.{extension}" for table in self.tables for extension in TABLE_EXTENSIONS]
        return [*files, DOCUMENT, *self.error_rates, HEADLINE]

    @property
    def data_files(self) -> list[str]:
        """The files of the corpora's table."""
        return [f"{DATA}.{extension}" for extension in TABLE_EXTENSIONS] if self.has_corpora else []

    @property
    def figure_files(self) -> list[str]:
        """The files of figures."""
        return [f"{figure}.{extension}" for figure in self.figures for extension in ("pdf", "png")]


def list_outputs(config: Config, papers: Sequence[Paper]) -> Outputs:
    """Return the tables and figures of the papers that a run with these settings makes."""
    # 1. tables by kind: tables of scores first, then significance and claims, then the others
    paper_tables: list[tuple[str, PaperTable]] = []
    for paper in papers:
        paper_tables += paper.tables.items()
    tables = []
    for kind in ("scores", "perplexity", "training", "sentences"):
        tables += [name for name, table in paper_tables if table.kind == kind]
        if kind == "scores":
            tables += ["significance", CLAIMS]
    if config.artifacts.ablations:
        tables.append("ablations")

    # 2. figures, each once, without the tree, which is not made from the package
    omitted_figures = {TREE} if config.artifacts.figure3_model else {TREE, "figure3"}
    paper_figures = [name for paper in papers for name in paper.figures if name not in omitted_figures]
    figures = list(dict.fromkeys(paper_figures))
    if config.sentence_vectors:
        figures.append(VECTORS)

    # 3. runs with attention, if there are gold alignments of the test text: from a file, or written by the grammar
    aligned_runs: list[str] = []
    if config.artifacts.gold_alignments or config.corpora[config.use.test[0]].grammar:
        models = [model for model in config.use.models if config.models[model].has_attention]
        aligned_runs = list(collect_runs(config, models))
    return Outputs(tables, figures, aligned_runs, has_corpora=config.pretrained.models is None)
