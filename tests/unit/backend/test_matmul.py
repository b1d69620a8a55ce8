"""Backends: products in 8 bits, what is rounded, which library multiplies, and what a CPU cannot do."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nmt.backend import matmul
from nmt.backend.int8 import Int8Weight
from nmt.backend.matmul import (
    Backend,
    BackendModule,
    check_precision,
    choose_matmul_library,
    multiply_bf16,
    pad_to_eights,
    processor_supports,
    tanh_,
)
from nmt.io import system
from tests.messages import refused

needs_vnni = pytest.mark.skipif(not processor_supports("int8"), reason="the CPU multiplies no 8-bit numbers")
CPU, GPU = torch.device("cpu"), torch.device("cuda")
AMD = "vendor_id : AuthenticAMD\nflags : fpu avx512f avx512bw\n"


@pytest.fixture(autouse=True)
def default_switches() -> Iterator[None]:
    yield
    Backend().set_matmul_precision()


def random_matrices(rows: int, inner: int, columns: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(rows, inner, generator=generator), torch.rand(inner, columns, generator=generator)


@needs_vnni
@given(rows=st.integers(1, 70), inner=st.integers(1, 90), columns=st.integers(1, 90), seed=st.integers(0, 99))
def test_int8_product(rows, inner, columns, seed):
    left, right = (2 * matrix - 1 for matrix in random_matrices(rows, inner, columns, seed))
    left[0] = 0.0
    product = Int8Weight(right).multiply(left)

    # each operand is off by half a step at most
    left_error = left.abs().amax(1, keepdim=True) / 127 / 2
    right_error = right.abs().amax(0, keepdim=True) / 127 / 2
    limit = left_error * right.abs().sum(0) + right_error * (left.abs() + left_error).sum(1, keepdim=True)
    assert ((product - left @ right).abs() <= 1.001 * limit + 1e-6).all()


@needs_vnni
def test_int8_row_is_independent_of_its_batch():
    left, right = torch.randn(2, 33, 50), torch.randn(2, 50, 40)
    product = Backend("int8").product(left, Int8Weight(right))
    for direction in range(2):
        weight = Int8Weight(right[direction])
        for row in range(33):
            assert torch.equal(product[direction, row], weight.multiply(left[direction, row]))


def test_prepare_once():
    """Frozen weights are prepared once, and anew for another backend or other weights."""
    module = BackendModule()
    module.weight = torch.nn.Parameter(torch.randn(3, 2))

    def prepared_weight() -> Tensor:
        return module.prepare_once("weight", lambda: module.weight)

    assert prepared_weight() is module.weight
    module.use_backend(Backend("bf16"))
    assert prepared_weight() is not prepared_weight()
    module.eval()
    assert prepared_weight().requires_grad
    with torch.no_grad():
        rounded = prepared_weight()
        assert rounded is prepared_weight() and rounded.dtype == torch.bfloat16
        module.load_state_dict({"weight": torch.full((3, 2), 2.0)})
        assert (prepared_weight() == 2).all()
        module.use_backend(Backend())
        assert prepared_weight() is module.weight


def test_unsupported_precision(monkeypatch, tmp_path, capsys):
    """It is refused. A GPU without TF32 computes in fp32, and this is printed."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    (tmp_path / "cpuinfo").write_text("flags : avx512f avx512_vnni\n", encoding="utf-8")
    monkeypatch.setattr(system, "CPUINFO", tmp_path / "cpuinfo")
    check_precision("fp32", CPU)
    check_precision("int8", CPU)
    with refused():
        check_precision("bf16", CPU)
    for precision in ("int8", "bf16"):
        with refused():
            check_precision(precision, GPU)
    check_precision("fp32", GPU)
    assert not capsys.readouterr().err
    check_precision("tf32", GPU)
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("batches", [(), (3,)])
def test_bf16_padding(batches):
    left, right = torch.randn(*batches, 5, 50), torch.randn(*batches, 50, 21)
    padded = pad_to_eights(left.mT)
    assert padded.shape[-2:] == (56, 8) and torch.equal(padded[..., :50, :5], left.mT)
    torch.testing.assert_close(multiply_bf16(left, right), left @ right)
    assert pad_to_eights(torch.ones(16, 8)).shape == (16, 8)


@pytest.mark.parametrize(
    ("cpuinfo", "expected_library"),
    [
        (AMD, "onednn"),
        (AMD.replace("AuthenticAMD", "GenuineIntel"), "torch"),
        (AMD.replace(" avx512bw", ""), "torch"),
        (AMD.replace("avx512bw", "avx512bw amx_tile"), "torch"),
    ],
)
def test_choose_matmul_library(tmp_path, monkeypatch, cpuinfo, expected_library):
    (tmp_path / "cpuinfo").write_text(cpuinfo, encoding="utf-8")
    monkeypatch.setattr(system, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(matmul, "_onednn_keeps_all_digits", lambda: True)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert choose_matmul_library(CPU) == expected_library
    assert choose_matmul_library(CPU, "torch") == choose_matmul_library(GPU) == "torch"
    monkeypatch.setattr(matmul, "_onednn_keeps_all_digits", lambda: False)
    assert choose_matmul_library(CPU) == "torch"


@pytest.mark.parametrize(
    "shape", [(1, 1000, 3000), (80, 620, 3000), (600, 500, 4000), (500, 600, 2000), (3, 7, 5)]
)
def test_fp32_products_keep_all_digits(shape):
    Backend(matmul_library=choose_matmul_library(CPU)).set_matmul_precision()
    left, right = random_matrices(*shape)
    expected = left.double() @ right.double()
    for product in (
        left @ right,
        left @ right.t().contiguous().t(),
        torch.addmm(torch.zeros(shape[2]), left, right),
    ):
        assert (product / expected - 1).abs().max() < 2e-6


def test_fast_tanh():
    """As exact as 32 bits near 1, and used for 32 bits only."""
    extremes = torch.tensor([0.0, -1e38, 1e38, torch.inf, -torch.inf])
    values = torch.cat([torch.linspace(-12, 12, 100_001), extremes])
    assert torch.equal(tanh_(values.clone(), fast_tanh=False), values.tanh())
    fast = tanh_(values.clone(), fast_tanh=True)
    assert (fast - values.double().tanh()).abs().max() < 2e-7
    assert not torch.equal(fast, values.tanh())
    doubles = values.double()
    assert torch.equal(tanh_(doubles.clone(), fast_tanh=True), doubles.tanh())


@pytest.mark.parametrize("matmul_library", ["onednn", "torch"])
@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_switches_fit_each_other(matmul_library, precision):
    """Where they do not, `get_float32_matmul_precision` raises, which PyTorch's compiler calls."""
    Backend(precision, matmul_library).set_matmul_precision()
    is_onednn, is_tf32 = matmul_library == "onednn", precision == "tf32"
    expected = "medium" if is_onednn else "high" if is_tf32 else "highest"
    assert torch.get_float32_matmul_precision() == expected
