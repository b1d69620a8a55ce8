"""The kernels for GPUs, interpreted on the processor, against PyTorch's operations and the equations as plain loops."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.model import alignment, gru, kernels, loss
from nmt.model.kernels import kernels_of, set_kernels
from nmt.settings.families import FamilyName
from nmt.training import adadelta
from nmt.training.update import Updater
from tests.messages import refused
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of, nll_by_loops

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs Triton, which is for Linux"
)
CPU = torch.device("cpu")
EXACT = {"rtol": 1e-9, "atol": 1e-10}
"""In 64 bits; the series of tanh is right to 2e-10."""


@pytest.fixture(params=[None, 4], ids=["whole rows", "pieces of 4"])
def fused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The kernels in use, whose programs work on whole rows or on parts of them."""
    with kernels_of("triton", CPU):
        module = kernels.fused()
        assert module is not None
        for name, value in {
            "BLOCK": request.param,
            "LONG": request.param,
            "WEIGHTS": request.param,
            "ROWS": 2,
        }.items():
            if request.param:
                monkeypatch.setattr(module, name, value)
        yield module


def random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def both(function: Any, *given: Any) -> tuple[Any, Any]:
    """What a function fills and returns with the kernels, and with PyTorch's operations."""
    found = []
    for name in ("triton", "torch"):
        copies = [part.clone() if isinstance(part, Tensor) else part for part in given]
        with kernels_of(name, CPU):  # type: ignore[arg-type]
            returned = function(*copies)
        found.append((returned, [part for part in copies if isinstance(part, Tensor)]))
    return found[0], found[1]


@needs_triton
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("directions", [(), (2,)])
def test_a_gated_step_and_its_gradient(fused: ModuleType, directions: tuple[int, ...], masked: bool) -> None:
    """In places of larger tensors, as the scans ask for it."""
    d, sentences, n = directions, 3, 6
    mask = random(*d, sentences, 1).gt(0).double() if masked else None
    given = (
        random(*d, sentences, 3 * n),
        random(*d, sentences, 2 * n),
        random(*d, sentences, n),
        random(*d, n, n),
    )

    def ahead(projected: Tensor, recurrent: Tensor, state: Tensor, U: Tensor, filled: Tensor) -> None:
        out = filled[..., : 2 * n], filled[..., 2 * n : 3 * n], filled[..., 3 * n :]
        gru.gated_step(projected, recurrent, state, U, mask, out)

    one, two = both(ahead, *given, torch.zeros(*d, sentences, 4 * n, dtype=torch.float64))
    torch.testing.assert_close(one, two, **EXACT)
    filled = two[1][-1]
    back = random(*d, sentences, n), filled[..., : 2 * n], filled[..., 2 * n : 3 * n], given[2], given[3].mT
    one, two = both(gru.gated_step_backward, *back, torch.zeros_like(given[0]))
    torch.testing.assert_close(one, two, **EXACT)


@needs_triton
def test_a_step_of_attention_and_its_gradient(fused: ModuleType) -> None:
    batch, length, units, size = 3, 5, 6, 9
    query, keys, v_a = random(batch, units), random(batch, length, units), random(units)
    annotations = random(batch, length, size)
    padding = torch.arange(length) >= torch.tensor([[5], [1], [3]])
    empty = torch.zeros(batch, length).double(), torch.zeros(batch, size).double()
    one, two = both(alignment.attend, query, keys, v_a, padding, annotations, *empty)
    torch.testing.assert_close(one, two, **EXACT)
    weights = two[1][-2]
    ways = (
        fused.AlignmentBackward(keys, v_a, annotations),
        alignment.AlignmentBackward(keys, v_a, annotations),
    )
    found = []
    for way in ways:
        energies, queries = torch.zeros(2, batch, length).double(), torch.zeros(2, batch, units).double()
        for step in range(2):
            way.step(weights, random(batch, size) + step, query + step, energies[step], queries[step])
        found.append([energies, queries, *way.gradients(energies)])
    torch.testing.assert_close(*found, **EXACT)


@needs_triton
@pytest.mark.parametrize("fused", [None], indirect=True)
@pytest.mark.parametrize("length", [1, 3])
def test_a_step_at_the_papers_sizes_in_32_bits(fused: ModuleType, length: int) -> None:
    """1,000 units, rows that begin at no multiple of 16, and sentences of which one word alone is no padding."""
    n, sentences = 1000, 2
    projected, recurrent, state = (random(sentences, size).float() for size in (3 * n, 2 * n, n))
    made = torch.zeros(sentences, 4 * n)

    def ahead(filled: Tensor) -> None:
        out = filled[..., : 2 * n], filled[..., 2 * n : 3 * n], filled[..., 3 * n :]
        gru.gated_step(projected, recurrent, state, random(n, n).float() / n, None, out)

    torch.testing.assert_close(*both(ahead, made), rtol=1e-5, atol=1e-6)
    keys, annotations = random(sentences, length, n).float(), random(sentences, length, 2 * n).float()
    padding = (torch.arange(length) > 0).expand(sentences, -1).contiguous()
    one, two = both(
        alignment.attend, state, keys, random(n).float(), padding, annotations, torch.zeros(sentences, length),
        torch.zeros(sentences, 2 * n),
    )  # fmt: skip
    torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)
    assert one[1][-2][:, 0].eq(1).all() and torch.equal(one[1][-1], annotations[:, 0])


@needs_triton
@pytest.mark.parametrize("masked", [True, False])
def test_the_cost_and_its_error(fused: ModuleType, masked: bool) -> None:
    words = torch.tensor([[3], [0], [10], [4]])
    mask = torch.tensor([[1.0], [0.0], [1.0], [1.0]]) if masked else None
    one, two = both(loss.become_error, 30 * random(4, 11), random(11), words, mask)
    torch.testing.assert_close(one, two, **EXACT)


@needs_triton
@pytest.mark.parametrize("scale", [None, 0.25])
def test_adadelta(fused: ModuleType, scale: float | None) -> None:
    group = {"lr": 0.7, "rho": 0.95, "eps": 1e-6}
    factor = None if scale is None else torch.tensor(scale, dtype=torch.float64)

    def update(*parts: Tensor) -> None:
        adadelta.advance(list(parts), group, factor)

    one, two = both(update, random(13), random(13), random(13).square(), random(13).square())
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-14)


@needs_triton
@pytest.mark.parametrize("fused", [None], indirect=True)
def test_tanh_keeps_its_digits_near_zero_and_far_from_it(fused: ModuleType) -> None:
    values = torch.cat([torch.logspace(-12, 3, 400), torch.tensor([0.0, 0.2499, 0.25, 0.2501])])
    values = torch.cat([values, -values])
    n = len(values)
    zeros = torch.zeros(1, n)
    out = torch.zeros(1, 2 * n), torch.zeros(1, n), torch.zeros(1, n)
    fused.gated_step(
        torch.cat([zeros, zeros, values[None]], 1), torch.zeros(1, 2 * n), zeros, torch.zeros(n, n), None, out
    )
    torch.testing.assert_close(out[1][0], values.double().tanh().float(), rtol=3e-7, atol=0)


@needs_triton
@pytest.mark.parametrize("fused", [None], indirect=True)
def test_an_update_follows_the_equations(fused: ModuleType, family: FamilyName) -> None:
    """Cost and gradients of a batch with padding, then the optimizer's step."""
    model, updater_of = small_model(family), {"clip_norm": 0.5, "optimizer": "adadelta"}
    pairs = [PAIRS[1], ([3, 5], [4])]
    expected = nll_by_loops(model, pairs).sum()
    gradients = torch.autograd.grad(expected, list(model.parameters()))
    updater = Updater(model, training(**updater_of))
    before = [weight.detach().clone() for weight in model.parameters()]
    updater(batch_of(pairs))
    assert updater.read().nll == pytest.approx(float(expected.detach()), rel=1e-6)
    scale = 0.5 / torch.stack([gradient.norm() for gradient in gradients]).norm()
    for weight, old, gradient in zip(model.parameters(), before, gradients, strict=True):
        clipped = scale * gradient
        step = (1e-6 / (0.05 * clipped**2 + 1e-6)).sqrt() * clipped
        torch.testing.assert_close(weight.detach(), old - step, rtol=1e-7, atol=1e-10)


@needs_triton
def test_kernels_for_gpus_are_refused_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET")
    with refused():
        set_kernels("triton", CPU)
    assert kernels.fused() is None


def test_a_missing_triton_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with refused():
        set_kernels("triton", torch.device("cuda"))


@needs_triton
def test_a_missing_compiler_is_told_before_the_first_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRITON_INTERPRET", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    with refused():
        set_kernels("triton", torch.device("cuda"))
