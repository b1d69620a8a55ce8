"""A run's results as one HTML page that needs nothing else: the headline, figures, tables, settings, versions."""

import base64
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup
from PIL import Image

from nmt import __version__
from nmt.io.files import read_json, write_text
from nmt.io.system import package_versions
from pipeline.config.runs import format_run_label
from pipeline.results.html import render_template
from pipeline.results.tables.writer import Table

MAIN_FIGURES = ("figure2", "figure3")
"""Figures at the beginning of the page."""
FOLDED_TABLES = ("significance", "data")
"""Tables that few readers need: the page shows only their headings at first."""
_BASELINES = {"diagonal": "links along the diagonal", "same_position": "links to the same position"}


@dataclass(frozen=True)
class Item:
    """A heading of the page with its content: a table, a picture, or other text.

    picture: a PNG in base64. description: its alternative text. text: HTML. is_folded: whether only the heading is
    shown at first.
    """

    heading: str
    caption: str = ""
    table: Table | None = None
    picture: str = ""
    description: str = ""
    text: str = ""
    is_folded: bool = False


def write_report(
    output: Path,
    title: str,
    papers: Sequence[str],
    tables: Mapping[str, Table],
    artifacts: Sequence[Path],
    other_pages: Sequence[str],
    captions: Mapping[str, Mapping[str, str]],
    settings: dict[str, Any],
) -> None:
    """Write the page of a run.

    Args:
        output: the HTML file.
        title: the title of the page.
        papers: names of the papers whose tables and figures the run makes.
        tables: the tables by name, in the order of the page.
        artifacts: PNG figures, JSON alignment error rates and the headline (.txt), in the order of the page.
        other_pages: file names of the pages in the same folder.
        captions: `heading` and `caption` of tables, figures and pages by name; by default, the heading is the name.
        settings: the merged settings of the run.
    """

    def make_item(name: str, **content: Any) -> Item:
        """Return the item of a table, figure or page, with heading and caption."""
        texts: dict[str, Any] = {"heading": name, **captions.get(name, {})}
        return Item(**texts, **content)

    # tables, then the alignment error rates
    table_items = []
    for name, table in tables.items():
        table_items.append(make_item(name, table=table, is_folded=name in FOLDED_TABLES))
    error_rates = [file for file in artifacts if file.suffix == ".json"]
    if error_rates:
        text = _format_error_rates(error_rates, settings)
        table_items.append(make_item("alignment_error_rate", text=text))

    # figures
    figure_items = {}
    for file in artifacts:
        if file.suffix == ".png":
            with Image.open(file) as picture:
                description = str(picture.info.get("Description", ""))
            content = base64.b64encode(file.read_bytes()).decode()
            figure_items[file.stem] = make_item(file.stem, picture=content, description=description)
    main_items = [figure_items.pop(name) for name in MAIN_FIGURES if name in figure_items]

    versions = {"nmt": __version__, "Python": platform.python_version(), **package_versions()}
    sections = {
        "Tables": table_items,
        "Figures": list(figure_items.values()),
        "This run": [
            _make_yaml_item("Settings", "config.yaml and the layers over it, merged.", settings),
            _make_yaml_item("Software", "Versions of this project, of Python and of the packages.", versions),
        ],
    }
    headlines = [file.read_text(encoding="utf-8").strip() for file in artifacts if file.suffix == ".txt"]
    page = render_template(
        "templates/report.html",
        title=title,
        papers=papers,
        headline=" ".join(headlines),
        main_items=main_items,
        pages={name: make_item(Path(name).stem).heading for name in other_pages},
        sections={name: items for name, items in sections.items() if items},
    )
    write_text(output, page)


def _format_error_rates(paths: Sequence[Path], settings: dict[str, Any]) -> Markup:
    """Return a paragraph for each run: its alignment error rate, and the rates of baselines without a model."""
    labels = {name: model["label"] for name, model in settings.get("models", {}).items()}
    paragraphs = Markup("")
    for path in paths:
        run = format_run_label(path.stem, labels)

        # "12.5% on 7 sentences (without a model: links along the diagonal 40.0%)"
        result = read_json(path)
        rates = []
        for baseline, values in result["baselines"].items():
            rates.append(f"{_BASELINES[baseline]} {100 * values['alignment_error_rate']:.1f}%")
        rate = f"{100 * result['alignment_error_rate']:.1f}% on {result['sentences']:,} sentences"
        sentence = f"Alignment error rate of {run}: {rate} (without a model: {', '.join(rates)})."
        paragraphs += Markup("<p>{}</p>\n").format(sentence)
    return paragraphs


def _make_yaml_item(heading: str, caption: str, values: dict[str, Any]) -> Item:
    """Return an item with values as YAML."""
    yaml_text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
    text = Markup('<pre role="region" tabindex="0" aria-label="{}">{}</pre>').format(heading, yaml_text)
    return Item(heading, caption, text=text, is_folded=True)
