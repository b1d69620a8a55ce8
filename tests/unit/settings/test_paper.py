"""The paper's settings in the package: those of the pipeline's defaults, and enough for a model of any type."""

import json
from typing import Any

import pytest
import yaml

from nmt.cli.options import parse_settings
from nmt.settings.decoding import TextSettings
from nmt.settings.model_types import ModelTypeName
from nmt.settings.paper import PAPER, add_run_defaults, add_text_defaults
from nmt.settings.training import ModelRun
from tests.messages import refused
from tests.running import ROOT


@pytest.mark.parametrize("block", ["architecture", "training", "tokenization", "decoding"])
def test_paper_equals_defaults(block: str) -> None:
    """But for the device, which an experiment chooses."""
    defaults: dict[str, Any] = yaml.safe_load((ROOT / "workflow" / "defaults.yaml").read_text())[block]
    settings = PAPER["run"] | PAPER["text"]
    for key, value in settings[block].items():
        assert key == "device" or value == defaults[key], key


def test_model_type_is_enough(model_type: ModelTypeName) -> None:
    run = parse_settings(ModelRun, json.dumps({"model_type": model_type}), add_run_defaults)
    assert (run.model, run.label, run.max_words, run.training.updates) == (
        model_type,
        model_type,
        50,
        667_000,
    )
    assert run.architecture.hidden_units == 1000
    assert parse_settings(ModelRun, run.model_dump_json()) == run


def test_complete_settings() -> None:
    run = parse_settings(ModelRun, '{"training": {"batch_size": 3}, "label": "A"}', add_run_defaults)
    assert (run.model, run.label, run.training.batch_size, run.training.rho) == ("rnnsearch", "A", 3, 0.95)
    text = parse_settings(TextSettings, '{"languages": {"source": "en", "target": "fr"}}', add_text_defaults)
    assert text.decoding.beam == 10
    for settings in ('{"training": 3}', '{"model_type": "x"}', '{"architecture": {"layers": 2}}', "{"):
        with refused():
            parse_settings(ModelRun, settings, add_run_defaults)
