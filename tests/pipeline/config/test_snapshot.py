"""The settings beside results."""

import json
from pathlib import Path

from pipeline.config.experiment import list_archives, list_corpora
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.config.snapshot import get_published_settings, read_published_settings
from tests.experiments import load_experiment
from tests.running import ROOT


def write_and_read(values: object, folder: Path) -> Config:
    """Values read again from a file."""
    file = folder / "config.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return read_published_settings(file)


def test_published_settings_name_all_inputs():
    config = load_config(find_layers(ROOT))
    use = config.use.model_copy(update={"models": ["rnnencdec-50"]})
    values = get_published_settings(config.model_copy(update={"use": use}))
    assert set(values["corpora"]) == set(list_corpora(config))
    assert set(values["archives"]) == set(list_archives(config, list_corpora(config)))
    assert set(values["models"]) == {"rnnencdec-50"}


def test_published_settings_are_read_again(tmp_path):
    demo = load_experiment("demo")
    values = get_published_settings(demo)
    assert not {"mirrors", "resources"} & set(values)
    assert sorted(values["corpora"]) == ["demo-dev", "demo-test", "demo-train"] and not values["archives"]
    again = write_and_read(values, tmp_path)
    assert get_published_settings(again) == values
    assert again.models == demo.models and again.artifacts == demo.artifacts
