"""A parameter of which nothing that decides has changed stays as Snakemake has it on record."""

from __future__ import annotations

import json

import pytest

from pipeline.config import job_settings
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import runs_of
from tests.running import ROOT
from workflow.recorded import as_recorded, of_text, of_training

CONFIG = load(find_layers(ROOT / "experiments" / "demo"))
TRAINING = job_settings.training_settings(CONFIG, runs_of(CONFIG, ["rnnsearch-50"])["rnnsearch-50"])
TEXT = job_settings.data_settings(CONFIG)
RECORDED = [repr(TRAINING), repr(TEXT), "''", "7", "'no JSON'", "'[]'", "not Python", "None"]


def changed(settings: str, block: str | None, **values: object) -> str:
    found = json.loads(settings)
    (found[block] if block else found).update(values)
    return json.dumps(found, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize(
    ("block", "values", "decides"),
    [
        (None, {"label": "Mine"}, False),
        ("training", {"log_every": 7, "checkpoint_every": 7, "tensorboard": True}, False),
        ("training", {"updates": 7}, True),
        ("training", {"threads": 7}, True),
        ("architecture", {"hidden_units": 7}, True),
        (None, {"seed": 7}, True),
    ],
)
def test_what_a_model_follows_from(block: str | None, values: dict[str, object], decides: bool) -> None:
    wanted = changed(TRAINING, block, **values)
    assert as_recorded(RECORDED, wanted, of_training) == (wanted if decides else TRAINING)
    assert as_recorded(None, wanted, of_training) == wanted


def test_a_selection_that_is_off_decides_nothing_but_that() -> None:
    assert not CONFIG.selection.enabled
    wanted = changed(TEXT, "selection", sample_pairs=7)
    assert as_recorded(RECORDED, wanted, of_text) == TEXT
    on = changed(TEXT, "selection", enabled=True)
    assert as_recorded(RECORDED, on, of_text) == on
    assert as_recorded([repr(on)], changed(on, "selection", sample_pairs=7), of_text) != on
    other = changed(wanted, None, seed=7)
    assert as_recorded(RECORDED, other, of_text) == other
