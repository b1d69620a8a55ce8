"""The settings beside results."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.config.overlays import load, read_layer
from nmt.config.snapshot import checked, published
from nmt.errors import UserError

ROOT = Path(__file__).resolve().parents[3]


def test_settings_that_an_earlier_version_wrote_are_read() -> None:
    values = published(load([read_layer(ROOT / "config.yaml")]))
    now = checked(values, "config.json")
    values["selection"] |= {"cut": "budget", "held_out": ["newstest2011"], "held_out_shares": [0.5]}
    values["artifacts"]["readings"] = {"rnnsearch-50": ["rnnsearch-30"]}
    del values["artifacts"]["ablations"]
    before = checked(values, "config.json")
    assert before.selection == now.selection
    assert before.artifacts.ablations == {"rnnsearch-50": ["rnnsearch-30"]}


@pytest.mark.parametrize("values", [[], {"selection": {"cut": "none", "cuts": 1}}, {"selection": None}])
def test_what_no_version_wrote_is_refused(values: object) -> None:
    with pytest.raises(UserError, match="expected the settings of a run"):
        checked(values, "config.json")
