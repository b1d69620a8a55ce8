"""The page of a run's results: all of it in one file, nothing of it from elsewhere."""

import base64
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from pipeline.results.report import write_report
from pipeline.results.tables.writer import Table
from tests.running import ROOT

CAPTIONS = yaml.safe_load((ROOT / "workflow" / "captions.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The page of some results with text that looks like mark-up."""
    frame = pd.DataFrame({"Model": ["RNNsearch-50* <b>", "![px](http://elsewhere)"], "All": ["26.75", "1"]})
    table = Table(frame, frame, group_starts=[1], notes=["A note & <img src='http://elsewhere'>."])
    (tmp_path / "headline.txt").write_text("A keeps 89.4 BLEU; B <b> 8.4.\n")
    described = PngInfo()
    described.add_text("Description", 'BLEU against "length" & more')
    Image.new("L", (2, 2)).save(tmp_path / "figure2.png")
    Image.new("L", (2, 2)).save(tmp_path / "learning_curves.png", pnginfo=described)
    rate = {
        "model": "m",
        "alignment_error_rate": 0.125,
        "sentences": 7,
        "baselines": {"diagonal": {"alignment_error_rate": 0.4}},
    }
    for name in ("m.json", "m.seed-2.json", "n.json"):
        (tmp_path / name).write_text(json.dumps(rate))
    names = ["headline.txt", "figure2.png", "learning_curves.png", "m.json", "m.seed-2.json", "n.json"]
    settings = {
        "seed": 1,
        "cleaning": {"max_words": None, "name": "<script>"},
        "models": {"m": {"label": "M*"}},
    }
    write_report(
        tmp_path / "report.html",
        "A <run> {{data}}",
        ["Cho et al. (2014b)", "Somebody & Co. (2015)"],
        tables={"table1": table},
        artifacts=[tmp_path / name for name in names],
        other_pages=["playground.html"],
        captions=CAPTIONS,
        settings=settings,
    )
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_page_loads_nothing(page: str, tmp_path: Path) -> None:
    addresses = re.findall(r' (?:src|href)="([^"]*)"', page)
    assert [a for a in addresses if not a.startswith(("#", "data:image/png;base64,"))] == ["playground.html"]
    assert base64.b64encode((tmp_path / "figure2.png").read_bytes()).decode() in page
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_order_of_page_and_escaped_text(page: str) -> None:
    order = [
        "<h1>A &lt;run&gt; {{data}}</h1>",
        '<p class="headline">A keeps 89.4 BLEU; B &lt;b&gt; 8.4.</p>',
        'href="playground.html"',
        "<h3>Figure 2: BLEU against length</h3>",
        '<h2 id="tables">Tables</h2>',
        '<td dir="auto" style="text-align:left">RNNsearch-50* &lt;b&gt;</td>',
        '<td dir="auto" style="text-align:right">26.75</td>',
        '<tr class="opens">',
        "<summary>Notes</summary>\n<p>A note &amp; &lt;img",
        '<td dir="auto" style="text-align:left">M*</td>\n<td dir="auto" style="text-align:right">12.5%</td>',
        '<td dir="auto" style="text-align:left">M*, seed 2</td>',
        '<td dir="auto" style="text-align:left">n</td>',
        '<td dir="auto" style="text-align:left">without a model: along the diagonal</td>\n'
        '<td dir="auto" style="text-align:right">40.0%',
        'alt="BLEU against &#34;length&#34; &amp; more"',
        "the run of the first seed.</p>",
        "max_words: null",
        "torch",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "<script>" not in page
