"""Finished models: another experiment's are taken where they fit, one's own are not deleted for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.store.model_folder import MODEL, RECORDS
from pipeline.config.finished_models import in_danger, shared_models
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import Run, run_settings, runs_of
from pipeline.config.schema import Config
from tests.experiments import EXTENDS_PAPER

META = {"sha256": "text", "source_vocabulary_sha256": "source", "target_vocabulary_sha256": "target"}
DATA = {"train": "text", "dev": "text", "source_vocabulary": "source", "target_vocabulary": "target"}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.yaml").write_text(EXTENDS_PAPER + "data_from: ../other\n", encoding="utf-8")
    config = load(find_layers(tmp_path / "mine"))
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
        for file in (*MODEL, *RECORDS):
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
        lambda other: write(other / "data" / "binary" / "train" / "meta.json", META | {"sha256": "new text"}),
    ],
    ids=["incomplete", "other settings", "no settings", "other text", "begun here", "text made again"],
)
def test_what_does_not_fit_is_trained_and_so_is_what_it_continues_from(
    tmp_path: Path, config: Config, runs: dict[str, Run], other: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(other)
    assert shared_models(config, runs, tmp_path / "mine") == {}


def test_what_nobody_uses_asks_for_no_training(
    tmp_path: Path, config: Config, runs: dict[str, Run], other: Path
) -> None:
    """A model that continues from a finished one, and that neither experiment uses."""
    (other / "models" / "rnnsearch-50-star" / "model.safetensors").unlink()
    used = config.use.model_copy(update={"models": ["rnnsearch-50"]})
    artifacts = config.artifacts.model_copy(
        update={"figure2_models": ["rnnsearch-50"], "figure3_model": None, "table3_models": ["rnnsearch-50"]}
    )
    mine = config.model_copy(update={"use": used, "artifacts": artifacts})
    assert shared_models(mine, runs, tmp_path / "mine") == {"rnnsearch-50": "../other/models/rnnsearch-50"}


def test_a_model_that_its_state_can_continue_is_in_no_danger(config: Config, other: Path) -> None:
    own = config.model_copy(update={"data_from": None})
    write(other / "state" / "rnnsearch-50" / "checkpoint-000000001.json", {})
    entry = own.models["rnnsearch-50"]
    longer = entry.model_copy(update={"training": entry.training.model_copy(update={"updates": 999_999})})
    for model in (entry, longer):
        changed = own.model_copy(update={"models": {**own.models, "rnnsearch-50": model}})
        assert in_danger(changed, ["rnnsearch-50"], [], other) == []
    assert in_danger(own, ["rnnencdec-50"], [], other) == []  # nothing is finished
    for name in ("settings.json", "summary.json"):  # killed while it wrote the model
        other.joinpath("models", "rnnsearch-50", name).unlink()
    assert in_danger(own, ["rnnsearch-50"], [], other) == []


@pytest.mark.parametrize(
    ("spoil", "rules", "why"),
    [
        (lambda other: None, ["moses_phrase_ids"], "without state/rnnsearch-50"),
        (lambda other: None, ["binarize"], "text is to be made anew"),
        (
            lambda other: write(other / "data" / "binary" / "dev" / "meta.json", META | {"sha256": "new"}),
            [],
            "other text",
        ),
        (
            lambda other: other.joinpath("models/rnnsearch-50/settings.json").write_text("["),
            [],
            "settings.json cannot be read",
        ),
    ],
)
def test_a_finished_model_is_not_deleted_for_what_cannot_continue_it(
    config: Config, other: Path, spoil: Callable[[Path], None], rules: list[str], why: str
) -> None:
    spoil(other)
    own = config.model_copy(update={"data_from": None})
    (line,) = in_danger(own, ["rnnsearch-50"], rules, other)
    assert why in line


def test_a_finished_model_is_not_deleted_for_other_settings(config: Config, other: Path) -> None:
    write(other / "state" / "rnnsearch-50" / "checkpoint-000000001.json", {})
    entry = config.models["rnnsearch-50"]
    changed = entry.model_copy(update={"training": entry.training.model_copy(update={"batch_size": 9})})
    own = config.model_copy(update={"data_from": None, "models": {**config.models, "rnnsearch-50": changed}})
    (line,) = in_danger(own, ["rnnsearch-50"], [], other)
    assert "training.batch_size was 80 and is now 9" in line


def test_a_finished_model_of_phrases_is_not_deleted_for_other_phrases(config: Config, other: Path) -> None:
    """Its text is the phrase table's pairs: new sentences leave it as it is, new pairs do not."""
    moses = config.moses.model_copy(update={"enabled": True, "phrase_model": "rnnsearch-50"})
    own = config.model_copy(update={"data_from": None, "moses": moses})
    write(other / "state" / "rnnsearch-50" / "checkpoint-000000001.json", {})
    for part in ("train", "dev"):
        write(other / "moses" / "phrases" / part / "meta.json", META)
    write(other / "data" / "binary" / "train" / "meta.json", META | {"sha256": "new"})
    assert in_danger(own, ["rnnsearch-50"], ["binarize"], other) == []
    (line,) = in_danger(own, ["rnnsearch-50"], ["moses_phrase_ids"], other)
    assert "text is to be made anew" in line
    write(other / "moses" / "phrases" / "train" / "meta.json", META | {"sha256": "new"})
    (line,) = in_danger(own, ["rnnsearch-50"], [], other)
    assert "other text than moses/phrases" in line
