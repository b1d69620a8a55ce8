"""The settings beside results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.config.experiment import archives_in_use, corpora_in_use
from pipeline.config.layers import find_layers, load
from pipeline.config.schema import Config
from pipeline.config.snapshot import published, read
from tests.messages import refused
from tests.running import ROOT


def kept(values: object, folder: Path) -> Config:
    """Values read again from a file."""
    file = folder / "config.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return read(file)


def test_settings_that_an_earlier_version_wrote_are_read(tmp_path: Path) -> None:
    values = published(load(find_layers(ROOT)))
    now = kept(values, tmp_path)
    values["selection"] |= {"cut": "budget", "held_out": ["newstest2011"], "held_out_shares": [0.5]}
    values["artifacts"]["readings"] = {"rnnsearch-50": ["rnnsearch-30"]}
    del values["artifacts"]["ablations"]
    before = kept(values, tmp_path)
    assert before.selection == now.selection
    assert before.artifacts.ablations == {"rnnsearch-50": ["rnnsearch-30"]}


@pytest.mark.parametrize(
    "record", sorted((Path(__file__).parent / "records").glob("*.json")), ids=lambda path: path.stem
)
def test_records_of_finished_runs_stay_readable(record: Path) -> None:
    """They lack the keys that came later, so a new key needs a default."""
    assert read(record).use.models


@pytest.mark.parametrize("values", [[], {"selection": {"cut": "none", "cuts": 1}}, {"selection": None}])
def test_what_no_version_wrote_is_refused(values: object, tmp_path: Path) -> None:
    with refused():
        kept(values, tmp_path)


def test_whatever_the_results_are_made_from_is_named() -> None:
    config = load(find_layers(ROOT))
    use = config.use.model_copy(update={"models": ["rnnsearch-50-star"]})
    artifacts = config.artifacts.model_copy(update={"ablations": {"rnnsearch-30": ["rnnencdec-30"]}})
    values = published(config.model_copy(update={"use": use, "artifacts": artifacts}))
    assert set(values["corpora"]) == set(corpora_in_use(config))
    assert set(values["archives"]) == set(archives_in_use(config))
    # what it continues from, and what is compared with it, too
    assert {"rnnsearch-50-star", "rnnsearch-50", "rnnsearch-30", "rnnencdec-30"} <= set(values["models"])


def test_settings_are_published_without_what_has_no_influence_and_read_again(tmp_path: Path) -> None:
    demo = load(find_layers(ROOT / "experiments" / "demo"))
    values = published(demo)
    assert not {"mirrors", "resources"} & set(values)
    assert sorted(values["corpora"]) == ["demo-dev", "demo-test", "demo-train"] and not values["archives"]
    again = kept(values, tmp_path)
    assert published(again) == values
    assert again.models == demo.models and again.artifacts == demo.artifacts


@pytest.mark.parametrize("text", ["{", "{}", "[]"])
def test_other_files_are_refused_by_their_first_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with refused():
        read(path)
