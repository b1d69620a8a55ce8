"""The papers' claims in their files. tests/tools/test_results_page.py compares the verdicts on finished runs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.results.claims import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    UNDECIDED,
    Measurement,
    find_reported_effect,
)
from pipeline.results.papers import PAPERS_FOLDER, read_paper
from tests.messages import refused


def test_reported_effects() -> None:
    effects = {}
    for file in PAPERS_FOLDER.glob("*.yaml"):
        paper = read_paper(file)
        for name, claim in paper.claims.items():
            effects[name] = find_reported_effect(paper, claim)
            assert (effects[name] is None) == (claim.reported is not None), name
    expected_effects = {
        "attention-helps-50": 8.93,
        "moses-equalled": 0.52,
        "unknown-words-cost-rnnsearch": 34.16 / 26.75,
        "order-of-dev-nll": 3.6,
        "unknown-words-widen-gap": 7.20,
        "rescoring-five": 3.2,
        "reversing-lowers-perplexity": 1.1,
    }
    assert {name: effects[name] for name in expected_effects} == pytest.approx(expected_effects)


@pytest.mark.parametrize(
    ("p", "verdicts"), [(None, (HOLDS, FAILS)), (0.049, (HOLDS, FAILS)), (0.05, (UNDECIDED, UNDECIDED))]
)
def test_verdict(p: float | None, verdicts: tuple[str, str]) -> None:
    """Without p, the sign of the advantage decides."""
    found = tuple(Measurement("", 0.5, advantage, p=p).verdict for advantage in (0.1, -0.1))
    assert found == verdicts
    assert Measurement("no such system").verdict == NOT_MEASURED


@pytest.mark.parametrize(
    "changes",
    [
        {"claims": {"attention-helps-50": {"systems": ["rnnsearch-50", "nobody"]}}},
        {"claims": {"attention-helps-50": {"column": "table1.nothing"}}},
        {"claims": {"attention-helps-50": {"column": "table2.all"}}},
        {"claims": {"order-of-dev-nll": {"table": "table1"}}},
        {"tables": {"table1": {"reported": {"moses": {"label": "Moses", "scores": {"other": 1}}}}}},
    ],
    ids=str,
)
def test_names_of_nothing_in_the_file_of_a_paper_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    values = yaml.safe_load((PAPERS_FOLDER / "bahdanau2015.yaml").read_text(encoding="utf-8"))
    ((block, entries),) = changes.items()
    ((name, entry),) = entries.items()
    values[block][name] |= entry
    file = tmp_path / "paper.yaml"
    file.write_text(json.dumps(values), encoding="utf-8")
    with refused():
        read_paper(file)
