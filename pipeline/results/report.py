"""A run's results as one HTML page that needs nothing else: the headline, figures, tables, settings, versions."""

import base64
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from nmt import __version__
from nmt.io.files import read_json, write_text
from nmt.io.system import package_versions
from pipeline.config.artifacts import ReportSettings
from pipeline.config.runs import format_run_label
from pipeline.results.html import render_template
from pipeline.results.inputs import Inputs
from pipeline.results.tables.table import Table
from pipeline.results.tables_and_figures import make_table

MAIN_FIGURES = ("figure2", "figure3")
"""Figures at the beginning of the page."""
FOLDED_TABLES = ("significance", "data")
"""Tables that few readers need: the page shows only their headings at first."""
CSS_DPI = 96
"""Pixels per inch of a browser."""
_BASELINES = {
    "diagonal": "without a model: along the diagonal",
    "same_position": "without a model: to the same position",
}


@dataclass(frozen=True)
class Item:
    """A part of the page: a table, a picture, or text. The captions have its heading by its name.

    picture: a PNG in base64. width: the width in pixels at which the letters of the picture are legible. text:
    preformatted. is_folded: whether only the heading is shown at first.
    """

    name: str
    table: Table | None = None
    picture: str = ""
    width: int = 0
    text: str = ""
    is_folded: bool = False


def write_report(
    inputs: Inputs,
    artifacts: Sequence[Path],
    other_pages: Sequence[str],
    captions: Mapping[str, Mapping[str, str]],
    title: str,
    settings: dict[str, Any],
    output: Path,
) -> None:
    """Write the page of a run.

    Args:
        inputs: the package of the run.
        artifacts: the Markdown files of tables, PNG figures, JSON alignment error rates and the headline (.txt), in the
            order of the page.
        other_pages: file names of the pages in the same folder.
        captions: `heading` and `caption` of tables, figures and pages by name; by default, the heading is the name.
        title: the title of the page.
        settings: the merged settings of the run.
        output: the HTML file.
    """
    # tables, then the alignment error rates
    files: dict[str, list[Path]] = {".md": [], ".png": [], ".json": [], ".txt": []}
    for file in artifacts:
        files[file.suffix].append(file)
    tables = {file.stem: make_table(file.stem, inputs) for file in files[".md"]}
    if files[".json"]:
        tables["alignment_error_rate"] = _make_error_rate_table(files[".json"], inputs.settings)
    table_items = []
    for name, table in tables.items():
        table_items.append(Item(name, table=table, is_folded=name in FOLDED_TABLES))

    # figures
    figure_items = {}
    for file in files[".png"]:
        with Image.open(file) as picture:
            width = round(CSS_DPI * picture.width / picture.info["dpi"][0])
        content = base64.b64encode(file.read_bytes()).decode()
        figure_items[file.stem] = Item(file.stem, picture=content, width=width)
    main_items = [figure_items.pop(name) for name in MAIN_FIGURES if name in figure_items]

    versions = {"nmt": __version__, "Python": platform.python_version(), **package_versions()}
    run_items = []
    for name, values in (("settings", settings), ("software", versions)):
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
        run_items.append(Item(name, text=text, is_folded=True))
    sections = {"Tables": table_items, "Figures": list(figure_items.values()), "This run": run_items}
    page = render_template(
        "templates/report.html",
        title=title,
        papers=[paper.name for paper in inputs.papers.values()],
        headline=" ".join(file.read_text(encoding="utf-8").strip() for file in files[".txt"]),
        main_items=main_items,
        pages=other_pages,
        sections={name: items for name, items in sections.items() if items},
        captions=captions,
    )
    write_text(output, page)


def _make_error_rate_table(paths: Sequence[Path], settings: ReportSettings) -> Table:
    """Return the table of alignment error rates: the runs, then baselines without a model."""
    model_rows = []
    baseline_rows = []
    for path in paths:
        result = read_json(path)
        sentences = f"{result['sentences']:,}"
        label = format_run_label(path.stem, settings.labels)
        model_rows.append((label, _format_rate(result), sentences))
        for baseline, values in result["baselines"].items():
            baseline_rows.append((_BASELINES[baseline], _format_rate(values), sentences))

    # runs of the same sentences have the same baselines
    rows = [*model_rows, *dict.fromkeys(baseline_rows)]
    headers = ["Links", "Error rate", "Sentences"]
    return Table([], headers, rows, text_columns=["Links"], group_starts=[len(model_rows)])


def _format_rate(result: Mapping[str, Any]) -> str:
    return f"{100 * result['alignment_error_rate']:.1f}%"
