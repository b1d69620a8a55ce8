"""Keys of expensive results, and the links to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nmt.io.files import link_file
from nmt.store.result_store import (
    TrainingStore,
    collect_training_facts,
    compute_key,
    compute_model_key,
    provide_result,
)
from tests.training_settings import model_run

DATA = {"train": "1", "dev": "2", "source_vocabulary": "3", "target_vocabulary": "4"}


def keys(data: Mapping[str, str] = DATA, base: str | None = None, **changes: Any) -> tuple[str, str]:
    """The keys of a training and of its finished model."""
    run = model_run(**changes)
    facts = collect_training_facts(run, data, base)
    return compute_key(facts), compute_model_key(facts, run)


def test_keys() -> None:
    training, model = keys()
    for ending in ({"updates": 7}, {"patience": 3}, {"keep": "best"}, {"train_sample": 5}):
        assert keys(**ending)[0] == training and keys(**ending)[1] != model
    for computing in ({"device": "cuda"}, {"kernels": "compiled"}, {"log_every": 3}):
        assert keys(**computing) == (training, model)
    others = [keys(learning_rate=0.5), keys(base="5"), keys(threads=2), keys(DATA | {"dev": "6"})]
    assert len({training, *(other[0] for other in others)}) == 5
    assert len({model, *(other[1] for other in others)}) == 5


def test_state_folder_of_former_name(tmp_path: Path) -> None:
    run = model_run()
    facts = collect_training_facts(run, DATA)
    store = TrainingStore(tmp_path)
    state, own = store.find_state_folders("small", facts, run)
    state.mkdir(parents=True)
    (state / "facts.json").write_text("{}", encoding="utf-8")
    assert store.find_state_folders("renamed", facts, run)[0] == state != own
    assert store.describe_changes("small", facts).endswith(f"stays in {state}")
    assert store.describe_changes("other", facts) == ""


def test_result_is_made_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(paths: Mapping[str, Path]) -> None:
        made.append(paths["text"])
        paths["text"].write_text("found", encoding="utf-8")

    output = tmp_path / "output.txt"
    for facts in ({"beam": 1}, {"beam": 1}, {"beam": 2}, {"beam": 1}):
        output.unlink(missing_ok=True)
        provide_result(tmp_path / "store", facts, {"text": output}, make)
        assert output.read_text(encoding="utf-8") == "found"
    assert len(made) == 2


@pytest.mark.parametrize("links", [True, False])
def test_link_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("new", encoding="utf-8")
    target.write_text("old", encoding="utf-8")
    for _ in range(2):
        link_file(source, target)
        assert target.read_text(encoding="utf-8") == "new" and target.samefile(source) == links
    assert sorted(os.listdir(tmp_path)) == ["source", "target"]
