"""Keys of trainings, and copies of finished models."""

import json
from collections.abc import Mapping
from typing import Any

from nmt.store.training_store import (
    COPIED_FILES,
    TrainingStore,
    collect_training_inputs,
    compute_key,
    compute_model_key,
    copy_model,
)
from tests.training_settings import model_run

DATA = {"train": "1", "dev": "2", "source_vocabulary": "3", "target_vocabulary": "4"}


def compute_keys(data: Mapping[str, str] = DATA, base: str | None = None, **changes: Any) -> tuple[str, str]:
    """Return the keys of a training and of its finished model."""
    run = model_run(**changes)
    inputs = collect_training_inputs(run, data, base)
    return compute_key(inputs), compute_model_key(inputs, run)


def test_keys():
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


def test_state_folder_of_former_name(tmp_path):
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

    # a training that begins anew because its end is earlier has not changed
    other_folder = shared_folder.with_name(f"small-{'0' * 12}")
    other_folder.mkdir()
    (other_folder / "facts.json").write_text("{}", encoding="utf-8")
    assert store.describe_changes("small", inputs | {"data.dev": "a" * 64}) == ""


def test_copied_model_is_not_the_stored_one(tmp_path):
    """Whoever edits an output in place leaves the store as it is."""
    stored, output = tmp_path / "stored", tmp_path / "output"
    stored.mkdir()
    for name in (*COPIED_FILES, "summary.json"):
        (stored / name).write_text('{"model": "former"}', encoding="utf-8")
    summary = copy_model(stored, output, model_run())
    assert summary["model"] == model_run().model != "former"
    (output / "README.md").write_text("edited", encoding="utf-8")
    for name in COPIED_FILES:
        (output / name).write_text("edited", encoding="utf-8")
        assert "former" in (stored / name).read_text(encoding="utf-8")

    # the card stays if the same model is copied again, but not if a different one is
    copy_model(stored, output, model_run())
    assert (output / "README.md").exists()
    (stored / "summary.json").write_text('{"updates": 3}', encoding="utf-8")
    copy_model(stored, output, model_run())
    assert not (output / "README.md").exists()
