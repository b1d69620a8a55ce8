"""The start values of the weights. Which weight starts how is a family's to say: see its `start_value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Generator, Tensor, nn

if TYPE_CHECKING:
    from nmt.model.encoder_decoder import EncoderDecoder

Start = Callable[[Tensor, Generator], object]
"""Fills a weight."""


def initialize(model: EncoderDecoder, seed: int) -> None:
    """Draw all weights in the order of their names, so that a seed gives one model on every machine."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            model.start_value(name)(weight, generator)


def zero(weight: Tensor, generator: Generator) -> None:
    """All 0; draws nothing."""
    weight.zero_()


def normal(std: float) -> Start:
    """N(0, std^2)."""
    return lambda weight, generator: weight.normal_(0.0, std, generator=generator)


def uniform(limit: float) -> Start:
    """Uniform between -limit and limit."""
    return lambda weight, generator: weight.uniform_(-limit, limit, generator=generator)


def orthogonal(weight: Tensor, generator: Generator) -> None:
    """A random orthogonal matrix (N, N), uniform over the orthogonal group."""
    nn.init.orthogonal_(weight, generator=generator)


def orthogonal_times(scale: float) -> Start:
    """A random orthogonal matrix (N, N) times a number, which is then the absolute value of all its eigenvalues."""

    def start(weight: Tensor, generator: Generator) -> None:
        orthogonal(weight, generator)
        weight.mul_(scale)

    return start
