"""Optimizers, learning rates and clipping.

The optimizers are Adadelta as in Bahdanau et al., SGD as in Sutskever et al., and Adam for small experiments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.settings.training import Training
from nmt.training.adadelta import Adadelta

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
    """Restore the state that `optimizer_tensors` returned. Raise a UserError if it belongs to another model."""
    found: dict[str, dict[str, Tensor]] = {}
    for path, value in tensors.items():
        if path.startswith(PREFIX):
            name, key = path.removeprefix(PREFIX).rsplit("/", 1)
            found.setdefault(name, {})[key] = value
    weights = dict(model.named_parameters())
    if found and found.keys() != weights.keys():
        other = sorted(found.keys() ^ weights.keys())[0]
        raise UserError(f"the training state does not fit the model: only one of them has {other!r}")
    for name, state in found.items():
        optimizer.state[weights[name]] = {
            key: value.to(weights[name].device, copy=True) for key, value in state.items()
        }
