"""All tables and figures, which are made from the replication package alone.

Rules make them from the package of their run, and `nmt verify` from somebody else's package.
"""

from collections.abc import Callable, Collection
from functools import cache, partial
from pathlib import Path

from nmt.evaluation.alignment_error_rate import compute_alignment_error_rate
from nmt.io.files import format_json, read_json, write_text
from pipeline.results.claims import decide_claims
from pipeline.results.corpora import build_corpora_table
from pipeline.results.headline import describe_longest_sentences
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import CLAIMS, COMPARISON, DATA, DOCUMENT, HEADLINE
from pipeline.results.papers import PerplexityTable, ScoreTable, SentenceTable, TrainingTable
from pipeline.results.tables.ablations import make_ablations_table
from pipeline.results.tables.claims import make_claims_table
from pipeline.results.tables.latex import make_document
from pipeline.results.tables.perplexity import make_perplexity_table
from pipeline.results.tables.scores import make_score_table
from pipeline.results.tables.sentences import make_sentence_table
from pipeline.results.tables.significance import make_significance_table
from pipeline.results.tables.table import Table
from pipeline.results.tables.training import make_training_table
from pipeline.results.tables.writer import RENDERERS

# --- tables -----------------------------------------------------------------------------------------------------------


def list_text_files(inputs: Inputs) -> dict[str, Callable[[], str]]:
    """Return a function that makes the content of each text file that can be made from a package, by file name."""
    outputs = inputs.outputs

    # each table is made once, for its own files and for the document
    make_table_once = cache(partial(make_table, inputs=inputs))

    def make_text(file: str) -> str:
        stem, _, extension = Path(file).name.rpartition(".")
        if file == COMPARISON:
            return format_json(inputs.comparison)
        if file == DOCUMENT:
            return make_document({name: make_table_once(name) for name in outputs.tables})
        if file == HEADLINE:
            return describe_longest_sentences(inputs)
        if file in outputs.error_rates:
            rate = compute_alignment_error_rate(stem, inputs.alignments(stem), inputs.gold_alignments)
            return format_json(rate)
        return RENDERERS[extension](make_table_once(stem))

    files = [COMPARISON, *outputs.table_files, *outputs.data_files]
    return {file: partial(make_text, file) for file in files}


def make_table(name: str, inputs: Inputs) -> Table:
    """Return a table by its name: one of `Outputs.tables`, or `data`, the table of the corpora."""
    # 1. tables that no paper has
    settings = inputs.settings
    if name == DATA:
        reported_words = inputs.first_paper.data if settings.reported else {}
        corpora = read_json(inputs.corpus_counts)
        return build_corpora_table(corpora, inputs.config.languages, reported_words)
    if name == "significance":
        return make_significance_table(inputs.comparison, settings)
    if name == CLAIMS:
        return make_claims_table(decide_claims(inputs), settings)
    if name == "ablations":
        return make_ablations_table(inputs)

    # 2. a paper's table, without its reported numbers unless the settings ask for them
    paper = next(paper for paper in inputs.papers.values() if name in paper.tables)
    paper_table = paper.tables[name]
    if isinstance(paper_table, SentenceTable):
        return make_sentence_table(paper_table, inputs)
    if not settings.reported:
        paper_table = paper_table.model_copy(update={"reported": {}})
    match paper_table:
        case ScoreTable():
            return make_score_table(paper_table, paper.name, inputs)
        case PerplexityTable():
            return make_perplexity_table(paper_table, paper.name, inputs)
        case TrainingTable():
            return make_training_table(paper_table, paper.name, inputs)


# --- files ------------------------------------------------------------------------------------------------------------


def write_tables_and_figures(
    inputs: Inputs, folder: Path, requested_files: Collection[str] | None = None
) -> None:
    """Make tables and figures from a package.

    Args:
        inputs: the package.
        folder: the folder for the files.
        requested_files: the names of the files to make; None: all files.
    """
    # 1. tables and other texts
    for file, make_content in list_text_files(inputs).items():
        if requested_files is None or file in requested_files:
            write_text(folder / file, make_content())

    # 2. figures
    for name in inputs.outputs.figures:
        files = [f"{name}.pdf", f"{name}.png"]
        if requested_files is None or set(files) & set(requested_files):
            # imported here, because `nmt verify` needs no matplotlib unless it draws figures
            from nmt.plots.style import save_figure
            from pipeline.results.figures.registry import FIGURES

            figure = FIGURES[name](inputs)
            for file in files:
                save_figure(figure, folder / file)
