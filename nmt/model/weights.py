"""Weights of the models, and their initializers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

Initializer = Callable[[Tensor, Generator], object]
"""A function that fills a weight in place."""


def create_weight(*sizes: int) -> nn.Parameter:
    """Return a matrix (inputs, outputs) or a vector, which `EncoderDecoder.initialize_weights` fills later."""
    return nn.Parameter(torch.empty(sizes))


def zero(weight: Tensor, generator: Generator) -> None:
    """Fill a weight with 0, without drawing random numbers."""
    weight.zero_()


def normal(std: float) -> Initializer:
    """Return an initializer that draws from N(0, std^2)."""
    return lambda weight, generator: weight.normal_(0.0, std, generator=generator)


def uniform(limit: float) -> Initializer:
    """Return an initializer that draws uniformly between -limit and limit."""
    return lambda weight, generator: weight.uniform_(-limit, limit, generator=generator)


def orthogonal(scale: float = 1.0) -> Initializer:
    """Return an initializer that draws an orthogonal matrix uniformly over the orthogonal group, times `scale`."""
    return lambda weight, generator: nn.init.orthogonal_(weight, scale, generator)
