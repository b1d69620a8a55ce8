"""Every artifact of the report has a caption that is sound reStructuredText and asks for what its job has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from docutils.core import publish_doctree
from jinja2 import Environment, StrictUndefined

from pipeline.results.papers import read_paper
from tests.running import ROOT

CAPTIONS = ROOT / "workflow" / "report"


def captioned() -> Iterator[tuple[str, str, str]]:
    """Each output of a rule that the report shows: the file, its caption's name and the rule's body."""
    for file in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        rules = re.split(r"^ *rule[^:\n]*:\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for body in rules:
            for output, caption in re.findall(
                r'report\(\s*"([^"]+)",\s*caption="\.\./report/([^"]+)\.rst"', body
            ):
                yield output, caption, body
            if 'caption=f"../report/{table}.rst"' in body:
                for table in tables(re.findall(r"nmt table (\w+) ", body)[0]):
                    yield f"results/{table}.csv", table, body


def tables(kind: str) -> Iterator[str]:
    """Names of the papers' tables of a kind, each of which a rule of its own makes."""
    for file in sorted((ROOT / "workflow" / "papers").iterdir()):
        yield from (name for name, table in read_paper(file).tables.items() if table.kind.startswith(kind))


def caption_of(name: str) -> str:
    """A caption as Snakemake fills it in; whatever it asks of the job beside these is missing."""
    job = SimpleNamespace(params=SimpleNamespace(seeds=""), wildcards=SimpleNamespace(model="rnnsearch-50"))
    text = (CAPTIONS / f"{name}.rst").read_text(encoding="utf-8")
    return Environment(undefined=StrictUndefined).from_string(text).render(snakemake=job).strip()


ARTIFACTS = list(captioned())
NAMES = sorted({caption for _, caption, _ in ARTIFACTS})


def test_no_caption_is_missing_and_none_is_left_over() -> None:
    assert sorted(path.stem for path in CAPTIONS.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_can_be_read(name: str) -> None:
    text = caption_of(name)
    assert re.match(r"\.\. \S", text), "the first line is the heading over it on the page of the run"
    assert not publish_doctree(text, settings_overrides={"report_level": 2, "halt_level": 2}).next_node(
        lambda node: node.tagname == "system_message"
    )


@pytest.mark.parametrize(("output", "name", "body"), ARTIFACTS, ids=[output for output, _, _ in ARTIFACTS])
def test_a_caption_belongs_to_its_output_and_the_rule_tells_it_what_it_asks(
    output: str, name: str, body: str
) -> None:
    assert name in output
    text = (CAPTIONS / f"{name}.rst").read_text(encoding="utf-8")
    for where, what in re.findall(r"snakemake\.(\w+)\.(\w+)", text):
        asked = rf"^ +{what}=" if where == "params" else rf"\{{{what}\}}"
        assert re.search(asked, body, flags=re.MULTILINE), f"{output}: the caption asks for {where}.{what}"
