"""The papers' claims in their files. tests/tools/test_results_page.py compares the verdicts on finished runs."""

import pytest

from pipeline.results.claims import find_reported_effect
from pipeline.results.papers import PAPERS_FOLDER, read_paper


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
