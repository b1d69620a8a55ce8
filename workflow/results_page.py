"""`make results-page` calls this module. It keeps packages of finished runs, and shows them all in docs/results.md.

Usage: python -m workflow.results_page [EXPERIMENT...]

The package of each experiment named, without attention and figures, is copied to results/packages/NAME, where its
tables are made again; `nmt verify results/packages/NAME` checks it in any clone. The page's part between two comments
then has the tables of all packages; the rest of the page is written by hand.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.files import write_json, write_text
from nmt.io.messages import print_error
from nmt.io.system import describe_environment
from pipeline.results import package
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.package import ReplicationPackage
from pipeline.results.papers import SentenceTable
from pipeline.results.ro_crate import write_crate
from pipeline.results.tables_and_figures import (
    list_package_outputs,
    list_text_files,
    write_tables_and_figures,
)
from pipeline.results.verify import verify_results

PACKAGES = REPOSITORY / "results" / "packages"
PAGE = REPOSITORY / "docs" / "results.md"
BEGIN, END = "<!-- packages: written by make results-page -->\n", "<!-- end of packages -->\n"
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
    except UserError as error:
        print_error(str(error))
        return 2
    return 0


def keep_package(experiment: Path, folder: Path) -> None:
    """Copy the package of a finished run to `folder`, make its tables again, and record where they come from.

    Raises:
        UserError: `nmt verify` finds a problem in the package.
    """
    results = experiment / "results"
    with tempfile.TemporaryDirectory(prefix="nmt-results-page-") as scratch:
        (Path(scratch) / "text").mkdir()
        verdict = verify_results(results, Path(scratch) / "text")
        if verdict.problems:
            raise UserError(*verdict.problems)
        # outside of the checkout, since the record says whether files of the checkout differ from its commit
        built_package = Path(scratch) / "package"
        _build_package(results, experiment / "data" / "archives", built_package)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(built_package, folder)


def _build_package(results: Path, archive_folder: Path, folder: Path) -> None:
    """Copy the package without its large files, make its tables anew, and describe its files in an RO-Crate."""
    files = [path for path in results.rglob("*") if path.is_file()]
    for source in sorted(files):
        name = source.relative_to(results).as_posix()
        is_dropped = name.startswith(_LARGE_FILES) or name.endswith(".provenance.json")
        if package.belongs_to_package(name) and not is_dropped:
            package.copy_into_package(source, folder / name)

    # tables, the environment that made them, and the RO-Crate
    inputs = Inputs(ReplicationPackage(folder))
    write_tables_and_figures(inputs, folder, list_text_files(inputs))
    write_json(folder / TABLES_PROVENANCE, describe_environment())
    write_crate(folder, [path for path in folder.rglob("*") if path.is_file()], archive_folder)


def insert_packages(page: str) -> str:
    """Return the page with the sections of all packages between its two comments."""
    head, _, old_text = page.partition(BEGIN)
    _, _, tail = old_text.partition(END)
    paragraphs: list[str] = []
    for folder in sorted(PACKAGES.iterdir()):
        paragraphs += describe_package(folder)
    text = "".join(f"{paragraph}\n\n" for paragraph in paragraphs)
    return f"{head}{BEGIN}\n{text}{END}{tail}"


def describe_package(folder: Path) -> Iterator[str]:
    """Yield the paragraphs of a package: headline result, tables of the papers, BLEU differences, and ablations."""
    inputs = Inputs(ReplicationPackage(folder))
    titles = {"significance": "Differences in BLEU", "ablations": "Ablations"}
    for paper in inputs.papers.values():
        for name, table in paper.tables.items():
            if not isinstance(table, SentenceTable):
                titles[name] = f"{paper.name}, {table.title}"  # "Bahdanau et al. (2015), Table 1"

    yield f"## {folder.name}"
    yield (folder / "headline.txt").read_text(encoding="utf-8").strip()
    for name in list_package_outputs(inputs).tables:
        if name not in titles:
            continue
        # the notes below the table are left out
        text, _, _ = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")
        if text.count("\n") > MAX_TABLE_LINES:
            yield f"{titles[name]}: `results/packages/{folder.name}/{name}.md`"
        else:
            yield f"{titles[name]}:\n\n{text}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
