"""Multiply-adds of each architecture, counted from its sizes: the one place where they are counted.

Only products with weights and the attention's products count; element-wise work, softmax, embeddings (a look-up) and
the optimizer do not. n hidden units, m embedding size, l maxout units, V vocabulary size, S source positions.

A gradient pass costs twice the forward pass (one product for the inputs, one for the weights), so an update costs
three times what is counted here, and a multiply-add is two floating-point operations.

Every position is counted as a full one. What could be left out at a sentence's edges (the first steps' products with
a zero state, the last state of `step_order: groundhog`, which no word depends on) is 1.4% at 30 positions.
What does not change from word to word counts once per sentence, though an implementation may make it at every position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.training.sizes import Sizes

FORWARD_AND_BACK = 3
OPERATIONS = 2


@dataclass(frozen=True)
class Arithmetic:
    """Multiply-adds of a forward pass.

    encoder: a source position; keys: a source position, the attention's share of it; recurrence, readout, output: a
    target position; attention: a target position and source position (energies and weighted sum); sentence: once a
    sentence (the first state, and what a fixed context needs).
    """

    encoder: int
    keys: int
    recurrence: int
    readout: int
    output: int
    attention: int
    sentence: int

    @property
    def position(self) -> int:
        """One source and one target position, without what grows with the other side's length."""
        return self.encoder + self.keys + self.recurrence + self.readout + self.output

    def update(self, sizes: Sizes) -> int:
        """All of an update, forward and back."""
        positions = sizes.positions * (self.position + self.attention * sizes.length)
        return FORWARD_AND_BACK * (positions + sizes.batch * self.sentence)

    def gflop(self, sizes: Sizes) -> float:
        """Billions of floating-point operations of an update."""
        return OPERATIONS * self.update(sizes) / 1e9


def rnnsearch(sizes: Sizes) -> Arithmetic:
    """App. A.1.2, A.2: two units read, one writes from 2n-wide contexts, alignment of n units, maxout readout."""
    n, m, maxout = sizes.hidden, sizes.embedding, sizes.maxout
    return Arithmetic(
        encoder=2 * (3 * m * n + 3 * n * n),
        keys=2 * n * n,  # U_a
        recurrence=3 * m * n + 3 * n * n + 3 * 2 * n * n + n * n,  # W, U, C of gates and candidate; W_a
        readout=(n + m + 2 * n) * 2 * maxout,  # U_o, V_o, C_o
        output=maxout * sizes.vocabulary,
        attention=n + 2 * n,  # v_a; the weighted sum
        sentence=n * n,  # W_s
    )


def rnnencdec(sizes: Sizes) -> Arithmetic:
    """One unit reads, one writes from the fixed context: its products C c and C_o c are the same at every word."""
    n, m, maxout = sizes.hidden, sizes.embedding, sizes.maxout
    return Arithmetic(
        encoder=3 * m * n + 3 * n * n,
        keys=0,
        recurrence=3 * m * n + 3 * n * n,
        readout=(n + m) * 2 * maxout,
        output=maxout * sizes.vocabulary,
        attention=0,
        sentence=n * n + 3 * n * n + n * 2 * maxout,
    )


def grconv(sizes: Sizes) -> Arithmetic:
    """Cho et al. (2014b), with 2n units: two products and the gates' for each of S (S - 1) / 2 nodes of the tree.

    They are counted by source position, of which each has (S - 1) / 2 nodes; the decoder is RNNencdec's with 2n units.
    """
    twice = replace(sizes, hidden=2 * sizes.hidden, maxout=2 * sizes.maxout)
    n, nodes = twice.hidden, (sizes.length - 1) / 2
    tree = sizes.embedding * n + round(nodes * (2 * n * n + 2 * 3 * n))
    return replace(rnnencdec(twice), encoder=tree)


def sockeye(sizes: Sizes) -> Arithmetic:
    """Sockeye's: n/2 units a direction, input feeding, an attention vector of n units, n to V."""
    n, m, half = sizes.hidden, sizes.embedding, sizes.hidden // 2
    return Arithmetic(
        encoder=2 * (3 * m * half + 3 * half * half),
        keys=n * n,
        recurrence=3 * (m + n) * n + 3 * n * n + n * n,
        readout=(n + n) * n,
        output=n * sizes.vocabulary,
        attention=n + n,
        sentence=n * n,
    )


def marian(sizes: Sizes) -> Arithmetic:
    """Marian's amun: two GRUs a target word with the attention, of 2n units, between them; a tanh layer of m units."""
    n, m = sizes.hidden, sizes.embedding
    return Arithmetic(
        encoder=2 * (3 * m * n + 3 * n * n),
        keys=2 * n * 2 * n,
        recurrence=3 * m * n + 3 * n * n + n * 2 * n + 3 * n * n + 3 * 2 * n * n,
        readout=(m + n + 2 * n) * m,
        output=m * sizes.vocabulary,
        attention=2 * n + 2 * n,
        sentence=2 * n * n,
    )


def joeynmt(sizes: Sizes) -> Arithmetic:
    """JoeyNMT's: input feeding (m + n wide), an attention vector of n units instead of a maxout layer, then n to V."""
    n, m = sizes.hidden, sizes.embedding
    return Arithmetic(
        encoder=2 * (3 * m * n + 3 * n * n),
        keys=2 * n * n,  # key_layer
        recurrence=3 * (m + n) * n + 3 * n * n + n * n,  # GRU; query_layer
        readout=(n + 2 * n) * n,  # att_vector_layer
        output=n * sizes.vocabulary,
        attention=n + 2 * n,  # energy_layer; the weighted sum
        sentence=2 * n * n,  # bridge_layer
    )
