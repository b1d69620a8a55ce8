"""The initial values of the weights. Each family chooses the initializer of its weights in `start_value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Generator, Tensor, nn

if TYPE_CHECKING:
    from nmt.model.encoder_decoder import EncoderDecoder

Initializer = Callable[[Tensor, Generator], object]
"""A function that fills a weight in place."""


def initialize(model: EncoderDecoder, seed: int) -> None:
    """Draw all weights in the order of their definition, so that a seed gives the same model on every machine."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            model.start_value(name)(weight, generator)


def zero(weight: Tensor, generator: Generator) -> None:
    """Fill with 0, without drawing random numbers."""
    weight.zero_()


def normal(std: float) -> Initializer:
    """Draw from N(0, std^2)."""
    return lambda weight, generator: weight.normal_(0.0, std, generator=generator)


def uniform(limit: float) -> Initializer:
    """Draw uniformly between -limit and limit."""
    return lambda weight, generator: weight.uniform_(-limit, limit, generator=generator)


def orthogonal(weight: Tensor, generator: Generator) -> None:
    """Draw a random orthogonal matrix (N, N), uniformly over the orthogonal group."""
    nn.init.orthogonal_(weight, generator=generator)


def orthogonal_times(scale: float) -> Initializer:
    """Draw a random orthogonal matrix (N, N) times a number, which is the absolute value of all its eigenvalues."""

    def start(weight: Tensor, generator: Generator) -> None:
        orthogonal(weight, generator)
        weight.mul_(scale)

    return start
