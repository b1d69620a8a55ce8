"""A run's results as one HTML page that needs nothing else: the headline, figures, tables, settings, versions."""

import base64
import platform
from collections.abc import Mapping, Sequence
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

CSS_DPI = 96
"""Pixels per inch of a browser."""
_BASELINES = {
    "diagonal": "without a model: along the diagonal",
    "same_position": "without a model: to the same position",
}


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

    # figures, as PNG in base64, with the width in pixels at which their letters are legible
    figures = {}
    for file in files[".png"]:
        with Image.open(file) as picture:
            width = round(CSS_DPI * picture.width / picture.info["dpi"][0])
        figures[file.stem] = {"content": base64.b64encode(file.read_bytes()).decode(), "width": width}

    # texts
    versions = {"nmt": __version__, "Python": platform.python_version(), **package_versions()}
    texts = {}
    for name, values in (("settings", settings), ("software", versions)):
        texts[name] = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
    page = render_template(
        "templates/report.html",
        title=title,
        papers=[paper.name for paper in inputs.papers.values()],
        headline=" ".join(file.read_text(encoding="utf-8").strip() for file in files[".txt"]),
        pages=other_pages,
        tables=tables,
        figures=figures,
        texts=texts,
        captions=captions,
    )
    write_text(output, page)


def _make_error_rate_table(paths: Sequence[Path], settings: ReportSettings) -> Table:
    """Return the table of alignment error rates: the runs, then baselines without a model."""
    rows = []
    for path in paths:
        result = read_json(path)
        sentences = f"{result['sentences']:,}"
        rows.append([format_run_label(path.stem, settings.labels), _format_rate(result), sentences])

    # the baselines of the same sentences are the same for all runs
    for baseline, values in result["baselines"].items():
        rows.append([_BASELINES[baseline], _format_rate(values), sentences])
    headers = ["Links", "Error rate", "Sentences"]
    return Table([], headers, rows, text_columns=["Links"], group_starts=[len(paths)])


def _format_rate(result: Mapping[str, Any]) -> str:
    return f"{100 * result['alignment_error_rate']:.1f}%"
