"""results/README.md has a row for all that a run leaves in results/."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from nmt.config import jobs as stages
from nmt.config.overlays import find_layers, load
from tests.running import ROOT


class Cells(HTMLParser):
    """What stands as code in the table of a page, and what stands outside of it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.named: list[str] = []
        self.prose = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.remove(tag)

    def handle_data(self, data: str) -> None:
        if {"td", "code"} <= set(self.open):
            self.named.append(data)
        elif "table" not in self.open:
            self.prose += data


@pytest.fixture(scope="module")
def page() -> Cells:
    text = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    cells = Cells()
    cells.feed(MarkdownIt("commonmark").enable("table").render(text))
    return cells


def test_the_page_is_one_table(page: Cells) -> None:
    assert "|" not in page.prose


def test_every_artifact_has_a_row(page: Cells, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        (ROOT / "experiments" / "demo" / "config.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    config = load(find_layers(ROOT / "config.yaml", tmp_path))
    jobs = [*stages.report(config).jobs, *stages.sweep(config).jobs]
    made = {
        file.removeprefix("results/") for job in jobs for file in job.files if file.startswith("results/")
    }
    stems = {re.split(r"[./]", name)[0] for name in made}
    named = {re.split(r"[./]", name)[0] for name in page.named}
    assert stems <= named
    assert {"translations", "test", "runs", "config", "paper", "ro-crate-metadata"} <= named
