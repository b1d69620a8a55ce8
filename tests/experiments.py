"""Settings of experiments for tests: the paper's with changes."""

from pathlib import Path
from typing import Any

from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from tests.running import ROOT

EXTENDS_PAPER = f"extends: {ROOT / 'experiments' / 'paper'}\n"
"""First line of an experiment that differs from the paper."""


def paper(folder: Path, overlay: str = "", **pairs: Any) -> Config:
    """The paper's settings with an experiment's own in a folder, and with single keys as on the command line."""
    (folder / "config.yaml").write_text(EXTENDS_PAPER + overlay, encoding="utf-8")
    return load_config(find_layers(folder, pairs=pairs))


def load_experiment(name: str) -> Config:
    """The settings of an experiment of the checkout."""
    return load_config(find_layers(ROOT / "experiments" / name))
