"""`nmt tree` on a small model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.decoding.encoders import tree_of
from nmt.model.families.grconv import GrConv
from nmt.store import trained_model
from tests.odd_values import said
from tests.translators import trained_model as small_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_folder(tmp_path_factory.mktemp("grconv"), "grconv")


def test_the_picture_is_made_in_every_form(folder: Path, tmp_path: Path) -> None:
    pictures = [tmp_path / f"tree.{form}" for form in ("svg", "pdf", "png")]
    outputs = [part for picture in pictures for part in ("--output", picture)]
    said("tree", "w2 strange w3 .", "--model", folder, *outputs)
    starts = (b"<?xml", b"%PDF", b"\x89PNG")
    assert all(path.read_bytes().startswith(start) for path, start in zip(pictures, starts, strict=True))
    assert "strange" in pictures[0].read_text(encoding="utf-8")


def test_the_gates_are_those_by_which_the_model_reads(folder: Path) -> None:
    model = trained_model.load(folder, torch.device("cpu"))
    tree = tree_of(model, ["w2", "strange", "w3"])
    assert tree.leaves == ["w2", "strange", "w3", ""] and [len(level) for level in tree.gates] == [3, 2, 1]
    assert all(sum(gates) == pytest.approx(1, abs=1e-6) for level in tree.gates for gates in level)
    network = model.network
    assert isinstance(network, GrConv)
    ids = torch.tensor([*model.source.ids(["w2", "strange", "w3"]), 0])
    nodes = network.encoder.leaves(network.source_embedding(ids))
    for level in tree.gates:
        gates = torch.tensor(level, dtype=torch.float32)
        new = nodes[:-1] @ network.encoder.W_l + nodes[1:] @ network.encoder.W_r + network.encoder.b
        nodes = gates[:, :1] * new.relu() + gates[:, 1:2] * nodes[:-1] + gates[:, 2:] * nodes[1:]
    read = network.encode(ids.unsqueeze(1), torch.ones(4, 1)).summary
    torch.testing.assert_close(nodes, read, rtol=1e-4, atol=1e-5)
