"""Sentence vectors: what the textbook version hands to its decoder, in the order of the lines; trees of a grConv."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.decoding.encoders import compute_tree, encode_sentences
from nmt.evaluation.principal_components import read_projections
from nmt.model.model_types.grconv import GrConv
from nmt.settings.model_types import ALIGNING, MODEL_TYPES, ModelTypeName
from nmt.store import trained_model
from tests import translators
from tests.messages import refused
from tests.odd_values import said
from tests.running import nmt
from tests.small_models import by_loops, small_model

WORDS = [[2, 3, 4], [5], [2, 3, 4, 5, 6, 7], [4, 3, 2]]


@pytest.mark.parametrize(
    "model_type", [model_type for model_type in MODEL_TYPES if model_type not in ALIGNING]
)
@torch.no_grad()
def test_a_vector_is_all_that_the_decoder_is_told(model_type: ModelTypeName) -> None:
    """Sentences alone and in a batch have the same vector; another order of words has another."""
    model = small_model(model_type)
    alone = []
    for words in WORDS:
        source = torch.tensor(words).unsqueeze(1)
        alone.append(model.sentence_vectors(model.encode(source, torch.tensor([len(source)]))))
    length = max(map(len, WORDS))
    source = torch.tensor([[*words, *[0] * (length - len(words))] for words in WORDS]).t()
    together = model.sentence_vectors(model.encode(source, torch.tensor([*map(len, WORDS)])))
    assert together is not None and together.shape[1] >= model.architecture.hidden_units
    for row, vector in enumerate(alone):
        assert vector is not None
        assert torch.allclose(together[row], vector[0], atol=1e-12)
    assert not torch.allclose(together[0], together[3], atol=1e-3)


@torch.no_grad()
def test_an_rnnencdecs_is_the_last_forward_state() -> None:
    model = small_model("rnnencdec")
    source = torch.tensor(WORDS[0]).unsqueeze(1)
    found = model.sentence_vectors(model.encode(source, torch.tensor([len(source)])))
    annotations, _ = by_loops(model).encode(WORDS[0])
    assert found is not None and torch.allclose(found[0], annotations[-1], atol=1e-12)


def test_lines_panels_and_pictures(tmp_path: Path) -> None:
    folder = translators.trained_model(tmp_path, "rnnencdec")
    text = "w3 w4\nw5\nstrange w6 w7\n\nw3\nw4\n"
    (tmp_path / "text").write_text(text, encoding="utf-8")
    npy, tsv = tmp_path / "vectors.npy", tmp_path / "plane.tsv"
    options = ["--tokenized", "--model", folder, tmp_path / "text", "--output-npy", npy, "--output-tsv", tsv]
    result = nmt("vectors", *options, "--batch-size", "2")
    assert result.returncode == 0, result.stderr
    found = np.load(npy)
    model = trained_model.load_model(folder, torch.device("cpu"))
    lines = [line.split() for line in text.split("\n")[:-1]]
    assert found == pytest.approx(encode_sentences(model, lines, 80), abs=1e-6)
    (tmp_path / "empty").write_text("", encoding="utf-8")
    result = nmt("vectors", "--model", folder, tmp_path / "empty", "--output-npy", npy)
    assert result.returncode == 2
    assert result.stderr.endswith("empty: no sentence in it, so there are no vectors\n")
    assert [panel.sentences for panel in read_projections(tsv)] == [
        ["w3 w4", "w5", "strange w6 w7"],
        ["w3", "w4"],
    ]


def test_a_model_that_aligns_has_none(tmp_path: Path) -> None:
    model = trained_model.load_model(translators.trained_model(tmp_path, "rnnsearch"), torch.device("cpu"))
    with refused():
        encode_sentences(model, [["w3"]], 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return translators.trained_model(tmp_path_factory.mktemp("grconv"), "grconv")


def test_the_picture_is_made_in_every_form(folder: Path, tmp_path: Path) -> None:
    pictures = [tmp_path / f"tree.{form}" for form in ("svg", "pdf", "png")]
    outputs = [part for picture in pictures for part in ("--output", picture)]
    said("tree", "w2 strange w3 .", "--model", folder, *outputs)
    starts = (b"<?xml", b"%PDF", b"\x89PNG")
    assert all(path.read_bytes().startswith(start) for path, start in zip(pictures, starts, strict=True))
    assert "strange" in pictures[0].read_text(encoding="utf-8")


def test_the_gates_are_those_by_which_the_model_reads(folder: Path) -> None:
    model = trained_model.load_model(folder, torch.device("cpu"))
    tree = compute_tree(model, ["w2", "strange", "w3"])
    assert tree.leaves == ["w2", "strange", "w3", ""] and [len(level) for level in tree.gates] == [3, 2, 1]
    assert all(sum(gates) == pytest.approx(1, abs=1e-6) for level in tree.gates for gates in level)
    network = model.network
    assert isinstance(network, GrConv)
    ids = torch.tensor([*model.source.ids(["w2", "strange", "w3"]), 0])
    nodes = network.encoder.compute_leaves(network.source_embedding(ids))
    for level in tree.gates:
        gates = torch.tensor(level, dtype=torch.float32)
        new = nodes[:-1] @ network.encoder.W_l + nodes[1:] @ network.encoder.W_r + network.encoder.b
        nodes = gates[:, :1] * new.relu() + gates[:, 1:2] * nodes[:-1] + gates[:, 2:] * nodes[1:]
    read = network.encode(ids.unsqueeze(1), torch.tensor([4])).summary
    torch.testing.assert_close(nodes, read, rtol=1e-4, atol=1e-5)
