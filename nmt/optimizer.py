"""Adadelta as the paper uses it, Adam for the small experiments, and clipping (Sec. 4.2, App. B.2)."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.settings import Training


def make_optimizer(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """The optimizer that the settings name.

    torch's Adadelta has epsilon inside both square roots, as Zeiler (2012) and the authors' code do:
    step = sqrt(E[step^2] + eps) / sqrt(E[g^2] + eps) * g.
    """
    if training.optimizer == "adadelta":
        adadelta: torch.optim.Optimizer = torch.optim.Adadelta(
            model.parameters(), lr=training.learning_rate, rho=training.rho, eps=training.epsilon
        )
        return adadelta
    adam: torch.optim.Optimizer = torch.optim.Adam(
        model.parameters(), lr=training.learning_rate, eps=training.epsilon, fused=True
    )
    return adam


def clip(parameters: Iterable[Tensor], threshold: float) -> Tensor:
    """Scale the gradient to L2 norm `threshold` if it is longer (Pascanu et al. 2013); the norm before, a scalar."""
    gradients = [weight.grad for weight in parameters if weight.grad is not None]
    norm: Tensor = torch.linalg.vector_norm(
        torch.stack([torch.linalg.vector_norm(grad) for grad in gradients])
    )
    scale = (threshold / norm).clamp(max=1.0)
    for grad in gradients:
        grad.mul_(scale)
    return norm


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state by name: `optimizer/<weight>/<quantity>`."""
    tensors = {}
    for name, weight in model.named_parameters():
        for key, value in optimizer.state[weight].items():
            tensors[f"optimizer/{name}/{key}"] = value
    return tensors


def restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave; a UserError says when the state is another optimizer's."""
    names = [name for name, _ in model.named_parameters()]
    keys = sorted({name.rsplit("/", 1)[1] for name in tensors if name.startswith("optimizer/")})
    state = {}
    try:
        for index, name in enumerate(names):
            state[index] = {key: tensors[f"optimizer/{name}/{key}"] for key in keys}
    except KeyError as error:
        raise UserError(
            f"the training state lacks {error}: it belongs to another model or optimizer"
        ) from None
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
