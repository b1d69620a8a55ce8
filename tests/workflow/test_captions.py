"""Every artifact of the report has a caption that says what it shows, and speaks of columns that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest
from docutils.core import publish_doctree
from jinja2 import Environment, StrictUndefined

from nmt.report import corpora
from nmt.report.tables import ablations, decoding_sweep, significance, table1, table2, table3
from tests.running import ROOT

CAPTIONS = ROOT / "workflow" / "report"
COLUMNS = {
    "table1": table1.COLUMNS,
    "table2": table2.COLUMNS,
    "table3": table3.COLUMNS,
    "significance": significance.COLUMNS,
    "ablations": ablations.COLUMNS,
    "decoding_sweep": decoding_sweep.COLUMNS,
    "data": corpora.COLUMNS,
}
# what a caption must at least speak of
SUBJECTS = {
    "table1": "Table 1 of the paper",
    "table2": "Table 2 of the paper",
    "table3": "Table 3 of the paper",
    "significance": "paired bootstrap",
    "ablations": "baseline",
    "decoding_sweep": "width of the beam",
    "figure2": "Figure 2 of the paper",
    "figure3": "Figure 3 of the paper",
    "unknown_words": "words that the models do not know",
    "learning_curves": "Learning curves",
    "explorer": "translations of the whole test text",
    "alignment_error_rate": "Alignment error rate",
    "data": "text",
}


def captioned() -> Iterator[tuple[str, str, str]]:
    """Each output of a rule that the report shows: the file, its caption's name and the rule's body."""
    for file in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        rules = re.split(r"^ *rule[^:\n]*:\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for body in rules:
            for output, caption in re.findall(
                r'report\(\s*"([^"]+)",\s*caption="\.\./report/([^"]+)\.rst"', body
            ):
                yield output, caption, body
            assert len(re.findall(r"\breport\(", body)) == body.count("caption="), body[:80]


def caption_of(name: str, seeds: str = "") -> str:
    """A caption as Snakemake fills it in; whatever it asks of the job beside these is missing."""
    job = SimpleNamespace(
        params=SimpleNamespace(seeds=seeds), wildcards=SimpleNamespace(model="rnnsearch-50")
    )
    text = (CAPTIONS / f"{name}.rst").read_text(encoding="utf-8")
    return " ".join(Environment(undefined=StrictUndefined).from_string(text).render(snakemake=job).split())


ARTIFACTS = list(captioned())
NAMES = sorted({caption for _, caption, _ in ARTIFACTS})


def test_no_caption_is_missing_and_none_is_left_over() -> None:
    assert sorted(path.stem for path in CAPTIONS.iterdir()) == NAMES
    assert sorted(SUBJECTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_says_what_its_artifact_shows(name: str) -> None:
    text = caption_of(name)
    assert SUBJECTS[name] in text
    assert text.endswith(".")
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


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_the_columns_of_which_a_caption_speaks_are_there(name: str) -> None:
    for said in re.findall(r"``([^`]+)``", caption_of(name)):
        assert names_a_column(said, COLUMNS[name]) or elsewhere(said), f"{name}.rst speaks of {said}"


def names_a_column(said: str, columns: Sequence[str]) -> bool:
    """Whether a column is called so, or begins (`low_`) or ends (`_std`) so."""
    if said.endswith("_"):
        return any(column.startswith(said) for column in columns)
    return any(column.endswith(said) for column in columns) if said.startswith("_") else said in columns


def elsewhere(said: str) -> bool:
    """A setting, a file, or one of the values in the columns `stage` and `measure` of the report on the text."""
    values = ("raw", "clean", "removed", "within_N", "unknown_rate", "covered_by_N")
    return said in values or said.startswith(("decoding.", "data.csv"))


@pytest.mark.parametrize("name", ["figure2", "figure3"])
def test_captions_say_which_of_several_seeds_is_shown(name: str) -> None:
    assert "seed 1 of RNNsearch-50" in caption_of(name, "seed 1 of RNNsearch-50")
    assert "Several" not in caption_of(name)
