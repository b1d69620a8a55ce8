"""The machine's rate: products by the library that training takes, with the contenders' threads and precision.

`Square` is the limit that shares refer to. The other two have an update's own shapes, to say what it loses: the
output layer's product over all positions at once, and a step's product, which has only as many rows as sentences.
"""

from __future__ import annotations

import torch

from benchmarks.training import precision
from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.model import cpu_products


class Product:
    """(rows, inner) times (inner, columns); an `update` makes it `repeat` times."""

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
        """The words do not matter."""

    def update(self, batch: None) -> float:
        """The products; a 0 in place of an NLL."""
        for _ in range(self.repeat):
            torch.mm(self.left, self.right, out=self.result)
        return 0.0


class Square(Product):
    """A large square product: the rate that shares refer to."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.square, sizes.square, sizes.square, 1, machine)


class Output(Product):
    """The output layer's: all positions of a batch, l to V."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.positions, sizes.maxout, sizes.vocabulary, 1, machine)


class Step(Product):
    """A step's: one row per sentence, n to 3n (W_a s_{i-1} with both gates' recurrent products)."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes.batch, sizes.hidden, 3 * sizes.hidden, 50, machine)
