"""The page of a run's results: all of it in one file, nothing of it from elsewhere."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from pipeline.results.page import write_report
from tests.running import ROOT

CAPTIONS = ROOT / "workflow" / "captions.yaml"


def written(folder: Path, *artifacts: str, settings: dict[str, Any] | None = None) -> str:
    """The page of some results."""
    files = [folder / name for name in artifacts]
    page, papers = folder / "report.html", ["Cho et al. (2014b)", "Somebody & Co. (2015)"]
    captions = yaml.safe_load(CAPTIONS.read_text(encoding="utf-8"))
    write_report(
        page, "A <run> {{data}}", papers, files, ["playground.html"], captions, settings or {}, several=True
    )
    return page.read_text(encoding="utf-8")


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "table1.md").write_text(
        "# Title\n\n## Part\n\n| Model | All |\n|:--|--:|\n| RNNsearch-50* <b> | 26.75 |\n\nA note & more.\n\n"
        "![px](http://elsewhere/p.png) [a](http://elsewhere) <http://elsewhere/b> <img src='http://elsewhere'>\n"
    )
    (tmp_path / "headline.txt").write_text("A keeps 89.4 BLEU; B <b> 8.4.\n")
    described = PngInfo()
    described.add_text("Description", 'BLEU against "length" & more')
    Image.new("L", (2, 2)).save(tmp_path / "figure2.png")
    Image.new("L", (2, 2)).save(tmp_path / "learning_curves.png", pnginfo=described)
    rate = {"model": "m", "alignment_error_rate": 0.125, "sentences": 7, "baselines": {}}
    for name in ("m.json", "m.seed-2.json", "n.json"):
        (tmp_path / name).write_text(json.dumps(rate))
    names = ["headline.txt", "table1.md", "figure2.png", "learning_curves.png"]
    settings = {
        "seed": 1,
        "cleaning": {"max_words": None, "name": "<script>"},
        "models": {"m": {"label": "M*"}},
    }
    return written(tmp_path, *names, "m.json", "m.seed-2.json", "n.json", settings=settings)


def test_the_page_needs_nothing_else(page: str, tmp_path: Path) -> None:
    addresses = re.findall(r' (?:src|href)="([^"]*)"', page)
    assert [a for a in addresses if not a.startswith(("#", "data:image/png;base64,"))] == ["playground.html"]
    assert base64.b64encode((tmp_path / "figure2.png").read_bytes()).decode() in page
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_what_people_read_comes_first_and_what_a_run_says_is_no_markup(page: str) -> None:
    order = [
        "<h1>A &lt;run&gt; {{data}}</h1>",
        "that of its first seed.</p>",
        '<p class="finding">A keeps 89.4 BLEU; B &lt;b&gt; 8.4.</p>',
        'href="playground.html"',
        "<h3>Figure 2: BLEU against length</h3>",
        '<h2 id="tables">Tables</h2>',
        "<h4>Part</h4>",
        "RNNsearch-50* &lt;b&gt;",
        "26.75",
        "<summary>Notes</summary>\n<p>A note &amp; more.</p>",
        "Alignment error rate of M*: 12.5% on 7 sentences",
        "Alignment error rate of M*, seed 2: 12.5%",
        "Alignment error rate of n: 12.5%",
        'alt="BLEU against &#34;length&#34; &amp; more"',
        "max_words: null",
        "torch",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert page.count("Figure 2: BLEU") == 2 and "Title" not in page and "<script>" not in page
