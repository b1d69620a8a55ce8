"""B.1's start values, weight by weight."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from nmt.model import model_types
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.model_types.grconv import GrConv
from nmt.settings.model_types import ModelTypeName
from tests.small_models import small_architecture

RECURRENT = {"U", "U_z", "U_r"}
GATED = pytest.mark.parametrize("model_type", ["rnnencdec", "rnnsearch"])


def model_of(model_type: ModelTypeName) -> EncoderDecoder:
    of_alignment = {} if model_type == "grconv" else {"alignment_units": 130, "alignment_init_std": 0.001}
    architecture = small_architecture(
        model_type, hidden_units=150, embedding_size=120, maxout_units=80, init_std=0.01, **of_alignment
    )
    return model_types.create_model(model_type, architecture, (400, 300), seed=1)


@GATED
def test_start_values_are_those_of_b1(model_type: ModelTypeName) -> None:
    seen = set()
    for name, weight in model_of(model_type).named_parameters():
        last = name.rsplit(".", 1)[1]
        if last in RECURRENT:
            torch.testing.assert_close(weight @ weight.t(), torch.eye(len(weight)), atol=1e-4, rtol=0)
            seen.add("orthogonal")
        elif last == "v_a" or re.match(r"b(_|$)", last):
            assert not weight.any(), name
            seen.add("zero")
        else:
            std = 0.001 if last in {"W_a", "U_a"} else 0.01
            assert weight.std().item() == pytest.approx(std, rel=0.05), name
            assert abs(weight.mean().item()) < 0.1 * std, name
            seen.add(std)
    assert seen == {"orthogonal", "zero", 0.01} | ({0.001} if model_type == "rnnsearch" else set())


@GATED
def test_recurrent_matrices_differ_from_each_other(model_type: ModelTypeName) -> None:
    weights = dict(model_of(model_type).named_parameters())
    assert not torch.equal(weights["decoder.unit.U"], weights["decoder.unit.U_z"])
    assert not torch.equal(weights["decoder.unit.U_z"], weights["decoder.unit.U_r"])


def test_a_seed_gives_one_model(model_type: ModelTypeName) -> None:
    sizes, seed = (40, 30), 1
    first, second = (
        model_types.create_model(model_type, small_architecture(model_type), sizes, seed) for _ in range(2)
    )
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def _tree() -> nn.Module:
    model = model_of("grconv")
    assert isinstance(model, GrConv)
    return model.encoder


def test_the_trees_matrices_start_as_the_paper_says() -> None:
    names = set()
    for name, weight in _tree().named_parameters():
        if name in {"W_l", "W_r"}:
            expected = 0.4**2 * torch.eye(len(weight))
            torch.testing.assert_close(weight @ weight.t(), expected, atol=1e-4, rtol=0)
        elif name.startswith("b"):
            assert not weight.any(), name
        else:
            assert weight.std().item() == pytest.approx(0.01, rel=0.1), name
        names.add(name)
    assert names == {"U", "W_l", "W_r", "G_l", "G_r", "b_U", "b", "b_g"}
    of_decoder = model_of("grconv").get_parameter("decoder.unit.W_r")
    assert of_decoder.std().item() == pytest.approx(0.01, rel=0.05)


def test_the_decoders_square_matrices_may_start_smaller() -> None:
    model = model_types.create_model(
        "grconv", small_architecture("grconv", recurrent_init_scale=0.4), (40, 30), 1
    )
    for name in ("U", "U_z", "U_r"):
        weight = dict(model.named_parameters())[f"decoder.unit.{name}"]
        torch.testing.assert_close(weight @ weight.t(), 0.16 * torch.eye(5), atol=1e-4, rtol=0)
