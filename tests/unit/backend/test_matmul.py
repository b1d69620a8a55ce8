"""Backends: products in 8 bits, what is rounded, which library multiplies, and what a processor cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.backend import matmul
from nmt.backend.matmul import (
    Backend,
    BackendModule,
    Int8Weight,
    MatmulLibrary,
    Precision,
    check_precision,
    choose_matmul_library,
    multiply_bf16,
    pad_to_eights,
    processor_supports,
    tanh_,
)
from tests.messages import refused

needs_vnni = pytest.mark.skipif(
    not processor_supports("int8"), reason="the processor multiplies no 8-bit numbers"
)
CPU = torch.device("cpu")
AMD = "vendor_id : AuthenticAMD\nflags : fpu avx512f avx512bw\n"


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    Backend().set_switches()


@needs_vnni
@given(rows=st.integers(1, 70), inner=st.integers(1, 90), columns=st.integers(1, 90), seed=st.integers(0, 99))
def test_a_product_is_that_of_the_rounded_numbers(rows: int, inner: int, columns: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(shape, generator=generator) for shape in ((rows, inner), (inner, columns)))
    left[0] = 0.0
    found = Int8Weight(right).multiply(left)
    steps = [part.abs().amax(dim, keepdim=True) / 127 for part, dim in ((left, 1), (right, 0))]
    # each factor is off by half a step at most
    off = steps[0] / 2 * right.abs().sum(0) + steps[1] / 2 * (left.abs() + steps[0] / 2).sum(1, keepdim=True)
    assert ((found - left @ right).abs() <= 1.001 * off + 1e-6).all()


@needs_vnni
def test_a_row_is_the_same_in_any_batch_and_directions_stand_side_by_side() -> None:
    left, right = torch.randn(2, 33, 50), torch.randn(2, 50, 40)
    whole = Backend("int8").product(left, Int8Weight(right))
    for direction in range(2):
        alone = Int8Weight(right[direction])
        for row in range(33):
            assert torch.equal(whole[direction, row], alone.multiply(left[direction, row]))


def test_weights_are_prepared_once_if_they_are_fixed_and_anew_for_another_backend() -> None:
    module = BackendModule()
    module.weight = torch.nn.Parameter(torch.randn(3, 2))

    def prepared() -> matmul.PreparedWeight:
        return module.prepare_once("weight", lambda: module.weight)  # type: ignore[arg-type,return-value]

    assert prepared() is module.weight
    module.use_backend(Backend("bf16"))
    assert prepared() is not prepared()
    module.eval()
    with_gradient = prepared()
    assert isinstance(with_gradient, torch.Tensor) and with_gradient.requires_grad
    with torch.no_grad():
        rounded = prepared()
        assert rounded is prepared()
        module.load_state_dict({"weight": torch.full((3, 2), 2.0)})
        assert (prepared() == 2).all()
        assert isinstance(rounded, torch.Tensor) and rounded.dtype == torch.bfloat16
        module.use_backend(Backend())
        assert prepared() is module.weight


def test_what_cannot_be_computed_or_only_slowly_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text("flags : avx512f avx512_vnni\n", encoding="utf-8")
    monkeypatch.setattr(matmul, "CPUINFO", tmp_path / "cpuinfo")
    for able in ("fp32", "int8"):
        check_precision(able, CPU)  # type: ignore[arg-type]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    for unable, device in (("bf16", "cpu"), ("int8", "cuda"), ("bf16", "cuda")):
        with refused():
            check_precision(unable, torch.device(device))  # type: ignore[arg-type]


def test_a_gpu_without_tf32_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    check_precision("tf32", torch.device("cuda"))
    assert capsys.readouterr().err.count("\n") == 1
    check_precision("fp32", torch.device("cuda"))
    assert not capsys.readouterr().err


@pytest.mark.parametrize("batches", [(), (3,)])
def test_rows_of_16_bits_are_padded_to_eights_for_a_gpu(batches: tuple[int, ...]) -> None:
    left, right = torch.randn(*batches, 5, 50), torch.randn(*batches, 50, 21)
    padded = pad_to_eights(left.mT)
    assert padded.shape[-2:] == (56, 8) and torch.equal(padded[..., :50, :5], left.mT)
    torch.testing.assert_close(multiply_bf16(left, right), left @ right)
    assert pad_to_eights(torch.ones(16, 8)).shape == (16, 8)


@pytest.mark.parametrize(
    ("processor", "chosen"),
    [
        (AMD, "onednn"),
        (AMD.replace("AuthenticAMD", "GenuineIntel"), "torch"),
        (AMD.replace(" avx512bw", ""), "torch"),
        (AMD.replace("avx512bw", "avx512bw amx_tile"), "torch"),
    ],
)
def test_onednn_is_chosen_where_mkl_withholds_its_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processor: str, chosen: str
) -> None:
    (tmp_path / "cpuinfo").write_text(processor, encoding="utf-8")
    monkeypatch.setattr(matmul, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(matmul, "_onednn_keeps_all_digits", lambda: True)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert choose_matmul_library(CPU) == chosen
    assert choose_matmul_library(CPU, "torch") == choose_matmul_library(torch.device("cuda")) == "torch"
    monkeypatch.setattr(matmul, "_onednn_keeps_all_digits", lambda: False)
    assert choose_matmul_library(CPU) == "torch"


@pytest.mark.parametrize(
    "shape", [(1, 1000, 3000), (80, 620, 3000), (600, 500, 4000), (500, 600, 2000), (3, 7, 5)]
)
def test_products_keep_all_digits_of_their_factors(shape: tuple[int, int, int]) -> None:
    Backend(matmul_library=choose_matmul_library(CPU)).set_switches()
    rows, inner, columns = shape
    random = torch.Generator().manual_seed(1)
    left, right = (torch.rand(*size, generator=random) for size in ((rows, inner), (inner, columns)))
    exact = left.double() @ right.double()
    for found in (
        left @ right,
        left @ right.t().contiguous().t(),
        torch.addmm(torch.zeros(columns), left, right),
    ):
        assert (found / exact - 1).abs().max() < 2e-6


def test_tanh_is_pytorchs_or_as_exact_as_32_bits_near_1() -> None:
    values = torch.cat(
        [torch.linspace(-12, 12, 100_001), torch.tensor([0.0, -1e38, 1e38, torch.inf, -torch.inf])]
    )
    assert torch.equal(tanh_(values.clone(), fast_tanh=False), values.tanh())
    found = tanh_(values.clone(), fast_tanh=True)
    assert (found - values.double().tanh()).abs().max() < 2e-7
    assert not torch.equal(found, values.tanh())
    doubles = values.double()
    assert torch.equal(tanh_(doubles.clone(), fast_tanh=True), doubles.tanh())


@pytest.mark.parametrize("matmul_library", ["onednn", "torch"])
@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_pytorchs_own_switches_fit_each_other(matmul_library: MatmulLibrary, precision: Precision) -> None:
    """Where they do not, its compiler and other users of the process cannot ask for the precision."""
    Backend(precision, matmul_library).set_switches()
    assert torch.get_float32_matmul_precision() in ("highest", "high", "medium")
