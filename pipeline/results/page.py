"""A run's results as one HTML page that needs nothing else: the finding, figures, tables, settings, versions."""

from __future__ import annotations

import base64
import io
import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup
from PIL import Image
from tabulate import tabulate

from nmt import __version__
from nmt.errors import UserError
from nmt.evaluation.alignment_error_rate import in_words
from nmt.io.environment import packages
from nmt.io.files import read_json, write_text
from pipeline.config.runs import LATER
from pipeline.results.markdown import rendered

FIRST = ("figure2", "figure3")
"""Figures that open the page."""
FOLDED = ("significance", "data")
"""Tables that few need: the page has them folded."""
_PAPER, _INK = 27, 232
"""Greys of the page's dark form, as its style has them."""


@dataclass(frozen=True)
class Picture:
    """A PNG (base64), what is seen on it in words, and where it is a panel, its form for dark pages and its inches."""

    image: str
    seen: str
    dark: str = ""
    inches: float = 0.0


@dataclass(frozen=True)
class Item:
    """A table or text (HTML in `body`) or a figure of one or more pictures, with its caption."""

    heading: str
    body: Markup | None = None
    caption: Markup | None = None
    pictures: Sequence[Picture] = ()
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """Items under a heading."""

    heading: str
    items: list[Item] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Where links go."""
        return self.heading.lower().replace(" ", "-")


class Captions:
    """What stands over and under each artifact: NAME.rst of a folder, reStructuredText with Jinja.

    Its first line is a comment, the heading; the rest is the caption, which Snakemake's report shows too.
    """

    def __init__(self, folder: Path, seeds: str) -> None:
        self._folder = folder
        escaped = re.sub(r"([^\w\s])", r"\\\1", " ".join(seeds.split()))  # labels are no reStructuredText
        self._job = SimpleNamespace(params=SimpleNamespace(seeds=escaped))

    def heading(self, artifact: Path) -> str:
        """The heading; an artifact without one is called by its name."""
        found = re.match(r"\.\. (.+)\n", self._text(artifact))
        return found[1] if found else artifact.stem.replace("_", " ").capitalize()

    def caption(self, artifact: Path) -> Markup | None:
        """The caption, if there is one: a table's notes may say all."""
        text = Template(self._text(artifact)).render(snakemake=self._job)
        overrides = {
            "report_level": 5,
            "file_insertion_enabled": False,
            "raw_enabled": False,
            "strip_comments": True,
        }
        return Markup(publish_parts(text, writer="html5", settings_overrides=overrides)["body"]) or None

    def _text(self, artifact: Path) -> str:
        file = self._folder / f"{artifact.stem}.rst"
        return file.read_text(encoding="utf-8") if file.is_file() else ""


def write(
    output: Path,
    title: str,
    papers: Sequence[str],
    artifacts: Sequence[Path],
    beside: Sequence[str],
    captions: Path,
    seeds: str,
    settings: dict[str, Any],
) -> None:
    """Write the page.

    Args:
        output: the HTML file.
        title: of the page.
        papers: names of those whose tables and figures the run makes.
        artifacts: Markdown tables, PNG figures, JSON error rates and the finding (.txt), in the order of the page.
        beside: names of the pages that lie beside it.
        captions: folder with a heading and a caption for each artifact's name, as `Captions` reads them.
        seeds: what captions say of models with several runs, of which figures show the first.
        settings: the run's, merged.
    """
    texts = Captions(captions, seeds)
    tables = [_table(path, texts) for path in artifacts if path.suffix == ".md"]
    pictures = {path.stem: _figure(path, texts) for path in artifacts if path.suffix == ".png"}
    rates = _error_rates([path for path in artifacts if path.suffix == ".json"], _labels(settings))
    sections = [
        Section("Tables", tables + rates),
        Section("Figures", [item for name, item in pictures.items() if name not in FIRST]),
        Section("This run", [_settings(settings), _versions()]),
    ]
    text = (
        resources.files("pipeline.results").joinpath("templates", "report.html").read_text(encoding="utf-8")
    )
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.from_string(text).render(
        title=title,
        papers=papers,
        finding=" ".join(
            path.read_text(encoding="utf-8").strip() for path in artifacts if path.suffix == ".txt"
        ),
        first=[pictures[name] for name in FIRST if name in pictures],
        pages=[(name, texts.heading(Path(name))) for name in beside],
        sections=[section for section in sections if section.items],
    )
    write_text(output, page)


def _table(path: Path, captions: Captions) -> Item:
    heading = captions.heading(path)
    body = rendered(path.read_text(encoding="utf-8"), heading, 3)
    folded = path.stem in FOLDED
    return Item(heading, body if folded else _folded_notes(body), captions.caption(path), folded=folded)


def _folded_notes(body: Markup) -> Markup:
    """A table whose notes are seen when they are asked for; a text with several stays as it is."""
    table, end, notes = body.rpartition("</div>\n")
    if body.count("<table>") != 1 or not notes.strip():
        return body
    fold = Markup('<details class="notes"><summary>Notes</summary>\n{}</details>\n')
    return Markup(table + end) + fold.format(Markup(notes))


def _figure(path: Path, captions: Captions) -> Item:
    heading = captions.heading(path)
    with Image.open(path) as picture:  # the figures' descriptions are in them
        seen = str(picture.info.get("Description", "")) or heading
        panels = [_panel(picture, panel) for panel in json.loads(picture.info.get("Panels", "[]"))]
    whole = Picture(base64.b64encode(path.read_bytes()).decode(), seen)
    return Item(heading, caption=captions.caption(path), pictures=panels or [whole])


def _panel(figure: Image.Image, panel: dict[str, Any]) -> Picture:
    """A matrix with its words, and the same with white words on the dark page's paper; the matrix stays as it is."""
    left, upper, right, lower = (
        round(share * size) for share, size in zip(panel["box"], figure.size * 2, strict=True)
    )
    matrix = [round(share * size) for share, size in zip(panel["matrix"], figure.size * 2, strict=True)]
    inside = (matrix[0] - left, matrix[1] - upper, matrix[2] - left, matrix[3] - upper)
    light = figure.convert("L").crop((left, upper, right, lower))
    dark = light.point([_PAPER + (_INK - _PAPER) * (255 - grey) // 255 for grey in range(256)])
    dark.paste(light.crop(inside), inside[:2])
    inches = light.width / float(figure.info.get("dpi", (200, 200))[0])
    return Picture(_encoded(light), panel["seen"], _encoded(dark), round(inches, 2))


def _encoded(picture: Image.Image) -> str:
    content = io.BytesIO()
    picture.save(content, format="png", optimize=True)
    return base64.b64encode(content.getvalue()).decode()


def _error_rates(paths: Sequence[Path], labels: dict[str, str]) -> list[Item]:
    """A sentence for each run, under one heading."""
    told = [Markup("<p>{}</p>\n").format(_error_rate(path, _called(path.stem, labels))) for path in paths]
    return [Item("Alignment error rates", Markup().join(told))] if told else []


def _called(run: str, labels: dict[str, str]) -> str:
    """The label of a run's model, with the seed of a later run."""
    model = LATER.sub("", run)
    return labels.get(model, model) + run.removeprefix(model).replace(".seed-", ", seed ")


def _error_rate(path: Path, name: str) -> str:
    try:
        return in_words({**read_json(path), "model": name})
    except (AttributeError, LookupError, TypeError, ValueError):
        raise UserError(
            f"{path}: expected what `nmt test-set alignment-error-rate` writes; make it again"
        ) from None


def _labels(settings: dict[str, Any]) -> dict[str, str]:
    """The label of each model; a UserError where settings are none of a run."""
    try:
        return {name: str(model["label"]) for name, model in settings.get("models", {}).items()}
    except (AttributeError, KeyError, TypeError):
        raise UserError("models of the settings: expected keys with values, each with a label") from None


def _settings(settings: dict[str, Any]) -> Item:
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110)
    caption = Markup("config.yaml and the layers over it, merged.")
    return Item(
        "Settings",
        Markup('<pre role="region" tabindex="0" aria-label="Settings">{}</pre>').format(text),
        caption,
        folded=True,
    )


def _versions() -> Item:
    rows = [["this project", __version__], ["Python", platform.python_version()]]
    rows += [[name, version] for name, version in packages().items()]
    table = tabulate(rows, ["Package", "Version"], "pipe", disable_numparse=True)
    return Item("Software", rendered(table, "Software", 3), folded=True)
