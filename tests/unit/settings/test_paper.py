"""The paper's settings in the package: enough for a model of any type."""

import json

from nmt.cli.options import parse_settings
from nmt.settings.decoding import TextSettings
from nmt.settings.paper import add_run_defaults, add_text_defaults
from nmt.settings.training import ModelRun
from tests.messages import refused


def test_model_type_is_enough(model_type):
    run = parse_settings(ModelRun, json.dumps({"model_type": model_type}), add_run_defaults)
    assert (run.model, run.label, run.max_words, run.training.updates) == (
        model_type,
        model_type,
        50,
        667_000,
    )
    assert run.architecture.hidden_units == 1000
    assert parse_settings(ModelRun, run.model_dump_json()) == run


def test_complete_settings():
    run = parse_settings(ModelRun, '{"training": {"batch_size": 3}, "label": "A"}', add_run_defaults)
    assert (run.model, run.label, run.training.batch_size, run.training.rho) == ("rnnsearch", "A", 3, 0.95)
    text = parse_settings(TextSettings, '{"languages": {"source": "en", "target": "fr"}}', add_text_defaults)
    assert text.decoding.beam == 10
    for settings in ('{"training": 3}', '{"model_type": "x"}', '{"architecture": {"layers": 2}}', "{"):
        with refused():
            parse_settings(ModelRun, settings, add_run_defaults)
