"""Keys of expensive results, and the links to them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nmt.io.files import link_file
from nmt.store.result_store import (
    TrainingStore,
    collect_training_inputs,
    compute_key,
    compute_model_key,
    link_or_compute_result,
)
from tests.training_settings import model_run

DATA = {"train": "1", "dev": "2", "source_vocabulary": "3", "target_vocabulary": "4"}


def compute_keys(data: Mapping[str, str] = DATA, base: str | None = None, **changes: Any) -> tuple[str, str]:
    """Return the keys of a training and of its finished model."""
    run = model_run(**changes)
    inputs = collect_training_inputs(run, data, base)
    return compute_key(inputs), compute_model_key(inputs, run)


def test_keys() -> None:
    training_key, model_key = compute_keys()
    for ending in ({"updates": 7}, {"patience": 3}, {"keep": "best"}, {"train_sample": 5}):
        other_training_key, other_model_key = compute_keys(**ending)
        assert other_training_key == training_key and other_model_key != model_key
    for computing in ({"device": "cuda"}, {"kernels": "compiled"}, {"log_every": 3}):
        assert compute_keys(**computing) == (training_key, model_key)
    pairs_of_keys = [
        compute_keys(),
        compute_keys(learning_rate=0.5),
        compute_keys(base="5"),
        compute_keys(threads=2),
        compute_keys(DATA | {"dev": "6"}),
    ]
    for keys in zip(*pairs_of_keys, strict=True):
        assert len(set(keys)) == 5


def test_state_folder_of_former_name(tmp_path: Path) -> None:
    run = model_run()
    inputs = collect_training_inputs(run, DATA)
    store = TrainingStore(tmp_path)
    shared_folder, own_folder = store.find_state_folders("small", inputs, run)
    shared_folder.mkdir(parents=True)
    (shared_folder / "facts.json").write_text("{}", encoding="utf-8")
    assert store.find_state_folders("renamed", inputs, run)[0] == shared_folder != own_folder
    assert store.describe_changes("small", inputs).endswith(f"stays in {shared_folder}")
    assert store.describe_changes("other", inputs) == ""
    (shared_folder / "facts.json").write_text(json.dumps(inputs | {"data.dev": "a" * 64}), encoding="utf-8")
    changes = store.describe_changes("small", inputs | {"data.dev": "b" * 64})
    assert changes == f"data.dev was replaced; the former training stays in {shared_folder}"


def test_result_is_made_once(tmp_path: Path) -> None:
    """Also if its links were deleted."""
    written_paths: list[Path] = []

    def write_result(paths: Mapping[str, Path]) -> None:
        written_paths.append(paths["text"])
        paths["text"].write_text("result", encoding="utf-8")

    output = tmp_path / "output.txt"
    for inputs in ({"beam": 1}, {"beam": 1}, {"beam": 2}, {"beam": 1}):
        output.unlink(missing_ok=True)
        link_or_compute_result(tmp_path / "store", inputs, {"text": output}, write_result)
        assert output.read_text(encoding="utf-8") == "result"
    assert len(written_paths) == 2


@pytest.mark.parametrize("has_links", [True, False])
def test_link_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    """Without links in the file system, it is copied."""

    def refuse_link(*_: object) -> None:
        raise PermissionError("no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse_link)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("new", encoding="utf-8")
    target.write_text("old", encoding="utf-8")
    for _ in range(2):
        link_file(source, target)
        assert target.read_text(encoding="utf-8") == "new" and target.samefile(source) == has_links
    assert sorted(os.listdir(tmp_path)) == ["source", "target"]
