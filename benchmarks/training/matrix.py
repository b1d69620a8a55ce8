"""The machine's rate of matrix products, by the library of training, with the contenders' threads and precision.

`Square` is the limit to which shares refer. The other two have shapes of an update, and show how much slower these are:
the output layer's product for all positions, and the product of one step, which has only one row per sentence.
"""

from __future__ import annotations

import torch

from benchmarks.training import precision
from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.model import cpu_products


class Product:
    """Multiplies (rows, inner) by (inner, columns). An `update` does it `repeat` times."""

    parameters = 0

    def __init__(self, rows: int, inner: int, columns: int, repeat: int, machine: Machine) -> None:
        torch.set_num_threads(machine.threads)
        cpu_products.use(cpu_products.choose())
        precision.choose(machine)
        device, kind = torch.device(machine.device), precision.factor_type(machine)
        self.left = torch.randn(rows, inner, device=device, dtype=kind)
        self.right = torch.randn(inner, columns, device=device, dtype=kind)
        self.result = torch.empty(rows, columns, device=device, dtype=kind)
        self.shape, self.repeat = (rows, inner, columns), repeat
        self.multiply_adds = rows * inner * columns * repeat

    def batch(self, source: Words, target: Words) -> None:
        """Return None, since products need no words."""

    def update(self, batch: None) -> float:
        """Compute the products. Return 0 instead of an NLL."""
        for _ in range(self.repeat):
            torch.mm(self.left, self.right, out=self.result)
        return 0.0


class Square(Product):
    """Computes a large square product, whose rate is 100% for all shares."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.square, sizes.square, sizes.square, 1, machine)


class Output(Product):
    """Computes the output layer's product for all positions of a batch, from l to V."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.positions, sizes.maxout, sizes.vocabulary, 1, machine)


class Step(Product):
    """Computes the product of one step: a row per sentence, from n to 3n (W_a s_{i-1} and both gates)."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.batch, sizes.hidden, 3 * sizes.hidden, 50, machine)
