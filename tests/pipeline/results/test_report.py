"""The page of a run's results: all of it in one file, nothing of it from elsewhere."""

import base64
import json
import re
from pathlib import Path

import pytest
import yaml
from PIL import Image

from pipeline.results.inputs import Inputs
from pipeline.results.report import write_report
from tests.running import ROOT

CAPTIONS = yaml.safe_load((ROOT / "workflow" / "captions.yaml").read_text(encoding="utf-8"))
PACKAGE = ROOT / "results" / "packages" / "multi30k-subwords"


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The page of some results with text that looks like mark-up."""
    inputs = Inputs(PACKAGE, comparison_file=PACKAGE / "comparison.json")
    labels = {"rnnsearch-40": "<img src='http://elsewhere'>"}
    vars(inputs)["settings"] = inputs.settings.model_copy(update={"labels": labels})
    (tmp_path / "headline.txt").write_text("A keeps 89.4 BLEU; B <b> 8.4.\n")
    Image.new("L", (2, 2)).save(tmp_path / "figure2.png", dpi=(200, 200))
    Image.new("L", (2, 2)).save(tmp_path / "learning_curves.png", dpi=(200, 200))
    baselines = {"diagonal": {"alignment_error_rate": 0.4}}
    rate = {"alignment_error_rate": 0.125, "sentences": 7, "baselines": baselines}
    for name in ("rnnsearch-40.seed-2.json", "n.json"):
        (tmp_path / name).write_text(json.dumps(rate))
    names = ["table1.md", "headline.txt", "figure2.png", "learning_curves.png"]
    write_report(
        inputs,
        artifacts=[tmp_path / name for name in (*names, "rnnsearch-40.seed-2.json", "n.json")],
        other_pages=["playground.html"],
        captions=CAPTIONS,
        title="A <run> {{data}}",
        settings={"cleaning": {"max_words": None, "name": "<script>"}},
        output=tmp_path / "report.html",
    )
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_page_loads_nothing(page: str, tmp_path: Path) -> None:
    addresses = re.findall(r' (?:src|href)="([^"]*)"', page)
    assert [a for a in addresses if not a.startswith(("#", "data:image/png;base64,"))] == ["playground.html"]
    assert base64.b64encode((tmp_path / "figure2.png").read_bytes()).decode() in page
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_order_of_page_and_escaped_text(page: str) -> None:
    left, right = '<td dir="auto" style="text-align:left">', '<td dir="auto" style="text-align:right">'
    label = "&lt;img src=&#39;http://elsewhere&#39;&gt;"
    order = [
        "<h1>A &lt;run&gt; {{data}}</h1>",
        '<p class="headline">A keeps 89.4 BLEU; B &lt;b&gt; 8.4.</p>',
        'href="playground.html"',
        "<h3>Figure 2: BLEU against length</h3>",
        '<h2 id="tables">Tables</h2>',
        f"{left}{label}</td>\n{right}",
        "<summary>Notes</summary>\n<p>BLEU on tokens",
        f"{left}{label}, seed 2</td>\n{right}12.5%</td>",
        f"{left}n</td>",
        f"{left}without a model: along the diagonal</td>\n{right}40.0%",
        "<h3>Learning curves</h3>",
        "the run of the first seed.</p>",
        "max_words: null",
        "torch",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "<script>" not in page and "<img src='" not in page
