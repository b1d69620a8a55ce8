"""Multiply-adds of each architecture, counted from its sizes.

Letters: n hidden units, m embedding size, l maxout units, V vocabulary size, S source positions. Only products with
weights and the attention's products count. Element-wise operations, softmax, embeddings and the optimizer do not.

The backward pass costs twice the forward pass: one product for the inputs, one for the weights. So an update costs
three times the numbers here. A multiply-add is two floating-point operations.

All positions count equally. Some products at a sentence's edges are not necessary: those of the first steps with a zero
state, and with `step_order: groundhog` the last state, on which no word depends. They are 1.4% at 30 positions. A
product that is the same for all words counts once per sentence, even if an implementation repeats it at every position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.training.sizes import Sizes

FORWARD_AND_BACK = 3
OPERATIONS = 2


@dataclass(frozen=True)
class Arithmetic:
    """Holds the multiply-adds of a forward pass.

    encoder: for each source position. keys: for each source position, by the attention. recurrence, readout, output:
    for each target position. attention: for each pair of a target and a source position (energies and weighted sum).
    sentence: once per sentence (the first state, and products with a fixed context).
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
        """Return the sum for one source and one target position, without what grows with the other side's length."""
        return self.encoder + self.keys + self.recurrence + self.readout + self.output

    def update(self, sizes: Sizes) -> int:
        """Return the multiply-adds of an update, forward and back."""
        positions = sizes.positions * (self.position + self.attention * sizes.length)
        return FORWARD_AND_BACK * (positions + sizes.batch * self.sentence)

    def gflop(self, sizes: Sizes) -> float:
        """Return the floating-point operations of an update, in 10^9."""
        return OPERATIONS * self.update(sizes) / 1e9


def rnnsearch(sizes: Sizes) -> Arithmetic:
    """Count RNNsearch (App. A.1.2, A.2): two units read, one writes. Contexts have 2n values, the alignment n units."""
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
    """Count RNNencdec: one unit reads, one writes. The products with its fixed context are the same for all words."""
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
    """Count grConv (Cho et al., 2014b) with 2n units: the S (S - 1) / 2 nodes of its tree, and RNNencdec's decoder.

    A node has two products and those of its gates. Each source position gets (S - 1) / 2 nodes.
    """
    twice = replace(sizes, hidden=2 * sizes.hidden, maxout=2 * sizes.maxout)
    n, nodes = twice.hidden, (sizes.length - 1) / 2
    tree = sizes.embedding * n + round(nodes * (2 * n * n + 2 * 3 * n))
    return replace(rnnencdec(twice), encoder=tree)


def sockeye(sizes: Sizes) -> Arithmetic:
    """Count Sockeye's model: n/2 units per direction, input feeding, attention vector of n units, n to V."""
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
    """Count Marian's amun: two GRUs per target word, attention of 2n units between them, tanh layer of m units."""
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
    """Count JoeyNMT's model: input feeding (m + n values), attention vector of n units, n to V."""
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
