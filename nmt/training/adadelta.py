"""Adadelta (Zeiler, 2012) as the paper uses it (App. B.2), in one pass over the memory.

    E[g^2]  <- rho E[g^2] + (1 - rho) g^2
    step     = sqrt(E[step^2] + eps) / sqrt(E[g^2] + eps) g
    E[step^2] <- rho E[step^2] + (1 - rho) step^2
    weight  <- weight - learning_rate step

Both averages start at 0 and epsilon is inside both roots, as in the authors' code and in torch's Adadelta, which takes
a dozen passes over all weights where this takes one: each piece of the weights goes through all four lines while it is
in the processor's cache. Rows of a sparse gradient that are absent have gradient 0: their weights stay and their
averages only decay, which is made up for when the row is next used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt.model.kernels import fused

IN_CACHE = 1 << 16
"""Weights that are worked on at once on a processor."""


class Adadelta(torch.optim.Optimizer):
    """State of each weight: `square_average` E[g^2] and `step_average` E[step^2], of its shape.

    While a weight (V, M) gets sparse gradients its state also has `updates`, how many there were, and `current`, (V,),
    up to which of them the averages of each row have been brought.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], learning_rate: float, rho: float, epsilon: float
    ) -> None:
        super().__init__(parameters, {"lr": learning_rate, "rho": rho, "eps": epsilon})

    @torch.no_grad()
    def step(self, closure: None = None, *, scale: Tensor | None = None) -> None:  # type: ignore[override]
        """One update by the gradients, each times `scale` (a scalar; none is 1)."""
        for group in self.param_groups:
            for weight in group["params"]:
                gradient, state = weight.grad, self.state[weight]
                if gradient is None:
                    continue
                for name in ("square_average", "step_average"):
                    if name not in state:
                        state[name] = torch.zeros_like(weight)
                if gradient.is_sparse:
                    step_rows(weight, gradient.coalesce(), state, group, scale)
                else:
                    step_all(weight, gradient, state, group, scale)


def step_all(
    weight: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any], scale: Tensor | None
) -> None:
    """One update of a whole weight, whose rows are all current afterwards."""
    if "current" in state:
        decay(state, slice(None), int(state["updates"]), group["rho"])
        del state["current"], state["updates"]
    parts = (weight, gradient.contiguous(), state["square_average"], state["step_average"])
    advance([part.view(-1) for part in parts], group, scale)


def step_rows(
    weight: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any], scale: Tensor | None
) -> None:
    """One update of the rows that a sparse gradient holds."""
    if "current" not in state:
        state["updates"] = torch.zeros((), dtype=torch.int64)
        state["current"] = torch.zeros(len(weight), dtype=torch.int64)
    rows = gradient.indices()[0]
    decay(state, rows, int(state["updates"]), group["rho"])
    state["updates"] += 1
    state["current"][rows] = state["updates"]
    averages = [state[name][rows] for name in ("square_average", "step_average")]
    parts = [weight[rows], gradient.values().contiguous(), *averages]
    advance([part.view(-1) for part in parts], group, scale)
    weight[rows] = parts[0]
    state["square_average"][rows], state["step_average"][rows] = averages


def decay(state: dict[str, Any], rows: Tensor | slice, updates: int, rho: float) -> None:
    """Give the averages of some rows the decay of those of the first `updates` updates in which they were absent."""
    missed = (updates - state["current"][rows]).unsqueeze(1)
    power = torch.full_like(missed, rho, dtype=torch.float64).pow(missed).to(state["square_average"].dtype)
    for name in ("square_average", "step_average"):
        state[name][rows] = state[name][rows] * power


def advance(parts: list[Tensor], group: dict[str, Any], scale: Tensor | None) -> None:
    """The four lines, in place, for flat weights, gradients, E[g^2] and E[step^2] of one length."""
    if kernels := fused():
        kernels.advance(parts, group, scale)
        return
    size = parts[0].numel() if parts[0].is_cuda else IN_CACHE
    rho, epsilon = group["rho"], group["eps"]
    for weight, gradient, squares, steps in zip(*(torch.split(part, size) for part in parts), strict=True):
        if scale is not None:
            gradient = gradient * scale
        squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        step = torch.add(steps, epsilon).div_(squares + epsilon).sqrt_().mul_(gradient)
        steps.mul_(rho).addcmul_(step, step, value=1 - rho)
        weight.add_(step, alpha=-group["lr"])
