"""Products in 8 bits: how close, independent of the batch, and only where the processor multiplies them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from nmt.model import precision
from nmt.model.int8 import Int8Factor
from nmt.model.precision import affine, cached_factor, precision_of, product, refuse_unable, supported
from tests.messages import refused

needs_vnni = pytest.mark.skipif(not supported("int8"), reason="the processor multiplies no 8-bit numbers")
CPU = torch.device("cpu")


@needs_vnni
@given(rows=st.integers(1, 70), inner=st.integers(1, 90), columns=st.integers(1, 90), seed=st.integers(0, 99))
def test_a_product_is_that_of_the_rounded_numbers(rows: int, inner: int, columns: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(shape, generator=generator) for shape in ((rows, inner), (inner, columns)))
    left[0] = 0.0
    found = Int8Factor(right).multiply(left)
    steps = [part.abs().amax(dim, keepdim=True) / 127 for part, dim in ((left, 1), (right, 0))]
    # each factor is off by half a step at most
    off = steps[0] / 2 * right.abs().sum(0) + steps[1] / 2 * (left.abs() + steps[0] / 2).sum(1, keepdim=True)
    assert ((found - left @ right).abs() <= 1.001 * off + 1e-6).all()


@needs_vnni
def test_a_row_is_the_same_in_any_batch_and_directions_stand_side_by_side() -> None:
    left, right = torch.randn(2, 33, 50), torch.randn(2, 50, 40)
    whole = product(left, Int8Factor(right))
    for direction in range(2):
        alone = Int8Factor(right[direction])
        for row in range(33):
            assert torch.equal(whole[direction, row], product(left[direction, row], alone))


@needs_vnni
def test_only_weights_that_are_told_are_rounded() -> None:
    left, right, bias = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5)
    with precision_of("int8"):
        assert torch.equal(affine(left, right, bias), torch.addmm(bias, left, right))
        assert torch.equal(affine(left, Int8Factor(right), bias), product(left, Int8Factor(right)) + bias)


def test_factors_are_kept_of_fixed_weights_only_and_for_each_precision() -> None:
    module = nn.Linear(3, 2)
    weight = module.weight
    assert cached_factor(module, "weight", lambda: weight) is weight
    with precision_of("bf16"):
        assert cached_factor(module, "weight", lambda: weight) is not cached_factor(
            module, "weight", lambda: weight
        )
        module.eval()
        with_gradient = cached_factor(module, "weight", lambda: weight)
        assert isinstance(with_gradient, torch.Tensor) and with_gradient.requires_grad
        with torch.no_grad():
            rounded = cached_factor(module, "weight", lambda: weight)
            assert rounded is cached_factor(module, "weight", lambda: weight)
    assert isinstance(rounded, torch.Tensor) and rounded.dtype == torch.bfloat16
    assert cached_factor(module, "weight", lambda: weight) is weight


def test_what_cannot_be_computed_or_only_slowly_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text("flags : avx512f avx512_vnni\n", encoding="utf-8")
    monkeypatch.setattr(precision, "_PROCESSOR", tmp_path / "cpuinfo")
    for able in ("fp32", "int8"):
        refuse_unable(able, CPU)  # type: ignore[arg-type]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    for unable, device in (("bf16", "cpu"), ("int8", "cuda"), ("bf16", "cuda")):
        with refused():
            refuse_unable(unable, torch.device(device))  # type: ignore[arg-type]
