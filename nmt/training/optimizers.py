"""Optimizers, learning rates and clipping.

The optimizers are Adadelta as in Bahdanau et al., SGD as in Sutskever et al., and Adam for small experiments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.settings.training import Training

PREFIX = "optimizer/"


def make_optimizer(model: nn.Module, training: Training, fuse: bool = False) -> torch.optim.Optimizer:
    """Make the optimizer that the settings name; `fuse` is that of the model's backend."""
    if training.optimizer == "adadelta":
        return Adadelta(model.parameters(), training.learning_rate, training.rho, training.epsilon, fuse)
    if training.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), lr=training.learning_rate)
    on_gpu = next(model.parameters()).is_cuda
    adam: torch.optim.Optimizer = torch.optim.Adam(
        model.parameters(), lr=training.learning_rate, eps=training.epsilon, fused=True, capturable=on_gpu
    )
    return adam


def rate_at(training: Training, epoch: float) -> float:
    """Return the learning rate after a number of epochs.

    It is multiplied by `decay_factor` at `decay_from_epoch`, and again after each further `decay_every_epochs`: at 5,
    and then every half epoch, in Sutskever et al. (2014), Sec. 3.4.
    """
    if training.decay_from_epoch is None or epoch < training.decay_from_epoch:
        return training.learning_rate
    steps = 1 + math.floor((epoch - training.decay_from_epoch) / training.decay_every_epochs)
    return training.learning_rate * training.decay_factor**steps


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> bool:
    """Set the learning rate of all weights, and return whether it has changed."""
    changed = any(group["lr"] != rate for group in optimizer.param_groups)
    for group in optimizer.param_groups:
        group["lr"] = rate
    return changed


def clip(parameters: Iterable[Tensor], threshold: float) -> tuple[Tensor, Tensor]:
    """Return the gradient's L2 norm and its scale, both scalars, for clipping (Pascanu et al., 2013).

    The scale reduces a larger norm to `threshold`, and is 1 otherwise, also for a gradient that is not finite. Sparse
    gradients are coalesced.
    """
    norms = torch._foreach_norm(list(gradient_values(parameters)))
    norm: Tensor = torch.linalg.vector_norm(torch.stack(norms))
    scale = (threshold / norm).clamp(max=1.0)
    return norm, torch.where(norm.isfinite(), scale, torch.ones_like(scale))


def gradient_values(parameters: Iterable[Tensor]) -> Iterable[Tensor]:
    """Return the gradient of each weight that has one, or the rows of a sparse gradient."""
    for weight in parameters:
        if weight.grad is None:
            continue
        if weight.grad.is_sparse:
            weight.grad = weight.grad.coalesce()
            yield weight.grad.values()
        else:
            yield weight.grad


@torch.no_grad()
def replace_not_finite(parameters: Iterable[Tensor], norm: Tensor) -> None:
    """Replace a gradient whose norm is not finite by the weights times 0.1, as in the authors' code."""
    if norm.is_cuda:  # without asking the GPU, which would have to be waited for
        for weight in parameters:
            if weight.grad is not None:
                weight.grad.copy_(torch.where(norm.isfinite(), weight.grad, 0.1 * weight))
    elif not norm.isfinite():
        for weight in parameters:
            weight.grad = 0.1 * weight.detach()


def descend(optimizer: torch.optim.Optimizer, scale: Tensor) -> None:
    """Make one step by the gradients times `scale`."""
    if isinstance(optimizer, Adadelta):
        optimizer.step(scale=scale)
        return
    for group in optimizer.param_groups:
        for gradient in gradient_values(group["params"]):
            gradient.mul_(scale)
    optimizer.step()


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state by name: `optimizer/<weight>/<quantity>`."""
    tensors = {}
    for name, weight in model.named_parameters():
        for key, value in optimizer.state[weight].items():
            tensors[f"{PREFIX}{name}/{key}"] = value
    return tensors


def restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the state that `optimizer_tensors` returned."""
    weights = dict(model.named_parameters())
    for path, value in tensors.items():
        if path.startswith(PREFIX):
            name, key = path.removeprefix(PREFIX).rsplit("/", 1)
            weight = weights[name]
            optimizer.state[weight][key] = value.to(weight.device, copy=True)


# --- Adadelta ---------------------------------------------------------------------------------------------------------

IN_CACHE = 1 << 18
"""Weights that a CPU processes at once: few enough for its cache, enough to share among threads. On two threads, 2^16
took a third longer; 2^20 took longer on one."""


class Adadelta(torch.optim.Optimizer):
    """Adadelta (Zeiler, 2012) as the paper uses it (App. B.2), in one pass over the memory.

        E[g^2]  <- rho E[g^2] + (1 - rho) g^2
        step     = sqrt(E[step^2] + eps) / sqrt(E[g^2] + eps) g
        E[step^2] <- rho E[step^2] + (1 - rho) step^2
        weight  <- weight - learning_rate step

    Both averages start at 0 and epsilon is inside both roots, as in the authors' code and in PyTorch's Adadelta.
    PyTorch makes a dozen passes over all weights; this code makes one: each block of weights goes through all four
    lines while it is in the CPU's cache. Rows that are absent from a sparse gradient have gradient 0: their weights do
    not change, and their averages only decay. The decay is applied when the row is next used.

    The state of a weight is `square_average` E[g^2] and `step_average` E[step^2], of its shape.

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
    if torch.compiler.is_compiling():
        weight.sub_(step * rate)
    else:
        weight.add_(step, alpha=-rate)
