"""Who makes a processor's products: the choice depends on the processor alone, and no digit of a factor is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nmt.model import cpu_products
from nmt.model.computing import Precision, Products
from nmt.model.precision import precision_of

AMD = "vendor_id : AuthenticAMD\nflags : fpu avx512f avx512bw\n"


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    cpu_products.use("torch")


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        (AMD, "onednn"),
        (AMD.replace("AuthenticAMD", "GenuineIntel"), "torch"),
        (AMD.replace(" avx512bw", ""), "torch"),
        (AMD.replace("avx512bw", "avx512bw amx_tile"), "torch"),
    ],
)
def test_onednn_is_chosen_where_mkl_withholds_its_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, chosen: str
) -> None:
    (tmp_path / "cpuinfo").write_text(said, encoding="utf-8")
    monkeypatch.setattr(cpu_products, "_PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.setattr(cpu_products, "_exact", lambda: True)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert cpu_products.choose() == chosen
    assert cpu_products.choose("torch") == "torch"
    monkeypatch.setattr(cpu_products, "_exact", lambda: False)
    assert cpu_products.choose() == "torch"


@pytest.mark.parametrize(
    "shape", [(1, 1000, 3000), (80, 620, 3000), (600, 500, 4000), (500, 600, 2000), (3, 7, 5)]
)
def test_products_keep_all_digits_of_their_factors(shape: tuple[int, int, int]) -> None:
    cpu_products.use(cpu_products.choose())
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
    cpu_products.use("torch")
    assert torch.equal(cpu_products.tanh_(values.clone()), values.tanh())
    cpu_products.use("onednn")
    found = cpu_products.tanh_(values.clone())
    assert (found - values.double().tanh()).abs().max() < 2e-7
    assert not torch.equal(found, values.tanh())
    doubles = values.double()
    assert torch.equal(cpu_products.tanh_(doubles.clone()), doubles.tanh())


@pytest.mark.parametrize("products", ["onednn", "torch"])
@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_pytorchs_own_switches_fit_each_other(products: Products, precision: Precision) -> None:
    """Where they do not, its compiler and other users of the process cannot ask for the precision."""
    with precision_of(precision):
        cpu_products.use(products)
        assert torch.get_float32_matmul_precision() in ("highest", "high", "medium")
    assert torch.get_float32_matmul_precision() == ("medium" if products == "onednn" else "highest")
