"""The page of a run's results: all of it in one file, nothing of it from elsewhere."""

from __future__ import annotations

import base64
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from nmt.evaluation.translations import Record
from nmt.plots.style import save_as
from pipeline.results.figures.figure3 import figure3
from pipeline.results.page import Captions, write
from tests.running import ROOT

CAPTIONS = ROOT / "workflow" / "report"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
ARTIFACTS = ("finding.txt", "table1.md", "figure2.png", "learning_curves.png", "m.json")
PAGES = ("playground.html",)
VOID = {"meta", "img", "br", "hr", "link", "input", "source"}


class Balance(HTMLParser):
    """Finds tags that are not closed, and every address that the page asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what is open."""
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last tag."""
        assert self.open.pop() == tag


@pytest.fixture
def page(tmp_path: Path) -> str:
    results = tmp_path / "results"
    results.mkdir()
    (results / "table1.md").write_text(
        "# Title\n\n## Part\n\n| Model | All |\n|:--|--:|\n| RNNsearch-50* <b> | 26.75 |\n\nA note & more.\n\n"
        "![px](http://elsewhere/p.png) [a](http://elsewhere) <http://elsewhere/b> <img src='http://elsewhere'>\n"
    )
    (results / "finding.txt").write_text("A keeps 89.4 BLEU; B <b> 8.4.\n")
    (results / "figure2.png").write_bytes(PIXEL)
    described = PngInfo()
    described.add_text("Description", 'BLEU against "length" & more')
    Image.new("L", (2, 2)).save(results / "learning_curves.png", pnginfo=described)
    baselines = {name: {"alignment_error_rate": 0.5} for name in ("diagonal", "same_position")}
    rate = {"model": "m", "alignment_error_rate": 0.125, "sentences": 7, "baselines": baselines}
    (results / "m.json").write_text(json.dumps(rate))
    settings: dict[str, Any] = {"seed": 1, "cleaning": {"max_words": None, "name": "<script>"}}
    artifacts = [results / name for name in ARTIFACTS]
    write(
        results / "report.html",
        "A <run>",
        ["Cho et al. (2014b)", "Somebody & Co. (2015)"],
        artifacts,
        PAGES,
        CAPTIONS,
        "seed 1 of X\n\n.. image:: http://elsewhere/c.png\n\n`Y <http://elsewhere>`_",
        settings,
    )
    return (results / "report.html").read_text(encoding="utf-8")


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    balance = Balance()
    balance.feed(page)
    assert not balance.open
    elsewhere = [a for a in balance.addresses if not a.startswith(("#", "data:image/png;base64,"))]
    assert elsewhere == list(PAGES)
    assert base64.b64encode(PIXEL).decode() in page
    assert "url(" not in page and "@import" not in page


def test_a_browser_is_told_to_load_nothing(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_it_shows_tables_figures_settings_and_versions(page: str) -> None:
    assert re.search(r"<td[^>]*>26.75</td>", page)
    assert "A note &amp; more." in page
    assert "95% bootstrap intervals" in page and "seed 1 of X" in page
    assert "12.5% on 7 sentences" in page
    assert "max_words: null" in page
    assert re.search(r'<th[^>]* scope="row">torch</th>\s*<td[^>]*>2\.', page)


def test_it_opens_with_the_finding_figure_2_and_the_pages_beside_it(page: str) -> None:
    order = [
        '<p class="finding">A keeps 89.4 BLEU; B &lt;b&gt; 8.4.</p>',
        'href="playground.html"',
        "<h3>Figure 2: BLEU against length</h3>",
        "<h2>Tables</h2>",
        "<h3>Learning curves</h3>",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert page.count("<h3>Figure 2") == 1


def test_pictures_say_what_is_seen(page: str) -> None:
    assert 'alt="BLEU against &#34;length&#34; &amp; more"' in page
    assert 'alt="Figure 2: BLEU against length"' in page  # a picture that says nothing


def test_tables_can_be_scrolled_and_read_without_a_mouse(page: str) -> None:
    names = re.findall(r'<div class="wide" role="region" tabindex="0" aria-label="([^"]+)">\s*<table>', page)
    assert names == ["Part", "Software"]  # the first from the heading above it
    assert re.findall(r'<caption class="unseen">([^<]+)</caption>', page) == names
    assert page.count("<table>") == len(names)
    assert not re.search(r"<th(?![^>]* scope=)[ >]", page)
    assert '<pre role="region" tabindex="0"' in page


def test_headings_of_a_text_stand_below_its_own(page: str) -> None:
    assert page.count("<h1>") == 1 and "Title" not in page
    assert page.index("<h2>Tables</h2>") < page.index("<h3>Table 1: BLEU</h3>") < page.index("<h4>Part</h4>")


def test_what_a_run_says_is_text_and_no_markup(page: str) -> None:
    assert "<h1>A &lt;run&gt;</h1>" in page
    assert "RNNsearch-50* &lt;b&gt;" in page
    assert "<script>" not in page


def test_a_caption_begins_with_its_heading_which_is_shown_once(page: str, tmp_path: Path) -> None:
    (tmp_path / "new_table.rst").write_text(".. A *new* table\n\nWhat it shows.\n")
    captions = Captions(tmp_path, "")
    assert captions.heading(tmp_path / "new_table.md") == "A *new* table"
    assert captions.caption(tmp_path / "new_table.md") == "<p>What it shows.</p>\n"
    assert page.count("Table 1: BLEU") == 1


def test_a_new_table_needs_no_caption_and_is_called_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "new_table.md").write_text("x")
    write(tmp_path / "r.html", "t", ["A paper"], [tmp_path / "new_table.md"], [], CAPTIONS, "", {})
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "A run of the experiments of A paper. Numbers marked as reported are quoted;" in page
    assert (
        "<h3>New table</h3>" in page and 'class="caption"' not in page.split("New table")[1].split("<h3>")[0]
    )


def written(folder: Path, *artifacts: str, settings: dict[str, Any] | None = None) -> str:
    """The page of some results."""
    files = [folder / name for name in artifacts]
    write(folder / "r.html", "t", ["A paper"], files, [], CAPTIONS, "", settings or {})
    return (folder / "r.html").read_text(encoding="utf-8")


def test_notes_and_what_few_need_are_folded(page: str, tmp_path: Path) -> None:
    folded = re.findall(r"<details><summary><h3>([^<]+)</h3></summary>", page)
    assert folded == ["Settings", "Software"]
    assert "<summary>Notes</summary>\n<p>A note &amp; more.</p>" in page
    table = "| Model | p |\n|:--|--:|\n| X | 0.5 |\n"
    (tmp_path / "significance.md").write_text(f"{table}\nA note.\n")
    (tmp_path / "table2.md").write_text(table)
    folds = re.findall("<summary>(.+?)</summary>", written(tmp_path, "significance.md", "table2.md"))
    assert folds == ["<h3>Pairwise significance</h3>", *(f"<h3>{name}</h3>" for name in folded)]


def test_each_sentence_of_table_3_begins_a_group(tmp_path: Path) -> None:
    row = "| Source | a |\n| Reference | b |\n| X | c |\n"
    (tmp_path / "table3.md").write_text(f"| Sentence | Text |\n|:--|:--|\n{2 * row}")
    rows = re.findall(r"<tr( class=\"opens\")?>\s*<t[hd][^>]*>(\w+)", written(tmp_path, "table3.md"))
    assert [name for opens, name in rows if opens] == ["Source"]
    assert [name for _, name in rows].index("Source") == 1 and rows[1][0] == ""


def test_a_model_has_its_label_in_error_rates_too(tmp_path: Path) -> None:
    rate = {"model": "m", "alignment_error_rate": 0.125, "sentences": 7, "baselines": {}}
    (tmp_path / "m.json").write_text(json.dumps(rate))
    for name in ("m.seed-2", "n"):
        (tmp_path / f"{name}.json").write_text(json.dumps(rate))
    page = written(
        tmp_path, "m.json", "m.seed-2.json", "n.json", settings={"models": {"m": {"label": "Model*"}}}
    )
    assert page.count("<h3>Alignment error rates</h3>") == 1
    assert (
        "<p>Alignment error rate of Model*: 12.5%" in page and "<p>Alignment error rate of n: 12.5%" in page
    )


def test_matrices_stand_apart_and_are_the_same_on_a_dark_page(tmp_path: Path) -> None:
    weights = [[[0.0, 1.0], [0.5, 0.25]], [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]]
    records = [
        Record(line, ["a", "b", "c"][: len(matrix[0])], ["x", "y"], matrix)
        for line, matrix in enumerate(weights)
    ]
    save_as(figure3(records), tmp_path / "figure3.png")
    page = written(tmp_path, "figure3.png")
    assert re.findall(r'alt="(\([ab]\)) attention between', page) == ["(a)", "(b)"]
    found = re.findall(
        r'srcset="data:image/png;base64,([^"]+)".*?src="data:image/png;base64,([^"]+)"', page, re.DOTALL
    )
    assert len(found) == 2
    for pair, matrix in zip(found, weights, strict=True):
        dark, light = (
            np.asarray(Image.open(io.BytesIO(base64.b64decode(picture)))).astype(int) for picture in pair
        )
        assert light[0, 0] == 255 and dark[0, 0] == 27
        same = dark == light
        cells = int(0.19 * 200) ** 2 * np.size(matrix)
        assert 0.9 * cells < same.sum() < 1.1 * cells
        assert set(light[same]) >= {round(255 * value) for value in np.ravel(matrix)}
