"""The machine's limit: the rate of a large square matrix product with the contenders' threads and precision."""

from __future__ import annotations

import torch

from benchmarks.training import precision
from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.backend.products import Backend, choose_products


class Square:
    """Multiplies two square matrices, by the library that training uses."""

    parameters = 0

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        torch.set_num_threads(machine.threads)
        device, kind = torch.device(machine.device), precision.factor_type(machine)
        Backend(products=choose_products(device)).set_switches()
        precision.choose(machine)
        self.left, self.right = torch.randn(2, sizes.square, sizes.square, device=device).to(kind)
        self.result = torch.empty_like(self.left)

    def batch(self, source: Words, target: Words) -> None:
        """Return None, since products need no words."""

    def update(self, batch: None) -> float:
        """Compute the product. Return 0 instead of an NLL."""
        torch.mm(self.left, self.right, out=self.result)
        return 0.0
