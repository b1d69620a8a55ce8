"""What every contender is given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """One size of the contest.

    length: positions of each source and of each target sentence, the last of which is the end symbol, so that a
    sentence has length - 1 words. A contender reads exactly batch x length source positions and predicts exactly
    batch x length target positions. vocabulary: ids on each side, special symbols included. square: rows and columns
    of the product that gives the machine's rate. Letters as in the paper: n, m, l; the alignment model has n units.
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
        """Positions of one side of a batch."""
        return self.batch * self.length

    @property
    def words(self) -> int:
        """Words of one side of a batch, end symbols not counted: what `history.jsonl` counts."""
        return self.batch * (self.length - 1)


@dataclass(frozen=True)
class Machine:
    """What a contender runs on, and the precision of its matrix products (`training.precision` in `config.yaml`)."""

    device: str = "cpu"
    threads: int = 2
    precision: str = "fp32"
