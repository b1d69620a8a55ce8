"""Model folders from elsewhere: whatever is in them, a line says what is wrong."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.store import trained_model
from nmt.store.model_folder import SETTINGS, SUMMARY, TEXT_SETTINGS, WEIGHTS
from tests.messages import refused
from tests.odd_values import altered_bytes, altered_json, said
from tests.translators import trained_model as small_folder

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a small model."""
    return small_folder(tmp_path / "model")


@pytest.mark.parametrize("units", [100_000, 10**12])
def test_wrong_sizes_are_refused(folder: Path, units: int) -> None:
    values = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    values["architecture"]["hidden_units"] = units
    (folder / SETTINGS).write_text(json.dumps(values), encoding="utf-8")
    with refused():
        trained_model.load_model(folder, CPU)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model, for many tests in turn."""
    return small_folder(tmp_path_factory.mktemp("lasting"))


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "zeros"]
)
@pytest.mark.parametrize(
    "name", [WEIGHTS, SETTINGS, TEXT_SETTINGS, SUMMARY, "source.tsv", "target.tsv", "history.jsonl"]
)
def test_pipes_and_devices_are_refused(lasting: Path, name: str, make: Callable[[Path], None]) -> None:
    text = lasting / "text.en"
    text.write_text("w2 w3 .\n", encoding="utf-8")
    whole = (lasting / name).rename(lasting / "whole")
    make(lasting / name)
    try:
        with in_time():
            lines = [
                said("translate", "--model", lasting, text, "--output", lasting / "text.fr"),
                said("model", "card", "--model", lasting),
                said("model", "release", "--model", lasting, "--output", lasting / "m.tar.zst"),
            ]
    finally:
        whole.replace(lasting / name)
    assert (name in "".join(lines)) == (name != "history.jsonl")


@contextmanager
def in_time() -> Iterator[None]:
    """Fails where opening a file waits."""

    def fail(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def altered_weights(data: bytes) -> st.SearchStrategy[bytes]:
    """A safetensors file: its length of the header, the header as JSON, the numbers."""
    end = 8 + int.from_bytes(data[:8], "little")
    headers = altered_json(data[8:end])
    odd = headers.map(lambda header: len(header).to_bytes(8, "little") + header + data[end:])
    return odd | altered_bytes(data)


@pytest.mark.fuzz
@given(data=st.data())
def test_damaged_model_folder(lasting: Path, data: st.DataObject) -> None:
    (lasting / "text.en").write_text("w2 w3 .\n", encoding="utf-8")
    names = [WEIGHTS, SETTINGS, TEXT_SETTINGS, SUMMARY, "source.tsv", "target.tsv", "history.jsonl"]
    path = lasting / data.draw(st.sampled_from(names), "file")
    whole = path.read_bytes()
    altered = {WEIGHTS: altered_weights, ".json": altered_json}
    strategy = altered.get(path.name) or altered.get(path.suffix, altered_bytes)
    path.write_bytes(data.draw(strategy(whole)))
    try:
        said("translate", "--model", lasting, lasting / "text.en", "--output", lasting / "text.fr")
        said("model", "card", "--model", lasting)
        said("model", "release", "--model", lasting, "--output", lasting / "m.tar.zst")
    finally:
        path.write_bytes(whole)
