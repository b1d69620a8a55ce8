"""Optimizers, learning rates and clipping.

The optimizers are Adadelta as in Bahdanau et al., SGD as in Sutskever et al., and Adam for small experiments.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.settings.training import Training

OPTIMIZER_PREFIX = "optimizer/"
"""Checkpoints store the optimizer's tensors under names with this prefix: `optimizer/<weight>/<quantity>`."""


class Optimizer(ABC):
    """An optimizer of weights, with one learning rate for all of them.

    It is not PyTorch's class, which imports torch.compile when it is created. That would cost every training seconds.

    state: the tensors that the optimizer keeps for each weight, by name; empty before the first step.
    """

    def __init__(self, weights: Iterable[Tensor], learning_rate: float) -> None:
        self.weights, self.learning_rate = list(weights), learning_rate
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for weight in self.weights:
            weight.grad = None

    @abstractmethod
    def step(self, scale: Tensor) -> None:
        """Make one update by the gradients, multiplied by `scale`, a scalar."""

    def _get_state(self, weight: Tensor, *names: str) -> dict[str, Any]:
        """Return the state of a weight. The named quantities have its shape and begin at 0."""
        state = self.state[weight]
        for name in names:
            if name not in state:
                state[name] = torch.zeros_like(weight)
        return state


def make_optimizer(model: nn.Module, training: Training, fuse: bool) -> Optimizer:
    """Return the optimizer that the settings name. With `fuse`, Adadelta's step is compiled (see `Backend`)."""
    weights, learning_rate = model.parameters(), training.learning_rate
    if training.optimizer == "adadelta":
        return Adadelta(weights, learning_rate, training.rho, training.epsilon, fuse)
    if training.optimizer == "sgd":
        return SGD(weights, learning_rate)
    return Adam(weights, learning_rate, training.epsilon)


def schedule_learning_rate(training: Training, epoch: float) -> float:
    """Return the learning rate after a number of epochs.

    It is multiplied by `decay_factor` at `decay_from_epoch`, and again after each further `decay_every_epochs`. In
    Sutskever et al. (2014, Sec. 3.4), it is halved after 5 epochs, and then every half epoch.
    """
    if training.decay_from_epoch is None or epoch < training.decay_from_epoch:
        return training.learning_rate
    decay_count = 1 + math.floor((epoch - training.decay_from_epoch) / training.decay_every_epochs)
    return training.learning_rate * training.decay_factor**decay_count


def measure_gradient(weights: Iterable[Tensor], max_norm: float) -> tuple[Tensor, Tensor]:
    """Return the L2 norm of the gradient, and the scale by which clipping multiplies it (Pascanu et al., 2013).

    Both are scalars. A norm above `max_norm` is scaled down to `max_norm`. The scale is 1 for other gradients, also if
    they are not finite. Sparse gradients are coalesced.
    """
    norms = torch._foreach_norm(list_gradients(weights))
    norm: Tensor = torch.linalg.vector_norm(torch.stack(norms))
    scale = (max_norm / norm).clamp(max=1.0)
    return norm, torch.where(norm.isfinite(), scale, 1.0)


def list_gradients(weights: Iterable[Tensor]) -> list[Tensor]:
    """Return the gradient of each weight that has one. Of a sparse gradient, return only its rows, coalesced."""
    gradients = []
    for weight in weights:
        if weight.grad is None:
            continue
        if weight.grad.is_sparse:
            weight.grad = weight.grad.coalesce()
            gradients.append(weight.grad.values())
        else:
            gradients.append(weight.grad)
    return gradients


def make_gradients_dense(weights: Iterable[Tensor]) -> None:
    """Make sparse gradients dense, for an optimizer that accepts no sparse ones."""
    for weight in weights:
        if weight.grad is not None and weight.grad.is_sparse:
            weight.grad = weight.grad.to_dense()


@torch.no_grad()
def replace_nonfinite_gradients(weights: Iterable[Tensor], norm: Tensor) -> None:
    """If the norm of all gradients is not finite, replace each by 0.1 times its weights, as the paper's authors did."""
    if norm.is_cuda:
        # Compute the result in any case: to ask whether the norm is finite would mean to wait for the GPU.
        for weight in weights:
            if weight.grad is not None:
                weight.grad.copy_(torch.where(norm.isfinite(), weight.grad, 0.1 * weight))
    elif not norm.isfinite():
        for weight in weights:
            weight.grad = 0.1 * weight.detach()


def collect_optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state by name: `optimizer/<weight>/<quantity>`."""
    tensors = {}
    for name, weight in model.named_parameters():
        for quantity, tensor in optimizer.state[weight].items():
            tensors[f"{OPTIMIZER_PREFIX}{name}/{quantity}"] = tensor
    return tensors


def restore_optimizer(model: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the state that `collect_optimizer_tensors` returned. Tensors of other names are ignored."""
    weights = dict(model.named_parameters())
    for name, tensor in tensors.items():
        if name.startswith(OPTIMIZER_PREFIX):
            weight_name, quantity = name.removeprefix(OPTIMIZER_PREFIX).rsplit("/", 1)
            weight = weights[weight_name]
            optimizer.state[weight][quantity] = tensor.to(weight.device, copy=True)


# --- SGD and Adam -----------------------------------------------------------------------------------------------------


class SGD(Optimizer):
    """Stochastic gradient descent without momentum (Sutskever et al. 2014, Sec. 3.4)."""

    @torch.no_grad()
    def step(self, scale: Tensor) -> None:
        """See `Optimizer.step`."""
        weights_with_gradient, gradients = scale_gradients(self.weights, scale)
        torch._foreach_add_(weights_with_gradient, gradients, alpha=-self.learning_rate)


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015) with its decays of 0.9 and 0.999, computed by PyTorch's kernel."""

    def __init__(self, weights: Iterable[Tensor], learning_rate: float, epsilon: float) -> None:
        super().__init__(weights, learning_rate)
        self.epsilon = epsilon

    @torch.no_grad()
    def step(self, scale: Tensor) -> None:
        """See `Optimizer.step`."""
        weights_with_gradient, gradients = scale_gradients(self.weights, scale)
        averages, square_averages, step_counts = [], [], []
        for weight in weights_with_gradient:
            state = self._get_state(weight, "exp_avg", "exp_avg_sq")
            state.setdefault("step", torch.zeros((), device=weight.device))
            averages.append(state["exp_avg"])
            square_averages.append(state["exp_avg_sq"])
            step_counts.append(state["step"])

        torch._foreach_add_(step_counts, 1)
        torch._fused_adam_(
            weights_with_gradient,
            gradients,
            averages,
            square_averages,
            [],  # the largest square averages, which only amsgrad needs
            step_counts,
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=self.epsilon,
            amsgrad=False,
            maximize=False,
        )


def scale_gradients(weights: Iterable[Tensor], scale: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Multiply the gradients by `scale` in place. Return the weights that have a gradient, and their gradients."""
    weights_with_gradient = [weight for weight in weights if weight.grad is not None]
    for gradient in list_gradients(weights_with_gradient):
        gradient.mul_(scale)
    return weights_with_gradient, [weight.grad for weight in weights_with_gradient if weight.grad is not None]


# --- Adadelta ---------------------------------------------------------------------------------------------------------

AVERAGES = ("square_average", "step_average")
"""Names of E[g^2] and E[step^2] in the state of a weight."""
WEIGHTS_PER_BLOCK = 1 << 18
"""Weights that a CPU updates together: few enough for its cache, enough to share among threads."""


class Adadelta(Optimizer):
    """Adadelta (Zeiler, 2012) as the paper uses it (App. B.2), in one pass over the memory.

        E[g^2]  <- rho E[g^2] + (1 - rho) g^2
        step     = sqrt(E[step^2] + eps) / sqrt(E[g^2] + eps) g
        E[step^2] <- rho E[step^2] + (1 - rho) step^2
        weight  <- weight - learning_rate step

    Both averages start at 0 and epsilon is inside both roots, as in the authors' code and in PyTorch's Adadelta.
    PyTorch makes a dozen passes over all weights. This code makes one: all four equations are computed for a block of
    weights while it is in the CPU's cache.

    Rows that are absent from a sparse gradient have gradient 0: their weights do not change, and their averages only
    decay. The decay is applied when the row is next used.

    The state of a weight is `square_average` E[g^2] and `step_average` E[step^2], of its shape. If a weight (V, M) has
    sparse gradients, its state also has `updates`, the number of updates, and `current`, (V,), the number of updates
    that the averages of each row include.
    """

    def __init__(
        self,
        weights: Iterable[Tensor],
        learning_rate: float,
        rho: float,
        epsilon: float,
        fuse: bool,
    ) -> None:
        """Take the settings. fuse: whether gradients that are not sparse are applied by `nmt.backend.compiled`."""
        super().__init__(weights, learning_rate)
        self.rho, self.epsilon, self.fuse = rho, epsilon, fuse

    @torch.no_grad()
    def step(self, scale: Tensor) -> None:
        """See `Optimizer.step`."""
        for weight in self.weights:
            if weight.grad is None:
                continue
            state = self._get_state(weight, *AVERAGES)
            if weight.grad.is_sparse:
                self._step_rows(weight, weight.grad.coalesce(), state, scale)
            else:
                self._step_dense(weight, weight.grad, state, scale)

    def _step_dense(self, weight: Tensor, gradient: Tensor, state: dict[str, Any], scale: Tensor) -> None:
        """Update a weight by a gradient that is not sparse; for `scale`, see `Optimizer.step`."""
        # After sparse updates, the averages of row r include only the first `current[r]` of all updates. Apply the
        # decay of the others.
        if "current" in state:
            decay_averages(state, slice(None), int(state["updates"]), self.rho)
            del state["current"], state["updates"]
        self._apply(weight, gradient, state, scale, self.fuse)

    def _step_rows(self, weight: Tensor, gradient: Tensor, state: dict[str, Any], scale: Tensor) -> None:
        """Update the rows that a sparse gradient (V, M) of R rows contains; for `scale`, see `Optimizer.step`."""
        # `updates` counts the updates of the weight, and `current` those that the averages of each row include.
        if "current" not in state:
            state["updates"] = torch.zeros((), dtype=torch.int64)
            state["current"] = torch.zeros(len(weight), dtype=torch.int64)

        # 1. apply the decay of the updates in which the rows were absent
        rows = gradient.indices()[0]  # (R,)
        decay_averages(state, rows, int(state["updates"]), self.rho)
        state["updates"] += 1
        state["current"][rows] = state["updates"]

        # 2. update copies of the rows, (R, M) each, and write them back
        row_weights = weight[rows]
        row_averages = {name: state[name][rows] for name in AVERAGES}
        self._apply(row_weights, gradient.values(), row_averages, scale, fuse=False)
        weight[rows] = row_weights
        for name, average in row_averages.items():
            state[name][rows] = average

    def _apply(
        self,
        weight: Tensor,
        gradient: Tensor,
        averages: Mapping[str, Tensor],
        scale: Tensor,
        fuse: bool,
    ) -> None:
        """Update a weight and its averages in place, by the four equations of the class. All tensors have one shape.

        averages: the two tensors of `AVERAGES` by name. fuse: whether compiled code is used.
        """
        weight, gradient = weight.view(-1), gradient.contiguous().view(-1)
        square_average = averages["square_average"].view(-1)
        step_average = averages["step_average"].view(-1)
        # a tensor, since torch.compile would compile the code again for each number
        rate = weight.new_full((), self.learning_rate)
        # without compiled code, a CPU keeps the intermediate results of a block in its cache
        block_size = weight.numel() if weight.is_cuda or fuse else WEIGHTS_PER_BLOCK
        for start in range(0, weight.numel(), block_size):
            block = slice(start, start + block_size)
            apply_adadelta(
                weight=weight[block],
                gradient=gradient[block],
                square_average=square_average[block],
                step_average=step_average[block],
                rate=rate,
                rho=self.rho,
                epsilon=self.epsilon,
                scale=scale,
                fuse=fuse,
            )


def decay_averages(state: dict[str, Any], rows: Tensor | slice, update_count: int, rho: float) -> None:
    """Decay the averages of some rows once for each of the first `update_count` updates in which the row was absent."""
    absences = (update_count - state["current"][rows]).unsqueeze(1)  # (R, 1)
    factors = torch.full_like(absences, rho, dtype=torch.float64).pow(absences)
    factors = factors.to(state["square_average"].dtype)
    for name in AVERAGES:
        state[name][rows] = state[name][rows] * factors


# The length of the tensors, their dimension 0, differs from weight to weight.
@fusible(dynamic_dims={"weight": 0, "gradient": 0, "square_average": 0, "step_average": 0})
def apply_adadelta(
    weight: Tensor, gradient: Tensor, square_average: Tensor, step_average: Tensor, rate: Tensor, rho: float,
    epsilon: float, scale: Tensor,
) -> None:  # fmt: skip
    """Update flat tensors in place by the equations of the class `Adadelta`.

    square_average, step_average: E[g^2] and E[step^2]. rate: the learning rate, a scalar. scale: see `Optimizer.step`.
    """
    gradient = gradient * scale
    square_average.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    step = torch.add(step_average, epsilon).div_(square_average + epsilon).sqrt_().mul_(gradient)
    step_average.mul_(rho).addcmul_(step, step, value=1 - rho)
    weight.addcmul_(step, rate, value=-1)
