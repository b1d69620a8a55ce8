"""The operations between two matrix products of a step, as one kernel each, in Triton (Tillet et al., 2019).

A program, one of a kernel's grid, processes a row (a sentence of a step) or a part of a row. Names of arguments that
end in `_d` and `_b` are strides between directions and sentences; see `nmt.model.fused` for the calls. Values that
follow from the sizes of a model are constants, so that the compiler knows the alignment of rows and can read several
numbers at once. All sums have a fixed order: equal input gives equal bits.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def tanh(x):
    """Compute (1 - e) / (1 + e) with e = exp(-2|x|); near 0, where 1 - e loses digits, the series to x^11."""
    e = tl.exp(-2 * tl.abs(x))
    far = (1 - e) / (1 + e)
    s = x * x
    near = 1 + s * (-1 / 3 + s * (2 / 15 + s * (-17 / 315 + s * (62 / 2835 - s * (1382 / 155925)))))
    return tl.where(s < 0.0625, x * near, tl.where(x < 0, -far, far))


# The gated unit -------------------------------------------------------------------------------------------------------


@triton.jit
def open_gates(
    projected, projected_d, projected_b: tl.constexpr, recurrent, recurrent_d, recurrent_b: tl.constexpr, state,
    state_d, state_b: tl.constexpr, mask, mask_d, gates, gates_d, gates_b: tl.constexpr, reset_state, sentences,
    hidden: tl.constexpr, MASKED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute z and r = sigmoid(projected + recurrent), z times the mask, and r * h."""
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d, b, inside = row // sentences, row % sentences, column < hidden
    given = projected + d * projected_d + b * projected_b + column
    from_state = recurrent + d * recurrent_d + b * recurrent_b + column
    update = tl.sigmoid(tl.load(given, inside, 0.0) + tl.load(from_state, inside, 0.0))
    reset = tl.sigmoid(tl.load(given + hidden, inside, 0.0) + tl.load(from_state + hidden, inside, 0.0))
    if MASKED:
        update *= tl.load(mask + d * mask_d + b)
    out = gates + d * gates_d + b * gates_b + column
    tl.store(out, update, inside)
    tl.store(out + hidden, reset, inside)
    before = tl.load(state + d * state_d + b * state_b + column, inside, 0.0)
    tl.store(reset_state + row * hidden + column, reset * before, inside)


@triton.jit
def new_state(
    product, projected, projected_d, projected_b: tl.constexpr, state, state_d, state_b: tl.constexpr, gates,
    gates_d, gates_b: tl.constexpr, candidate, candidate_d, candidate_b: tl.constexpr, after, after_d,
    after_b: tl.constexpr, sentences, hidden: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the candidate c = tanh(U [r * h] + projected) and the state h + z (c - h)."""
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d, b, inside = row // sentences, row % sentences, column < hidden
    given = tl.load(projected + d * projected_d + b * projected_b + 2 * hidden + column, inside, 0.0)
    new = tanh(tl.load(product + row * hidden + column, inside, 0.0) + given)
    tl.store(candidate + d * candidate_d + b * candidate_b + column, new, inside)
    before = tl.load(state + d * state_d + b * state_b + column, inside, 0.0)
    update = tl.load(gates + d * gates_d + b * gates_b + column, inside, 0.0)
    tl.store(after + d * after_d + b * after_b + column, before + update * (new - before), inside)


@triton.jit
def candidate_gradient(
    grad, grad_d, grad_b: tl.constexpr, gates, gates_d, gates_b: tl.constexpr, candidate, candidate_d,
    candidate_b: tl.constexpr, state, state_d, state_b: tl.constexpr, grad_projected, projected_d,
    projected_b: tl.constexpr, sentences, hidden: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of the pre-activations of candidate and update gate, which need no matrix product."""
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d, b, inside = row // sentences, row % sentences, column < hidden
    g = tl.load(grad + d * grad_d + b * grad_b + column, inside, 0.0)
    z = tl.load(gates + d * gates_d + b * gates_b + column, inside, 0.0)
    c = tl.load(candidate + d * candidate_d + b * candidate_b + column, inside, 0.0)
    h = tl.load(state + d * state_d + b * state_b + column, inside, 0.0)
    out = grad_projected + d * projected_d + b * projected_b + column
    tl.store(out + 2 * hidden, g * z * (1 - c * c), inside)
    tl.store(out, g * (c - h) * z * (1 - z), inside)


@triton.jit
def state_gradient(
    grad, grad_d, grad_b: tl.constexpr, gates, gates_d, gates_b: tl.constexpr, state, state_d,
    state_b: tl.constexpr, grad_reset_state, grad_projected, projected_d, projected_b: tl.constexpr, before,
    sentences, hidden: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of the reset gate's pre-activation and of the state before the step, from that of r * h."""
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d, b, inside = row // sentences, row % sentences, column < hidden
    g = tl.load(grad + d * grad_d + b * grad_b + column, inside, 0.0)
    of_gates = gates + d * gates_d + b * gates_b + column
    z, r = tl.load(of_gates, inside, 0.0), tl.load(of_gates + hidden, inside, 0.0)
    h = tl.load(state + d * state_d + b * state_b + column, inside, 0.0)
    rh = tl.load(grad_reset_state + row * hidden + column, inside, 0.0)
    out = grad_projected + d * projected_d + b * projected_b + hidden + column
    tl.store(out, rh * h * r * (1 - r), inside)
    tl.store(before + row * hidden + column, g - g * z + rh * r, inside)


# The alignment model --------------------------------------------------------------------------------------------------


@triton.jit
def energies(
    keys, query, query_b: tl.constexpr, v_a, padding, energy, length, units: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute e_j = v_a^T tanh(q + k_j) for some source positions of a sentence; -inf on padding."""
    b, j = tl.program_id(0), tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    inside = j < length
    total = tl.zeros((ROWS,), dtype=energy.dtype.element_ty)
    for first in range(0, units, BLOCK):
        unit = first + tl.arange(0, BLOCK)
        used = unit < units
        tile = keys + (b * length + j[:, None]) * units + unit[None, :]
        k = tl.load(tile, inside[:, None] & used[None, :], 0.0)
        q = tl.load(query + b * query_b + unit, used, 0.0)
        v = tl.load(v_a + unit, used, 0.0)
        total += tl.sum(tanh(k + q[None, :]) * v[None, :], axis=1)
    padded = tl.load(padding + b * length + j, inside, True)
    tl.store(energy + b * length + j, tl.where(padded, -float("inf"), total), inside)


@triton.jit
def read_context(
    energy, annotations, weights, context, length, size: tl.constexpr, SENTENCE: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute alpha = softmax(e) and a part of c = sum_j alpha_j h_j."""
    b, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    every = tl.arange(0, SENTENCE)
    e = tl.load(energy + b * length + every, every < length, -float("inf"))
    most = tl.max(e, axis=0)
    total = tl.sum(tl.exp(e - most), axis=0)
    if tl.program_id(1) == 0:
        tl.store(weights + b * length + every, tl.exp(e - most) / total, every < length)
    mixed = tl.zeros((BLOCK,), dtype=context.dtype.element_ty)
    for first in range(0, length, ROWS):
        j = first + tl.arange(0, ROWS)
        alpha = tl.exp(tl.load(energy + b * length + j, j < length, -float("inf")) - most) / total
        tile = annotations + (b * length + j[:, None]) * size + column[None, :]
        h = tl.load(tile, (j < length)[:, None] & (column < size)[None, :], 0.0)
        mixed += tl.sum(alpha[:, None] * h, axis=0)
    tl.store(context + b * size + column, mixed, column < size)


@triton.jit
def weight_gradient(
    annotations, grad_context, grad_weights, length, size: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute dL/d alpha_j = h_j^T dL/dc for some source positions of a sentence."""
    b, j = tl.program_id(0), tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    inside = j < length
    total = tl.zeros((ROWS,), dtype=grad_weights.dtype.element_ty)
    for first in range(0, size, BLOCK):
        column = first + tl.arange(0, BLOCK)
        tile = annotations + (b * length + j[:, None]) * size + column[None, :]
        h = tl.load(tile, inside[:, None] & (column < size)[None, :], 0.0)
        total += tl.sum(h * tl.load(grad_context + b * size + column, column < size, 0.0)[None, :], axis=1)
    tl.store(grad_weights + b * length + j, total, inside)


@triton.jit
def alignment_gradient(
    weights, grad_weights, keys, query, query_b: tl.constexpr, v_a, grad_energy, grad_query,
    grad_query_b: tl.constexpr, grad_keys, grad_v, length, units: tl.constexpr, SENTENCE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute g_j = dL/de_j through the softmax, and the gradients of this step for some alignment units.

    With a = tanh(q + k_j), dL/dq = v_a * sum_j g (1 - a^2). Over the steps, `grad_keys` adds up g (1 - a^2), and
    `grad_v` adds up sum_j g a.
    """
    b, unit = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    used, every = unit < units, tl.arange(0, SENTENCE)
    alpha = tl.load(weights + b * length + every, every < length, 0.0)
    through = tl.load(grad_weights + b * length + every, every < length, 0.0)
    inner = tl.sum(alpha * through, axis=0)
    if tl.program_id(1) == 0:
        tl.store(grad_energy + b * length + every, alpha * (through - inner), every < length)
    q = tl.load(query + b * query_b + unit, used, 0.0)
    of_query = tl.zeros((BLOCK,), dtype=grad_query.dtype.element_ty)
    of_v = tl.zeros((BLOCK,), dtype=grad_query.dtype.element_ty)
    for first in range(0, length, ROWS):
        j = first + tl.arange(0, ROWS)
        at = b * length + j
        g = tl.load(weights + at, j < length, 0.0) * (tl.load(grad_weights + at, j < length, 0.0) - inner)
        tile, inside = at[:, None] * units + unit[None, :], (j < length)[:, None] & used[None, :]
        a = tanh(tl.load(keys + tile, inside, 0.0) + q[None, :])
        share = g[:, None] * (1 - a * a)
        tl.store(grad_keys + tile, tl.load(grad_keys + tile, inside, 0.0) + share, inside)
        of_query += tl.sum(share, axis=0)
        of_v += tl.sum(g[:, None] * a, axis=0)
    tl.store(grad_query + b * grad_query_b + unit, tl.load(v_a + unit, used, 0.0) * of_query, used)
    own = grad_v + b * units + unit
    tl.store(own, tl.load(own, used, 0.0) + of_v, used)


# Cost and optimizer ---------------------------------------------------------------------------------------------------


@triton.jit
def softmax_error(logits, bias, words, mask, cost, vocabulary, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Turn a position's logits without bias into (softmax - one-hot) * mask, and compute -log p(word) * mask."""
    p = tl.program_id(0).to(tl.int64)
    row = logits + p * vocabulary
    most = tl.full((), -float("inf"), dtype=logits.dtype.element_ty)
    total = tl.zeros((), dtype=logits.dtype.element_ty)
    chosen = tl.zeros((), dtype=logits.dtype.element_ty)
    word, counts = tl.load(words + p), 1.0
    for first in range(0, vocabulary, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < vocabulary
        x = tl.load(row + column, inside, -float("inf")) + tl.load(bias + column, inside, 0.0)
        larger = tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(x - larger), axis=0)
        chosen += tl.sum(tl.where(column == word, x, 0.0), axis=0)
        most = larger
    if MASKED:
        counts = tl.load(mask + p)
    tl.store(cost + p, (most + tl.log(total) - chosen) * counts)
    for first in range(0, vocabulary, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < vocabulary
        x = tl.load(row + column, inside, -float("inf")) + tl.load(bias + column, inside, 0.0)
        error = tl.exp(x - most) / total - tl.where(column == word, 1.0, 0.0)
        tl.store(row + column, error * counts, inside)


@triton.jit
def adadelta(
    weight, gradient, squares, steps, scale, count, LEARNING_RATE: tl.constexpr, RHO: tl.constexpr,
    EPSILON: tl.constexpr, SCALED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the four lines of `nmt.training.adadelta` with the gradient times `scale`."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    g = tl.load(gradient + at, inside, 0.0)
    if SCALED:
        g *= tl.load(scale)
    square = tl.load(squares + at, inside, 0.0) * RHO + (1 - RHO) * g * g
    average = tl.load(steps + at, inside, 0.0)
    step = tl.sqrt((average + EPSILON) / (square + EPSILON)) * g
    tl.store(squares + at, square, inside)
    tl.store(steps + at, average * RHO + (1 - RHO) * step * step, inside)
    tl.store(weight + at, tl.load(weight + at, inside, 0.0) - LEARNING_RATE * step, inside)
