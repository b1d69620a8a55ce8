"""A run's results as one HTML page that needs nothing else: the finding, figures, tables, settings, versions."""

from __future__ import annotations

import base64
import html
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markupsafe import Markup
from PIL import Image
from tabulate import tabulate

from nmt import __version__
from nmt.io.files import read_json, write_text
from nmt.io.system import package_versions
from pipeline.config.runs import SEED_SUFFIX
from pipeline.results.html import render_template
from pipeline.results.tables.sentences import SOURCE_ROW

FIRST = ("figure2", "figure3")
"""Figures that open the page."""
FOLDED = ("significance", "data")
"""Tables that few need: the page has them folded."""


@dataclass(frozen=True)
class Item:
    """A table or text (`Markup`: `body`, `notes`), or a PNG in base64 and what is seen on it; with its caption."""

    heading: str
    caption: str = ""
    body: str = ""
    notes: str = ""
    picture: str = ""
    seen: str = ""
    folded: bool = False


def write_report(
    output: Path,
    title: str,
    papers: Sequence[str],
    artifacts: Sequence[Path],
    beside: Sequence[str],
    captions: Mapping[str, Mapping[str, str]],
    settings: dict[str, Any],
    several: bool = False,
) -> None:
    """Write the page.

    Args:
        output: the HTML file.
        title: of the page.
        papers: names of those whose tables and figures the run makes.
        artifacts: Markdown tables, PNG figures, JSON error rates and the finding (.txt), in the order of the page.
        beside: names of the pages that lie beside it.
        captions: heading and caption of the artifacts; one without is called by its name.
        settings: the run's, merged.
        several: whether a model has several seeds.
    """

    def titles(name: str) -> tuple[str, str]:
        found = captions.get(name, {})
        return found.get("heading", name.replace("_", " ").capitalize()), found.get("caption", "")

    of_kind = {
        kind: [file for file in artifacts if file.suffix == kind] for kind in (".md", ".png", ".json", ".txt")
    }
    figures = {file.stem: _figure(file, titles(file.stem)) for file in of_kind[".png"]}
    sections = {
        "Tables": [
            *(_table(file, titles(file.stem)) for file in of_kind[".md"]),
            *_error_rates(of_kind[".json"], titles("alignment_error_rate"), settings),
        ],
        "Figures": [item for name, item in figures.items() if name not in FIRST],
        "This run": [_settings(settings), _versions()],
    }
    page = render_template(
        "templates/report.html",
        title=title,
        papers=papers,
        several=several,
        finding=" ".join(file.read_text(encoding="utf-8").strip() for file in of_kind[".txt"]),
        first=[figures[name] for name in FIRST if name in figures],
        pages={name: titles(Path(name).stem)[0] for name in beside},
        sections={name: items for name, items in sections.items() if items},
    )
    write_text(output, page)


def _table(file: Path, titles: tuple[str, str]) -> Item:
    """A table with notes that are seen when they are asked for; a text with several tables stays as it is."""
    table, end, notes = _rendered(file.read_text(encoding="utf-8"), titles[0]).rpartition("</div>\n")
    if file.stem in FOLDED or table.count("<table>") != 1 or not notes.strip():
        return Item(*titles, body=Markup(table + end + notes), folded=file.stem in FOLDED)
    return Item(*titles, body=Markup(table + end), notes=Markup(notes))


def _rendered(markdown: str, name: str) -> str:
    """Return Markdown as HTML that loads nothing, with tables that can be scrolled; headings stand below an h3.

    Its title (#) is dropped, since `name` stands above it on the page.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
    text = parser.render(re.sub(r"\A# .*\n", "", markdown))
    text = re.sub(r"(</?h)2>", r"\g<1>4>", text)
    text = re.sub(rf"(?<!<thead>\n)<tr>(?=\s*<td[^>]*>{SOURCE_ROW}</td>)", '<tr class="opens">', text)
    region = f'<div class="wide" role="region" tabindex="0" aria-label="{html.escape(name)}">\n'
    return text.replace("<table>", f"{region}<table>").replace("</table>\n", "</table>\n</div>\n")


def _figure(path: Path, titles: tuple[str, str]) -> Item:
    with Image.open(path) as picture:  # the figures' descriptions are in them
        seen = str(picture.info.get("Description", "")) or titles[0]
    return Item(*titles, picture=base64.b64encode(path.read_bytes()).decode(), seen=seen)


def _error_rates(paths: Sequence[Path], titles: tuple[str, str], settings: dict[str, Any]) -> Iterable[Item]:
    """A sentence for each run, under one heading; a model is called by its label, a later run by its seed, too."""
    labels = {name: model["label"] for name, model in settings.get("models", {}).items()}
    lines = Markup("")
    for path in paths:
        model = SEED_SUFFIX.sub("", path.stem)
        name = labels.get(model, model) + path.stem.removeprefix(model).replace(".seed-", ", seed ")
        lines += Markup("<p>{}</p>\n").format(_in_words({**read_json(path), "model": name}))
    if lines:
        yield Item(*titles, body=lines)


def _settings(settings: dict[str, Any]) -> Item:
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110)
    body = Markup('<pre role="region" tabindex="0" aria-label="Settings">{}</pre>').format(text)
    return Item("Settings", "config.yaml and the layers over it, merged.", body, folded=True)


def _versions() -> Item:
    rows = [
        ["this project", __version__],
        ["Python", platform.python_version()],
        *map(list, package_versions().items()),
    ]
    table = tabulate(rows, ["Package", "Version"], "pipe", disable_numparse=True)
    return Item("Software", body=Markup(_rendered(table, "Software")), folded=True)


def _in_words(result: Mapping[str, Any]) -> str:
    """Return the result of `alignment_error_rate` as one line of text."""
    names = {"diagonal": "links along the diagonal", "same_position": "links to the same position"}
    baselines = ", ".join(
        f"{names[name]} {100 * values['alignment_error_rate']:.1f}%"
        for name, values in result["baselines"].items()
    )
    own = f"{100 * result['alignment_error_rate']:.1f}% on {result['sentences']:,} sentences"
    return f"Alignment error rate of {result['model']}: {own} (without a model: {baselines})."
