"""The start values of the weights (paper, App. B.1)."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from nmt.config.schema import Architecture

RECURRENT = re.compile(r"\.(U|U_z|U_r)$")
ALIGNMENT = re.compile(r"\.(W_a|U_a)$")
ZERO = re.compile(r"\.(v_a|b|b_\w+)$")


def initialize(model: nn.Module, architecture: Architecture, seed: int) -> None:
    """Draw all weights in the order of their names, so that a seed gives one model on every machine.

    Recurrent U, U_z, U_r: random orthogonal. W_a, U_a: N(0, 0.001^2). v_a and all biases: 0. Everything else:
    N(0, 0.01^2). The two deviations are config keys.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            start_value(name, architecture)(weight, generator)


def start_value(name: str, architecture: Architecture) -> Callable[[Tensor, Generator], object]:
    """How the weight of this dotted name starts."""
    if RECURRENT.search(name):
        return orthogonal
    if ZERO.search(name):
        return lambda weight, _: weight.zero_()
    std = architecture.alignment_init_std if ALIGNMENT.search(name) else architecture.init_std
    return lambda weight, generator: weight.normal_(0.0, std, generator=generator)


def orthogonal(weight: Tensor, generator: Generator) -> None:
    """A random orthogonal matrix (N, N), uniform over the orthogonal group."""
    nn.init.orthogonal_(weight, generator=generator)
