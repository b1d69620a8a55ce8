"""The sizes and the machine that every contender is given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Holds the sizes of the contest.

    length: positions of each source and target sentence. The last is the end symbol, so length - 1 of them are words. A
    contender reads exactly batch x length source positions, and predicts as many target positions. hidden, embedding,
    maxout: n, m and l of the paper. The alignment model has n units. vocabulary: ids on each side, special symbols
    included. square: rows and columns of the product that gives the machine's rate.
    """

    length: int
    batch: int = 80
    hidden: int = 1000
    embedding: int = 620
    maxout: int = 500
    vocabulary: int = 30_000
    square: int = 4096

    @property
    def positions(self) -> int:
        """Return the number of positions on one side of a batch."""
        return self.batch * self.length

    @property
    def words(self) -> int:
        """Return the number of words on one side of a batch, without end symbols, as in `history.jsonl`."""
        return self.batch * (self.length - 1)


@dataclass(frozen=True)
class Machine:
    """Holds a contender's device, threads, and precision of matrix products (`training.precision` in `config.yaml`)."""

    device: str = "cpu"
    threads: int = 2
    precision: str = "fp32"
