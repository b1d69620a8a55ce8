"""`make results-page` calls this module. It keeps packages of finished runs, and shows them all in docs/results.md and
docs/compared.md.

Usage: python -m tools.results_page [EXPERIMENT...]

The package of each experiment named, without attention and figures, is copied to results/packages/NAME, where its
tables are made again; `nmt verify results/packages/NAME` checks it in any clone. Parts between two comments of
docs/results.md then have the tables of all packages, those of docs/compared.md the verdicts on each paper's claims, and
README's part the scores of some models; the rest of the pages is written by hand. Pictures of Figure 2 are drawn from
the packages, too.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.evaluation.bleu import corpus_bleu
from nmt.io.files import write_json, write_text
from nmt.io.messages import print_error
from nmt.io.system import describe_environment
from nmt.plots.style import save_figure
from pipeline.config.artifacts import FIRST_PAPER
from pipeline.results import package
from pipeline.results.claims import NOT_MEASURED
from pipeline.results.figures.bleu_curves import plot_bleu_by_length
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import CLAIMS, TABLES_PROVENANCE
from pipeline.results.papers import PAPERS_FOLDER, Paper, ScoreTable, SentenceTable, read_paper
from pipeline.results.provenance import describe_unknown_code
from pipeline.results.ro_crate import write_crate
from pipeline.results.seeds import Result
from pipeline.results.tables.claims import format_effect, format_reported
from pipeline.results.tables.writer import make_pipe_table
from pipeline.results.tables_and_figures import list_text_files, write_tables_and_figures
from pipeline.results.verify import verify_results

PACKAGES = REPOSITORY / "results" / "packages"
PAGE = REPOSITORY / "docs" / "results.md"
COMPARED_PAGE = REPOSITORY / "docs" / "compared.md"
BEGIN, END = "<!-- packages: written by make results-page -->\n", "<!-- end of packages -->\n"
BEGIN_CLAIMS, END_CLAIMS = "<!-- claims of {}: written by make results-page -->\n", "<!-- end of claims -->\n"
README = REPOSITORY / "README.md"
PICTURES = REPOSITORY / "docs" / "pictures" / "results"
PICTURED_PACKAGES = {
    "demo": "BLEU against sentence length: the demo's synthetic text",
    "multi30k": "BLEU against sentence length: captions of Multi30k",
    "overnight": "BLEU against sentence length: news-test-2014",
}
"""Packages whose Figure 2 is a picture of README or of the page, and what it shows."""
SCORES_BEGIN, SCORES_END = "<!-- scores: written by make results-page -->\n", "<!-- end of scores -->\n"
LONG_SENTENCE = 51
"""Words of the shortest sentence in README's columns of long sentences."""
README_ROWS = {
    "demo": ("[demo](docs/results.md#demo): synthetic text", "rnnencdec-50", "rnnsearch-50"),
    "multi30k": ("[Multi30k](docs/results.md#multi30k): image captions", "rnnencdec-26", "rnnsearch-26"),
}
"""Rows of README's first table: the package, its text, and the models without and with attention."""
PAPERS_TEST_SET = "overnight"
"""The package with the paper's test set, whose scores README's second table shows beside the paper's."""
MAX_TABLE_LINES = 30
"""Length of a table on the page. The page only names the file of a longer one (the differences of 13 systems)."""
_LARGE_FILES = ("alignments/", "test/gold.align.gz")
"""Files that the copy leaves out: attention on the reference, and the alignments that it is compared with."""


def main(arguments: list[str]) -> int:
    """Copy the packages of experiments to results/packages, and write the page. Return the exit code."""
    try:
        for experiment in map(Path, arguments):
            keep_package(experiment, PACKAGES / experiment.resolve().name)
        write_text(PAGE, insert_packages(PAGE.read_text(encoding="utf-8")))
        write_text(COMPARED_PAGE, insert_claims(COMPARED_PAGE.read_text(encoding="utf-8")))
        write_text(README, insert_scores(README.read_text(encoding="utf-8")))
        for name, description in PICTURED_PACKAGES.items():
            figure = plot_bleu_by_length(Inputs(PACKAGES / name))
            save_figure(figure, PICTURES / f"{name}_figure2.png", description)
    except UserError as error:
        print_error(str(error))
        return 2
    return 0


def keep_package(experiment: Path, folder: Path) -> None:
    """Copy the package of a finished run to `folder`, make its tables again, and record where they come from.

    Raises:
        UserError: `nmt verify` finds a problem in the package, or it was made with code that no commit has.
    """
    results = experiment / "results"
    verdict = verify_results(results)
    if verdict.problems:
        raise UserError(*verdict.problems)
    unknown_code = list(describe_unknown_code(Inputs(results)))
    if unknown_code:
        raise UserError(*unknown_code, "run it again in a clean checkout")
    with tempfile.TemporaryDirectory(prefix="nmt-results-page-") as scratch:
        # built outside of the checkout, since new files in the checkout would be recorded as changes of its commit
        built_package = Path(scratch) / "package"
        build_package(results, experiment / "data" / "archives", built_package)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(built_package, folder)


def build_package(results: Path, archive_folder: Path, folder: Path) -> None:
    """Copy the package without its large files, make its tables anew, and describe its files in an RO-Crate."""
    files = [path for path in results.rglob("*") if path.is_file()]
    for source in sorted(files):
        name = source.relative_to(results).as_posix()
        is_dropped = name.startswith(_LARGE_FILES) or name.endswith(".provenance.json")
        if package.belongs_to_package(name) and not is_dropped:
            package.copy_into_package(source, folder / name)

    # tables, the environment that made them, and the RO-Crate
    inputs = Inputs(folder)
    write_tables_and_figures(inputs, folder, list_text_files(inputs))
    write_json(folder / TABLES_PROVENANCE, describe_environment())
    write_crate(folder, [path for path in folder.rglob("*") if path.is_file()], archive_folder)


def insert_packages(page: str) -> str:
    """Return the page with the sections of all packages between its two comments."""
    paragraphs: list[str] = []
    for folder in sorted(PACKAGES.iterdir()):
        paragraphs += describe_package(folder)
    return replace_between(page, BEGIN, END, "\n\n".join(paragraphs))


def replace_between(page: str, begin: str, end: str, text: str) -> str:
    """Return a page with a new text between two of its comments."""
    head, _, old_text = page.partition(begin)
    _, _, tail = old_text.partition(end)
    return f"{head}{begin}\n{text}\n\n{end}{tail}"


def describe_package(folder: Path) -> Iterator[str]:
    """Yield the paragraphs of a package: headline result, tables of the papers, BLEU differences, and ablations."""
    inputs = Inputs(folder)
    titles = {"significance": "Differences in BLEU", "ablations": "Ablations"}
    for paper in inputs.papers.values():
        for name, table in paper.tables.items():
            if not isinstance(table, SentenceTable):
                titles[name] = f"{paper.name}, {table.title}"  # "Bahdanau et al. (2015), Table 1"

    yield f"## {folder.name}"
    yield (folder / "headline.txt").read_text(encoding="utf-8").strip()
    for name in inputs.outputs.tables:
        if name not in titles:
            continue
        # the notes below the table are left out
        text, _, _ = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")
        if text.count("\n") < 2:
            continue  # only a header: the package has no system of this table
        if text.count("\n") > MAX_TABLE_LINES:
            yield f"{titles[name]}: `results/packages/{folder.name}/{name}.md`"
        else:
            yield f"{titles[name]}:\n\n{text}"


def insert_claims(page: str) -> str:
    """Return the page with the verdicts of all packages on each paper's claims, between two comments."""
    for path in sorted(PAPERS_FOLDER.glob("*.yaml")):
        overview = make_claims_overview(read_paper(path))
        page = replace_between(page, BEGIN_CLAIMS.format(path.stem), END_CLAIMS, overview)
    return page


def make_claims_overview(paper: Paper) -> str:
    """Return a table of a paper's claims, with a column for each package that decides some of them."""
    # 1. the claims, and what the paper reports
    columns: dict[str, list[str]] = {"Claim": [], "Where": [], "The paper": []}
    for claim in paper.claims.values():
        columns["Claim"].append(claim.says)
        columns["Where"].append(claim.place)
        columns["The paper"].append(format_reported(paper, claim))

    # 2. the verdicts of each package: "holds (+13.02)", or nothing where the claim is not measured
    for folder in sorted(PACKAGES.iterdir()):
        frame = pd.read_csv(folder / f"{CLAIMS}.csv", dtype=str, keep_default_na=False)
        rows = {row["id"]: row for row in frame.to_dict("records") if row["paper"] == paper.name}
        if not rows:
            continue
        cells = []
        for name, claim in paper.claims.items():
            row = rows[name]
            cell = ""
            if row["verdict"] != NOT_MEASURED:
                cell = f"{row['verdict']} ({format_effect(claim, float(row['effect']))})"
            cells.append(cell)
        columns[folder.name] = cells
    cells_by_claim = list(zip(*columns.values(), strict=True))
    return make_pipe_table(list(columns), cells_by_claim, text_columns=columns)


def insert_scores(readme: str) -> str:
    """Return README with the tables of scores between its two comments."""
    # 1. the other texts: a row for each package
    lines = ["| BLEU (over 50 words) | one vector | attention |", "|---|--:|--:|"]
    for name, (text, *models) in README_ROWS.items():
        scores = Inputs(PACKAGES / name).scores()
        cells = [format_bleu(scores[model]) for model in models]
        lines.append(f"| {text} | {' | '.join(cells)} |")

    # 2. the paper's test set: a row for each system that the paper and the package have
    overnight = "[overnight](docs/results.md#overnight)"
    header = f"| BLEU on news-test-2014 (over 50 words) | the paper, *reported* | {overnight} |"
    lines += ["", header, "|---|--:|--:|"]
    table1 = read_paper(PAPERS_FOLDER / f"{FIRST_PAPER}.yaml").tables["table1"]
    assert isinstance(table1, ScoreTable)
    scores = Inputs(PACKAGES / PAPERS_TEST_SET).scores()
    for system, reported_row in table1.reported.items():
        if system in scores:
            reported_bleu = reported_row.scores["all"]
            lines.append(f"| {reported_row.label} | {reported_bleu:.2f} | {format_bleu(scores[system])} |")
    return replace_between(readme, SCORES_BEGIN, SCORES_END, "\n".join(lines))


def format_bleu(runs: Sequence[Result]) -> str:
    """Return the mean BLEU of a model's runs, and in parentheses that of the long sentences."""
    mean_bleu = statistics.fmean(run["bleu_all"] for run in runs)
    return f"{mean_bleu:.2f}{score_long_sentences(runs)}"


def score_long_sentences(runs: Sequence[Result]) -> str:
    """Return the mean BLEU of a model's runs on long sentences as " (6.07)", or "" if the test set has none."""
    scores = []
    for run in runs:
        long_sentences = [row for row in run["by_sentence"] if row["source_length"] >= LONG_SENTENCE]
        if not long_sentences:
            return ""
        scores.append(corpus_bleu(long_sentences))
    return f" ({statistics.fmean(scores):.2f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
