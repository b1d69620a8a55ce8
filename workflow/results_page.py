"""`make results-page` calls this module. It keeps packages of finished runs, and shows them all in docs/results.md.

Usage: python -m workflow.results_page [EXPERIMENT...]

The package of each experiment named, without attention and figures, is copied to results/packages/NAME, where its
tables are made again; `nmt verify results/packages/NAME` checks it in any clone. The page's part between two comments
is then what the tables of all packages say; the rest of the page is written by hand.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nmt.errors import UserError, printable
from nmt.io.files import write_json, write_text
from nmt.io.system import REPOSITORY, describe_environment
from pipeline.results import package
from pipeline.results.build import build, list_package_outputs, list_text_files
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_MADE
from pipeline.results.package import ReplicationPackage
from pipeline.results.papers import PAPERS_FOLDER, SentenceTable
from pipeline.results.ro_crate import write_crate
from pipeline.results.verify import verify_results

PACKAGES = REPOSITORY / "results" / "packages"
PAGE = REPOSITORY / "docs" / "results.md"
BEGIN, END = "<!-- packages: written by make results-page -->\n", "<!-- end of packages -->\n"
LONGEST = 30
"""Lines of a table on the page. Of a longer one (the differences of 13 systems) the page names the file."""
_LARGE = ("alignments/", "test/gold.align.gz")
"""Parts that are not kept: attention on the reference, and the links that it is compared with."""


def main(arguments: list[str]) -> int:
    """Keep packages and write the page. A problem is one line."""
    try:
        for experiment in map(Path, arguments):
            keep(experiment, PACKAGES / experiment.resolve().name)
        write_text(PAGE, with_packages(PAGE.read_text(encoding="utf-8")))
    except UserError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 2
    return 0


def keep(experiment: Path, folder: Path) -> None:
    """Copy the package of a finished run, make its tables again, and record them; a `UserError` if it has problems."""
    results = experiment / "results"
    with tempfile.TemporaryDirectory(prefix="nmt-results-page-") as scratch:
        (Path(scratch) / "text").mkdir()
        for problem in verify_results(results, Path(scratch) / "text").problems:
            raise UserError(problem)
        # elsewhere, since the record says whether files of the checkout differ from its commit
        made = _kept(results, experiment / "data" / "archives", Path(scratch) / "package")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(made, folder)


def _kept(results: Path, archives: Path, folder: Path) -> Path:
    for source in sorted(path for path in results.rglob("*") if path.is_file()):
        name = source.relative_to(results).as_posix()
        if (
            not package.belongs_to_package(name)
            or name.startswith(_LARGE)
            or name.endswith(".provenance.json")
        ):
            continue
        package.copy_into_package(source, folder / name)
    inputs = Inputs(ReplicationPackage(folder), PAPERS_FOLDER)
    build(inputs, folder, [file for text in list_text_files(inputs) for file in text.files])
    write_json(folder / TABLES_MADE, describe_environment())
    files = [path for path in folder.rglob("*") if path.is_file()]
    write_crate(folder, files, archives)
    return folder


def with_packages(page: str) -> str:
    """Return the page with the tables of all packages between its two comments."""
    before, rest = page.split(BEGIN)
    sections = (part for folder in sorted(PACKAGES.iterdir()) for part in section(folder))
    return "".join([before, BEGIN, "\n", *(f"{part}\n\n" for part in sections), END, rest.split(END)[1]])


def section(folder: Path) -> Iterator[str]:
    """Yield what a package says: what the run found, its numbers of the papers' tables, and its differences."""
    inputs = Inputs(ReplicationPackage(folder), PAPERS_FOLDER)
    yield f"## {folder.name}"
    yield (folder / "headline.txt").read_text(encoding="utf-8").strip()
    called = {
        name: f"{paper.name}, {table.called}"
        for paper in inputs.papers.values()
        for name, table in paper.tables.items()
        if not isinstance(table, SentenceTable)
    }
    called["significance"] = "Differences in BLEU"
    for name in list_package_outputs(inputs).tables:
        if name in called:
            table, _, _ = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")
            if table.count("\n") > LONGEST:
                yield f"{called[name]}: `results/packages/{folder.name}/{name}.md`"
            else:
                yield f"{called[name]}:\n\n{table}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
