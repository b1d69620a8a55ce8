"""Optimizers, learning rates and clipping.

The optimizers are Adadelta as in Bahdanau et al., SGD as in Sutskever et al., and Adam for small experiments.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.settings.training import Training

PREFIX = "optimizer/"


class Optimizer(ABC):
    """An optimizer of weights, with one learning rate for all of them.

    It is not PyTorch's class, which imports torch.compile when it is made: seconds of every training, for nothing.

    state: what the optimizer keeps of each weight, by name; empty before the first step.
    """

    def __init__(self, weights: Iterable[Tensor], learning_rate: float) -> None:
        self.weights, self.learning_rate = list(weights), learning_rate
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for weight in self.weights:
            weight.grad = None

    @abstractmethod
    def step(self, scale: Tensor | None = None) -> None:
        """Make one update by the gradients, each times `scale` (a scalar; None is 1)."""

    def _state_of(self, weight: Tensor, *names: str) -> dict[str, Any]:
        """Return the state of a weight, with these quantities of its shape, which begin at 0."""
        state = self.state[weight]
        for name in names:
            if name not in state:
                state[name] = torch.zeros_like(weight)
        return state


def make_optimizer(model: nn.Module, training: Training, fuse: bool = False) -> Optimizer:
    """Make the optimizer that the settings name; `fuse` is that of the model's backend."""
    if training.optimizer == "adadelta":
        return Adadelta(model.parameters(), training.learning_rate, training.rho, training.epsilon, fuse)
    if training.optimizer == "sgd":
        return SGD(model.parameters(), training.learning_rate)
    return Adam(model.parameters(), training.learning_rate, training.epsilon)


def schedule_learning_rate(training: Training, epoch: float) -> float:
    """Return the learning rate after a number of epochs.

    It is multiplied by `decay_factor` at `decay_from_epoch`, and again after each further `decay_every_epochs`: at 5,
    and then every half epoch, in Sutskever et al. (2014), Sec. 3.4.
    """
    if training.decay_from_epoch is None or epoch < training.decay_from_epoch:
        return training.learning_rate
    steps = 1 + math.floor((epoch - training.decay_from_epoch) / training.decay_every_epochs)
    return training.learning_rate * training.decay_factor**steps


def set_rate(optimizer: Optimizer, rate: float) -> bool:
    """Set the learning rate, and return whether it has changed."""
    changed = optimizer.learning_rate != rate
    optimizer.learning_rate = rate
    return changed


def measure_gradient(parameters: Iterable[Tensor], threshold: float) -> tuple[Tensor, Tensor]:
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


def make_gradients_dense(parameters: Iterable[Tensor]) -> None:
    """Make sparse gradients dense, for an optimizer that takes no others. They are those of a dense embedding."""
    for weight in parameters:
        if weight.grad is not None and weight.grad.is_sparse:
            weight.grad = weight.grad.to_dense()


@torch.no_grad()
def replace_nonfinite_gradients(parameters: Iterable[Tensor], norm: Tensor) -> None:
    """Replace a gradient whose norm is not finite by the weights times 0.1, as in the authors' code."""
    if norm.is_cuda:  # without asking the GPU, which would have to be waited for
        for weight in parameters:
            if weight.grad is not None:
                weight.grad.copy_(torch.where(norm.isfinite(), weight.grad, 0.1 * weight))
    elif not norm.isfinite():
        for weight in parameters:
            weight.grad = 0.1 * weight.detach()


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state by name: `optimizer/<weight>/<quantity>`."""
    tensors = {}
    for name, weight in model.named_parameters():
        for key, value in optimizer.state[weight].items():
            tensors[f"{PREFIX}{name}/{key}"] = value
    return tensors


def restore_optimizer(model: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the state that `optimizer_tensors` returned."""
    weights = dict(model.named_parameters())
    for path, value in tensors.items():
        if path.startswith(PREFIX):
            name, key = path.removeprefix(PREFIX).rsplit("/", 1)
            weight = weights[name]
            optimizer.state[weight][key] = value.to(weight.device, copy=True)


# --- SGD and Adam -----------------------------------------------------------------------------------------------------


class SGD(Optimizer):
    """Stochastic gradient descent without momentum (Sutskever et al. 2014, Sec. 3.4)."""

    @torch.no_grad()
    def step(self, scale: Tensor | None = None) -> None:
        """See `Optimizer.step`."""
        torch._foreach_add_(*scaled_gradients(self.weights, scale), alpha=-self.learning_rate)


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015) with its decays of 0.9 and 0.999, computed by PyTorch's kernel."""

    def __init__(self, weights: Iterable[Tensor], learning_rate: float, epsilon: float) -> None:
        super().__init__(weights, learning_rate)
        self.epsilon = epsilon

    @torch.no_grad()
    def step(self, scale: Tensor | None = None) -> None:
        """See `Optimizer.step`."""
        weights, gradients = scaled_gradients(self.weights, scale)
        for weight in weights:
            self.state[weight].setdefault("step", torch.zeros((), device=weight.device))
            self._state_of(weight, "exp_avg", "exp_avg_sq")
        averages, squares, steps = (
            [self.state[weight][name] for weight in weights] for name in ("exp_avg", "exp_avg_sq", "step")
        )
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            weights,
            gradients,
            averages,
            squares,
            [],
            steps,
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=self.epsilon,
            amsgrad=False,
            maximize=False,
        )


def scaled_gradients(weights: Iterable[Tensor], scale: Tensor | None) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights that have a gradient, and their gradients, multiplied by `scale` in place."""
    used = [weight for weight in weights if weight.grad is not None]
    if scale is not None:
        for gradient in gradient_values(used):
            gradient.mul_(scale)
    return used, [weight.grad for weight in used if weight.grad is not None]


# --- Adadelta ---------------------------------------------------------------------------------------------------------

WEIGHTS_PER_BLOCK = 1 << 18
"""Weights that a CPU processes at once: few enough for its cache, enough to share among threads. On two threads, 2^16
took a third longer; 2^20 took longer on one."""


class Adadelta(Optimizer):
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
        weights: Iterable[Tensor],
        learning_rate: float,
        rho: float,
        epsilon: float,
        fuse: bool = False,
    ) -> None:
        """Take the settings; with `fuse`, whole weights are updated by compiled code (`nmt.backend.compiled`)."""
        super().__init__(weights, learning_rate)
        self.rho, self.epsilon, self.fuse = rho, epsilon, fuse

    @torch.no_grad()
    def step(self, scale: Tensor | None = None) -> None:
        """See `Optimizer.step`."""
        for weight in self.weights:
            if weight.grad is None:
                continue
            state = self._state_of(weight, "square_average", "step_average")
            if weight.grad.is_sparse:
                self._step_rows(weight, weight.grad.coalesce(), state, scale)
            else:
                self._step_all(weight, weight.grad, state, scale)

    def _step_all(
        self, weight: Tensor, gradient: Tensor, state: dict[str, Any], scale: Tensor | None
    ) -> None:
        """Update a whole weight. The averages of all its rows are current afterwards."""
        if "current" in state:
            decay(state, slice(None), int(state["updates"]), self.rho)
            del state["current"], state["updates"]
        parts = (weight, gradient.contiguous(), state["square_average"], state["step_average"])
        self._advance([part.view(-1) for part in parts], scale, self.fuse)

    def _step_rows(
        self, weight: Tensor, gradient: Tensor, state: dict[str, Any], scale: Tensor | None
    ) -> None:
        """Update the rows that a sparse gradient contains."""
        if "current" not in state:
            state["updates"] = torch.zeros((), dtype=torch.int64)
            state["current"] = torch.zeros(len(weight), dtype=torch.int64)
        rows = gradient.indices()[0]
        decay(state, rows, int(state["updates"]), self.rho)
        state["updates"] += 1
        state["current"][rows] = state["updates"]
        averages = [state[name][rows] for name in ("square_average", "step_average")]
        parts = [weight[rows], gradient.values().contiguous(), *averages]
        self._advance([part.view(-1) for part in parts], scale)
        weight[rows] = parts[0]
        state["square_average"][rows], state["step_average"][rows] = averages

    def _advance(self, parts: list[Tensor], scale: Tensor | None, fuse: bool = False) -> None:
        """Apply the four lines in place, to flat weights, gradients, E[g^2] and E[step^2] of equal length."""
        if fuse:
            rate = parts[0].new_full((), self.learning_rate)
            apply_adadelta(*parts, rate, self.rho, self.epsilon, scale, fuse=True)
            return
        size = parts[0].numel() if parts[0].is_cuda else WEIGHTS_PER_BLOCK
        for some in zip(*(torch.split(part, size) for part in parts), strict=True):
            apply_adadelta(*some, self.learning_rate, self.rho, self.epsilon, scale)


def decay(state: dict[str, Any], rows: Tensor | slice, updates: int, rho: float) -> None:
    """Decay the averages of some rows for those of the first `updates` updates in which the rows were absent."""
    missed = (updates - state["current"][rows]).unsqueeze(1)
    power = torch.full_like(missed, rho, dtype=torch.float64).pow(missed).to(state["square_average"].dtype)
    for name in ("square_average", "step_average"):
        state[name][rows] = state[name][rows] * power


def apply_adadelta_fused(
    weight: Tensor, gradient: Tensor, squares: Tensor, steps: Tensor, rate: Tensor, rho: float,
    epsilon: float, scale: Tensor | None,
) -> None:  # fmt: skip
    """Do what `four_lines` does, with a rate that is a scalar tensor: each number would be compiled anew."""
    weight.sub_(averaged_step(gradient, squares, steps, rho, epsilon, scale) * rate)


@fusible(fused=apply_adadelta_fused, weight=0, gradient=0, squares=0, steps=0)
def apply_adadelta(
    weight: Tensor, gradient: Tensor, squares: Tensor, steps: Tensor, rate: float, rho: float,
    epsilon: float, scale: Tensor | None,
) -> None:  # fmt: skip
    """Apply the four lines in place."""
    weight.add_(averaged_step(gradient, squares, steps, rho, epsilon, scale), alpha=-rate)


def averaged_step(
    gradient: Tensor, squares: Tensor, steps: Tensor, rho: float, epsilon: float, scale: Tensor | None
) -> Tensor:
    """Return the step of the second line, after both averages have been renewed in place."""
    if scale is not None:
        gradient = gradient * scale
    squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    step = torch.add(steps, epsilon).div_(squares + epsilon).sqrt_().mul_(gradient)
    steps.mul_(rho).addcmul_(step, step, value=1 - rho)
    return step
