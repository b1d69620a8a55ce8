"""Models that somebody has trained stay valid: `nmt train --settings` and the trainer's fingerprint are what they were.

`trained_models.tsv` holds digests of both as version 0.1.0 made them, for every run of every experiment. A difference
means that Snakemake would train a finished model again and that the trainer would refuse its state.
"""

from __future__ import annotations

import csv
import hashlib
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nmt.data.bitext import Bitext
from nmt.training.trainer import fingerprint
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from tests.running import ROOT

with (Path(__file__).with_name("trained_models.tsv")).open(encoding="utf-8") as lines:
    TRAINED = list(csv.DictReader(lines, delimiter="\t"))


@cache
def config_of(experiment: str) -> Config:
    return load(find_layers(ROOT / experiment))


def digest(values: dict[str, Any]) -> str:
    line = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(line.encode()).hexdigest()[:16]


@pytest.mark.parametrize("row", TRAINED, ids=lambda row: f"{row['experiment']}:{row['run']}")
def test_no_finished_model_is_trained_again(row: dict[str, str]) -> None:
    config = config_of(row["experiment"])
    settings = run_settings(config, runs_of(config, list(config.models))[row["run"]])
    meta = {"sha256": "text", "source_vocabulary_sha256": "source", "target_vocabulary_sha256": "target"}
    text = cast(Bitext, SimpleNamespace(meta=SimpleNamespace(**meta)))
    assert digest(settings.model_dump()) == row["settings"]
    assert digest(fingerprint(settings, text, text)) == row["fingerprint"]
