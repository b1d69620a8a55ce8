"""Model folders from elsewhere: whatever is in them, a line says what is wrong."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.model.model_types import build_model
from nmt.store import trained_model
from nmt.store.model_folder import (
    HISTORY,
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    TEXT_SETTINGS,
    WEIGHTS,
)
from nmt.store.tensors import load_tensors
from tests.messages import refused
from tests.odd_values import altered_bytes, altered_json, said
from tests.translators import trained_model as train_small_model

FILE_NAMES = [
    WEIGHTS, SETTINGS, TEXT_SETTINGS, SUMMARY, SOURCE_VOCABULARY, TARGET_VOCABULARY, HISTORY,
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model, and a text. Tests leave them as they were."""
    folder = train_small_model(tmp_path_factory.mktemp("model"))
    (folder / "text.en").write_text("w2 w3 .\n", encoding="utf-8")
    return folder


def use_model(folder: Path) -> str:
    """Return what is said when a model translates, gets a card and is packed."""
    messages = [
        said("translate", "--model", folder, folder / "text.en", "--output", folder / "text.fr"),
        said("model", "release", "--model", folder, "--output", folder / "m.tar.zst"),
    ]
    return "".join(messages)


def test_wrong_sizes_are_refused(folder, monkeypatch):
    """Before any memory is allocated for them."""

    def build_without_memory(*options: Any) -> Any:
        assert torch.empty(0).is_meta
        return build_model(*options)

    monkeypatch.setattr(trained_model, "build_model", build_without_memory)
    settings_text = (folder / SETTINGS).read_text(encoding="utf-8")
    values = json.loads(settings_text)
    values["architecture"]["hidden_units"] = 100_000
    (folder / SETTINGS).write_text(json.dumps(values), encoding="utf-8")
    with refused():
        trained_model.load_model(folder, torch.device("cpu"))
    (folder / SETTINGS).write_text(settings_text, encoding="utf-8")


def test_weights_that_are_no_numbers_are_refused(folder, monkeypatch):
    """Beam search would leave out a word whose embedding is NaN, and write other translations."""
    weights = load_tensors(folder / WEIGHTS)
    weights["target_embedding.E"][-1, 0] = torch.nan
    monkeypatch.setattr(trained_model, "load_tensors", lambda path: weights)
    with refused():
        trained_model.load_model(folder, torch.device("cpu"))


def test_little_gpu_memory_is_not_taken_for_wrong_weights(folder, monkeypatch):
    def fail(*_: object, **options: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch.Tensor, "to", fail)
    assert said("translate", "--model", folder, folder / "text.en").startswith("out of memory: ")


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "zeros"]
)
@pytest.mark.parametrize("name", FILE_NAMES)
def test_pipes_and_devices_are_refused(folder, name, make):
    regular_file = (folder / name).rename(folder / "regular")
    make(folder / name)
    try:
        with time_limit():
            message = use_model(folder)
    finally:
        regular_file.replace(folder / name)
    assert (name in message) == (name != HISTORY)


@contextmanager
def time_limit() -> Iterator[None]:
    """Fail where opening a file waits."""

    def fail(*_: object) -> None:
        raise TimeoutError

    previous_handler = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous_handler)


def altered_weights(data: bytes) -> st.SearchStrategy[bytes]:
    """A safetensors file: the length of its header, the header as JSON, the numbers."""
    end = 8 + int.from_bytes(data[:8], "little")
    altered_headers = altered_json(data[8:end]).map(
        lambda header: len(header).to_bytes(8, "little") + header + data[end:]
    )
    return altered_headers | altered_bytes(data)


@pytest.mark.fuzz
@given(data=st.data())
def test_damaged_model_folder(folder, data):
    """It is used, or refused in one line."""
    path = folder / data.draw(st.sampled_from(FILE_NAMES), "file")
    content = path.read_bytes()
    strategies = {WEIGHTS: altered_weights, ".json": altered_json}
    strategy = strategies.get(path.name) or strategies.get(path.suffix, altered_bytes)
    path.write_bytes(data.draw(strategy(content)))
    try:
        use_model(folder)
    finally:
        path.write_bytes(content)
