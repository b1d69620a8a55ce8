"""Models of the experiment that the text is from: taken where they are what would be trained here, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.overlays import find_layers, load
from nmt.config.runs import Run, run_settings, runs_of
from nmt.config.schema import Config
from nmt.config.shared_models import FILES, shared_models
from tests.running import ROOT

META = {"sha256": "text", "source_vocabulary_sha256": "source", "target_vocabulary_sha256": "target"}
DATA = {"train": "text", "dev": "text", "source_vocabulary": "source", "target_vocabulary": "target"}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.yaml").write_text("data_from: ../other\n", encoding="utf-8")
    config = load(find_layers(ROOT / "config.yaml", tmp_path / "mine"))
    return config.model_copy(update={"data_from": "../other"})


@pytest.fixture
def runs(config: Config) -> dict[str, Run]:
    return runs_of(config, ["rnnsearch-50", "rnnsearch-50-star"])


@pytest.fixture
def other(tmp_path: Path, config: Config, runs: dict[str, Run]) -> Path:
    """The other experiment, with both models trained."""
    folder = tmp_path / "other"
    for part in ("train", "dev"):
        write(folder / "data" / "binary" / part / "meta.json", META)
    for name, run in runs.items():
        for file in FILES:
            write(folder / "models" / name / file, {})
        settings = run_settings(config, run).model_dump() | {"label": "of another name"}
        write(folder / "models" / name / "settings.json", settings)
        write(folder / "models" / name / "summary.json", {"data": DATA})
    return folder


def write(path: Path, values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def test_what_fits_is_taken(tmp_path: Path, config: Config, runs: dict[str, Run], other: Path) -> None:
    found = shared_models(config, runs, tmp_path / "mine")
    assert found == {name: f"../other/models/{name}" for name in runs}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda other: (other / "models" / "rnnsearch-50-star" / "history.jsonl").unlink(),
        lambda other: write(other / "models" / "rnnsearch-50-star" / "settings.json", {"label": "x"}),
        lambda other: write(other / "models" / "rnnsearch-50-star" / "settings.json", "[" * 9),
        lambda other: write(
            other / "models" / "rnnsearch-50-star" / "summary.json", {"data": DATA | {"dev": "old"}}
        ),
        lambda other: write(other.parent / "mine" / "state" / "rnnsearch-50-star" / "checkpoint-1.json", {}),
    ],
    ids=["incomplete", "other settings", "no settings", "other text", "begun here"],
)
def test_what_does_not_fit_is_trained_and_so_is_what_it_continues_from(
    tmp_path: Path, config: Config, runs: dict[str, Run], other: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(other)
    assert shared_models(config, runs, tmp_path / "mine") == {}


def test_text_that_was_made_again_asks_for_training(
    tmp_path: Path, config: Config, runs: dict[str, Run], other: Path
) -> None:
    write(other / "data" / "binary" / "train" / "meta.json", META | {"sha256": "new text"})
    assert shared_models(config, runs, tmp_path / "mine") == {}
