"""The verdicts on the papers' claims: of which systems, and how they are decided."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from nmt.io.files import read_json
from pipeline.config import snapshot
from pipeline.results.claim_systems import find_system
from pipeline.results.claims import Decision, decide_claims, find_reported_effect
from pipeline.results.headline import describe_longest_sentences
from pipeline.results.inputs import Inputs
from pipeline.results.package import ReplicationPackage
from pipeline.results.papers import PAPERS_FOLDER, Paper, read_paper
from tests.messages import refused

PACKAGES = Path(__file__).parents[3] / "results" / "packages"


def paper(name: str) -> Paper:
    return read_paper(PAPERS_FOLDER / f"{name}.yaml")


@cache
def decide(package: str) -> dict[str, Decision]:
    decisions = decide_claims(Inputs(ReplicationPackage(PACKAGES / package)))
    return {decision.name: decision for decision in decisions}


def find_systems(paper_name: str, package: str) -> dict[str, str | None]:
    config = snapshot.read_published_settings(PACKAGES / package / "config.json")
    roles = paper(paper_name).systems
    return {name: find_system(role, roles, config) for name, role in roles.items()}


# --- systems


def test_models_are_found_by_the_rank_of_their_limit() -> None:
    assert find_systems("bahdanau2015", "multi30k") == {
        "rnnencdec-30": "rnnencdec-14",
        "rnnsearch-30": "rnnsearch-14",
        "rnnencdec-50": "rnnencdec-26",
        "rnnsearch-50": "rnnsearch-26",
        "rnnsearch-50-star": "rnnsearch-26-star",
        "moses": "moses",
    }
    # a single limit is the longest, and not the shorter of two
    systems = find_systems("bahdanau2015", "multi30k-subwords")
    assert (systems["rnnsearch-50"], systems["rnnsearch-30"]) == ("rnnsearch-40", None)
    # of several models with these settings, the first in use
    assert find_systems("bahdanau2015", "ablations")["rnnsearch-50"] == "rnnsearch-50"


def test_other_systems_are_found_by_their_settings() -> None:
    systems = find_systems("sutskever2014", "sutskever2014-demo")
    assert systems["lstm-reversed-shallower"] == "lstm-shallow" and systems["rnnsearch-50-star"] is None
    assert systems["lists"] == "rnnencdec-50-lists"
    same_names = [name for name in systems if "ensemble" in name or name.startswith("rescored")]
    assert len(same_names) == 7 and all(systems[name] == name for name in same_names)
    systems = find_systems("cho2014b", "cho2014b-demo")
    assert (systems["moses-lstm"], systems["grconv-50"]) == ("moses-lstm", None)


# --- verdicts


@pytest.mark.parametrize(
    ("claim", "verdict", "effect"),
    [
        ("attention-helps-50", "holds", 21.50),
        ("longer-training", "undecided", 0.13),
        ("moses-equalled", "fails", -3.74),
        ("order-of-dev-nll", "holds", 3.83),
        ("rnnencdec-50-falls", "holds", 0.363),
        ("lead-grows", "undecided", 5.06),
    ],
)
def test_verdicts_on_multi30k(claim: str, verdict: str, effect: float) -> None:
    decision = decide("multi30k")[claim]
    assert decision.verdict == verdict
    assert decision.measurement and decision.measurement.effect == pytest.approx(effect, abs=0.006)


def test_p_is_that_of_the_table_of_significance() -> None:
    comparison = read_json(PACKAGES / "multi30k" / "comparison.json")
    for claim, mode, pair in (
        ("longer-training", "all", {"rnnsearch-26", "rnnsearch-26-star"}),
        ("moses-equalled", "no_unk", {"rnnsearch-26-star", "moses"}),
    ):
        measurement = decide("multi30k")[claim].measurement
        (entry,) = (item for item in comparison[mode]["pairs"] if {item["first"], item["second"]} == pair)
        assert measurement and measurement.p == pytest.approx(entry["p"], abs=1e-6)
        assert abs(measurement.effect) == pytest.approx(abs(entry["difference"]), abs=1e-6)


def test_longest_sentences_are_those_of_the_headline() -> None:
    inputs = Inputs(ReplicationPackage(PACKAGES / "demo"))
    settings = inputs.settings.model_copy(update={"figure2_length": "both"})
    vars(inputs)["settings"] = settings
    models = ("rnnsearch-50", "rnnencdec-50")
    headline = describe_longest_sentences({name: inputs.scores()[name] for name in models}, settings)
    decisions = {decision.name: decision for decision in decide_claims(inputs)}
    for claim in ("rnnsearch-holds", "rnnencdec-50-falls"):
        measurement = decisions[claim].measurement
        assert measurement
        long_bleu, all_bleu = re.findall(r"\d+\.\d\d", measurement.text)
        assert f"{float(long_bleu):.1f}" in headline and f"{float(all_bleu):.1f}" in headline


def test_no_verdict_without_system_or_common_sentences() -> None:
    decisions = decide("demo")
    assert (decisions["moses-leads"].verdict, decisions["moses-leads"].reason) == (
        "not measured",
        "the run has no Moses",
    )
    # each model was validated on sentences within its own limit
    assert decisions["order-of-dev-nll"].verdict == "not measured"
    assert decisions["dev-nll-50"].verdict == "holds"


def test_reported_effects() -> None:
    effects = {}
    for name in ("bahdanau2015", "cho2014b", "sutskever2014"):
        description = paper(name)
        for claim_name, claim in description.claims.items():
            effects[claim_name] = find_reported_effect(description, claim)
            assert (effects[claim_name] is None) == (claim.reported is not None), claim_name
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
    "changes",
    [
        {"systems": ["rnnsearch-50", "nobody"]},
        {"column": "table1.nothing"},
        {"column": "table2.all"},
        {"test": "guess"},
    ],
)
def test_claim_that_names_nothing_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    values = yaml.safe_load((PAPERS_FOLDER / "bahdanau2015.yaml").read_text(encoding="utf-8"))
    values["claims"]["attention-helps-50"] |= changes
    file = tmp_path / "paper.yaml"
    file.write_text(json.dumps(values), encoding="utf-8")
    with refused():
        read_paper(file)
