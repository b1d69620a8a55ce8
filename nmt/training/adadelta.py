"""Adadelta (Zeiler, 2012) as the paper uses it (App. B.2), in one pass over the memory.

    E[g^2]  <- rho E[g^2] + (1 - rho) g^2
    step     = sqrt(E[step^2] + eps) / sqrt(E[g^2] + eps) g
    E[step^2] <- rho E[step^2] + (1 - rho) step^2
    weight  <- weight - learning_rate step

Both averages start at 0 and epsilon is inside both roots, as in the authors' code and in PyTorch's Adadelta. PyTorch
makes a dozen passes over all weights; this code makes one: each block of weights goes through all four lines while it
is in the CPU's cache. Rows that are absent from a sparse gradient have gradient 0: their weights do not change, and
their averages only decay. The decay is applied when the row is next used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible, fusing

IN_CACHE = 1 << 18
"""Weights that a CPU processes at once: few enough for its cache, enough to share among threads. On two threads, 2^16
took a third longer; 2^20 took longer on one."""


class Adadelta(torch.optim.Optimizer):
    """The optimizer. The state of a weight is `square_average` E[g^2] and `step_average` E[step^2], of its shape.

    If a weight (V, M) has sparse gradients, its state also has `updates`, the number of updates, and `current`, (V,),
    the number of updates that the averages of each row include.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        learning_rate: float,
        rho: float,
        epsilon: float,
        fuse: bool = False,
    ) -> None:
        """Take the settings; with `fuse`, whole weights are updated by compiled code (`nmt.backend.compiled`)."""
        self.fuse = fuse
        super().__init__(parameters, {"lr": learning_rate, "rho": rho, "eps": epsilon})

    @torch.no_grad()
    def step(self, closure: None = None, *, scale: Tensor | None = None) -> None:  # type: ignore[override]
        """Make one update by the gradients, each times `scale` (a scalar; None is 1)."""
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
                    step_all(weight, gradient, state, group, scale, self.fuse)


def step_all(
    weight: Tensor,
    gradient: Tensor,
    state: dict[str, Any],
    group: dict[str, Any],
    scale: Tensor | None,
    fuse: bool,
) -> None:
    """Update a whole weight. The averages of all its rows are current afterwards."""
    if "current" in state:
        decay(state, slice(None), int(state["updates"]), group["rho"])
        del state["current"], state["updates"]
    parts = (weight, gradient.contiguous(), state["square_average"], state["step_average"])
    advance([part.view(-1) for part in parts], group, scale, fuse)


def step_rows(
    weight: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any], scale: Tensor | None
) -> None:
    """Update the rows that a sparse gradient contains."""
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
    """Decay the averages of some rows for those of the first `updates` updates in which the rows were absent."""
    missed = (updates - state["current"][rows]).unsqueeze(1)
    power = torch.full_like(missed, rho, dtype=torch.float64).pow(missed).to(state["square_average"].dtype)
    for name in ("square_average", "step_average"):
        state[name][rows] = state[name][rows] * power


def advance(parts: list[Tensor], group: dict[str, Any], scale: Tensor | None, fuse: bool = False) -> None:
    """Apply the four lines in place, to flat weights, gradients, E[g^2] and E[step^2] of equal length."""
    rate, rho, epsilon = group["lr"], group["rho"], group["eps"]
    if fuse:
        # as a tensor, or each rate would be compiled anew
        four_lines(*parts, parts[0].new_full((), rate), rho, epsilon, scale, fuse=True)
        return
    size = parts[0].numel() if parts[0].is_cuda else IN_CACHE
    for some in zip(*(torch.split(part, size) for part in parts), strict=True):
        four_lines(*some, rate, rho, epsilon, scale)


@fusible(weight=0, gradient=0, squares=0, steps=0)
def four_lines(
    weight: Tensor, gradient: Tensor, squares: Tensor, steps: Tensor, rate: Any, rho: float, epsilon: float,
    scale: Tensor | None,
) -> None:  # fmt: skip
    """Apply the four lines in place; `rate` is a number, or a scalar tensor where this is compiled."""
    if scale is not None:
        gradient = gradient * scale
    squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    step = torch.add(steps, epsilon).div_(squares + epsilon).sqrt_().mul_(gradient)
    steps.mul_(rho).addcmul_(step, step, value=1 - rho)
    if fusing():
        weight.sub_(step * rate)
    else:
        weight.add_(step, alpha=-rate)
