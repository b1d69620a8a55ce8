"""Sentence vectors: what the textbook version hands to its decoder, in the order of the lines; trees of a grConv."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.decoding.vectors_and_trees import compute_tree, encode_sentences
from nmt.evaluation.principal_components import Projection, read_projections
from nmt.settings.model_types import MODEL_TYPES, MODEL_TYPES_WITH_ATTENTION
from nmt.store import trained_model
from tests import translators
from tests.messages import refused
from tests.odd_values import said
from tests.small_models import by_loops, small_model

SENTENCES = [[2, 3, 4], [5], [2, 3, 4, 5, 6, 7], [4, 3, 2]]
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "model_type", [name for name in MODEL_TYPES if name not in MODEL_TYPES_WITH_ATTENTION]
)
@torch.no_grad()
def test_vectors_do_not_depend_on_the_batch(model_type):
    model = small_model(model_type)
    lengths = [len(words) for words in SENTENCES]
    padded = [[*words, *[0] * (max(lengths) - len(words))] for words in SENTENCES]
    vectors = model.sentence_vectors(model.encode(torch.tensor(padded).t(), torch.tensor(lengths)))
    assert vectors.shape[1] >= model.architecture.hidden_units
    for row, words in enumerate(SENTENCES):
        source = torch.tensor(words).unsqueeze(1)
        vector = model.sentence_vectors(model.encode(source, torch.tensor([len(words)])))
        assert torch.allclose(vectors[row], vector[0], atol=1e-12)
    assert not torch.allclose(vectors[0], vectors[3], atol=1e-3), "the order of words counts"


@torch.no_grad()
def test_vector_of_an_rnnencdec_is_its_last_state():
    model = small_model("rnnencdec")
    source = torch.tensor(SENTENCES[0]).unsqueeze(1)
    vectors = model.sentence_vectors(model.encode(source, torch.tensor([len(source)])))
    annotations, _ = by_loops(model).encode(SENTENCES[0])
    assert torch.allclose(vectors[0], annotations[-1], atol=1e-12)


@torch.no_grad()
def test_vector_of_a_deep_lstm_has_all_states():
    model = small_model("lstm", source_eos=False)
    source = torch.tensor(SENTENCES[0]).unsqueeze(1)
    vectors = model.sentence_vectors(model.encode(source, torch.tensor([len(source)])))
    loops, zeros = by_loops(model), torch.zeros(model.architecture.hidden_units, dtype=torch.float64)
    states = [(zeros, zeros)] * model.architecture.layers
    for word in reversed(SENTENCES[0]):
        states = loops.step("encoder", loops.weights["source_embedding.E"][word], states)
    expected = torch.cat([*(h for h, _ in states), *(c for _, c in states)])
    assert torch.allclose(vectors[0], expected, atol=1e-12)


def test_files_of_vectors(tmp_path):
    folder = translators.trained_model(tmp_path, "rnnencdec")
    text = "w3 w4\nw5\nstrange w6 w7\n\nw3\nw4\n"
    (tmp_path / "text").write_text(text, encoding="utf-8")
    npy, tsv = tmp_path / "vectors.npy", tmp_path / "plane.tsv"
    options = ["--tokenized", "--model", folder, tmp_path / "text", "--output-npy", npy, "--output-tsv", tsv]
    assert not said("vectors", *options, "--batch-size", "2")
    model = trained_model.load_model(folder, CPU)
    lines = text.splitlines()
    vectors = np.load(npy)
    assert vectors == pytest.approx(encode_sentences(model, [line.split() for line in lines], 80), abs=1e-6)
    for panel, rows in zip(read_projections(tsv), (slice(0, 3), slice(4, 6)), strict=True):
        expected = Projection.from_vectors(lines[rows], vectors[rows])
        assert panel.sentences == expected.sentences
        assert panel.points == pytest.approx(expected.points, abs=1e-4)
        assert panel.variance_fractions == pytest.approx(expected.variance_fractions, abs=1e-4)

    (tmp_path / "empty").touch()
    assert "no sentence" in said("vectors", "--model", folder, tmp_path / "empty", "--output-npy", npy)


def test_model_with_attention_has_no_vectors(tmp_path):
    model = trained_model.load_model(translators.trained_model(tmp_path, "rnnsearch"), CPU)
    with refused():
        encode_sentences(model, [["w3"]], 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return translators.trained_model(tmp_path_factory.mktemp("grconv"), "grconv")


def test_tree_in_every_picture_format(folder, tmp_path):
    starts = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    outputs = [option for name in starts for option in ("--output", tmp_path / f"tree.{name}")]
    assert not said("tree", "w2 strange w3 .", "--model", folder, *outputs)
    for name, start in starts.items():
        assert (tmp_path / f"tree.{name}").read_bytes().startswith(start)
    assert "strange" in (tmp_path / "tree.svg").read_text(encoding="utf-8")


def test_gates_give_the_sentence_vector(folder):
    model = trained_model.load_model(folder, CPU)
    tree = compute_tree(model, ["w2", "strange", "w3"])
    assert tree.leaves == ["w2", "strange", "w3", ""] and [len(level) for level in tree.gates] == [3, 2, 1]
    assert all(sum(gates) == pytest.approx(1, abs=1e-6) for level in tree.gates for gates in level)

    # Eqs. of Sec. 2.2 with these gates, from the leaves to the root
    network = model.network
    encoder = network.encoder
    ids = torch.tensor([*model.source_vocabulary.ids(["w2", "strange", "w3"]), 0])
    nodes = encoder.compute_leaves(network.source_embedding(ids))
    for level in tree.gates:
        gates = torch.tensor(level, dtype=torch.float32)
        new = nodes[:-1] @ encoder.W_l + nodes[1:] @ encoder.W_r + encoder.b
        nodes = gates[:, :1] * new.relu() + gates[:, 1:2] * nodes[:-1] + gates[:, 2:] * nodes[1:]
    root = network.encode(ids.unsqueeze(1), torch.tensor([4])).summary
    torch.testing.assert_close(nodes, root, rtol=1e-4, atol=1e-5)
