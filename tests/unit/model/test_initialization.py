"""B.1's start values, weight by weight."""

from __future__ import annotations

import re

import pytest
import torch

from nmt.config.families import FamilyName
from nmt.model import families
from nmt.model.encoder_decoder import EncoderDecoder
from tests.small_models import small_architecture

RECURRENT = {"U", "U_z", "U_r"}
GATED = pytest.mark.parametrize("family", ["rnnencdec", "rnnsearch"])


def model_of(family: FamilyName) -> EncoderDecoder:
    architecture = small_architecture(
        family,
        hidden_units=150,
        embedding_size=120,
        maxout_units=80,
        alignment_units=130,
        init_std=0.01,
        alignment_init_std=0.001,
    )
    return families.create(family, architecture, (400, 300), seed=1)


@GATED
def test_start_values_are_those_of_b1(family: FamilyName) -> None:
    seen = set()
    for name, weight in model_of(family).named_parameters():
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
    assert seen == {"orthogonal", "zero", 0.01} | ({0.001} if family == "rnnsearch" else set())


@GATED
def test_recurrent_matrices_differ_from_each_other(family: FamilyName) -> None:
    weights = dict(model_of(family).named_parameters())
    assert not torch.equal(weights["decoder.unit.U"], weights["decoder.unit.U_z"])
    assert not torch.equal(weights["decoder.unit.U_z"], weights["decoder.unit.U_r"])


def test_a_seed_gives_one_model(family: FamilyName) -> None:
    sizes, seed = (40, 30), 1
    first, second = (families.create(family, small_architecture(family), sizes, seed) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
