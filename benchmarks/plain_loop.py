"""RNNsearch step by step under autograd: what a textbook implementation of the paper's equations looks like.

Every product that the equations write for a step is made in that step, one weight after the other; only the keys
U_a h_j are made once, since the paper itself says so (App. A.1.2). There is no padding: sentences of a batch have one
length. `step_order: groundhog` and `output_layer: direct`, as `config.yaml` has them.

Weights come by the names that `EncoderDecoder` gives them. Shapes: B sentences, S source length,
T target length, N hidden units, M embedding size, C annotation size (2N), V vocabulary size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class Step:
    """State before (B, N), context (B, C) and state after (B, N) of one target position."""

    before: Tensor
    context: Tensor
    after: Tensor


def total_nll(weights: Weights, source: Tensor, target: Tensor) -> Tensor:
    """-log p of all target words in nats, a scalar; words (S, B) and (T, B) with their end symbols."""
    embedded = embed(weights, "target_embedding", target)
    previous = torch.zeros_like(embedded[0])
    logits = []
    for word, step in zip(
        embedded, steps(weights, embed(weights, "source_embedding", source), embedded), strict=True
    ):
        logits.append(readout(weights, step.before, previous, step.context))
        previous = word
    return torch.nn.functional.cross_entropy(torch.cat(logits), target.flatten(), reduction="sum")


def embed(weights: Weights, name: str, words: Tensor) -> Tensor:
    """E x + b, (..., M)."""
    return torch.nn.functional.embedding(words, weights[f"{name}.E"]) + weights[f"{name}.b"]


def steps(weights: Weights, source: Tensor, target: Tensor) -> Iterator[Step]:
    """The steps of the decoder on embedded words (S, B, M) and (T, B, M)."""
    forwards = read(weights, "encoder.forwards", list(source))
    backwards = read(weights, "encoder.backwards", list(source.flip(0)))[::-1]
    pairs = zip(forwards, backwards, strict=True)
    annotations = torch.stack([torch.cat(pair, dim=1) for pair in pairs], dim=1)
    keys = annotations @ weights["decoder.alignment.U_a"]
    state = torch.tanh(backwards[0] @ weights["decoder.W_s"] + weights["decoder.b_s"])
    for word in target:
        context = attend(weights, state, annotations, keys)
        after = update(weights, "decoder.unit", word, state, context)
        yield Step(state, context, after)
        state = after


def read(weights: Weights, unit: str, words: list[Tensor]) -> list[Tensor]:
    """States (B, N) of one direction of the encoder, from a zero state."""
    state = words[0].new_zeros(len(words[0]), len(weights[f"{unit}.b"]))
    states = []
    for word in words:
        state = update(weights, unit, word, state)
        states.append(state)
    return states


def update(weights: Weights, unit: str, word: Tensor, state: Tensor, context: Tensor | None = None) -> Tensor:
    """The gated unit of App. A.1.1 (without a context) and A.2.2 (with one): the next state (B, N)."""

    def part(suffix: str, recurrent: Tensor) -> Tensor:
        total = word @ weights[f"{unit}.W{suffix}"] + recurrent @ weights[f"{unit}.U{suffix}"]
        return total if context is None else total + context @ weights[f"{unit}.C{suffix}"]

    z = torch.sigmoid(part("_z", state))
    r = torch.sigmoid(part("_r", state))
    candidate = torch.tanh(part("", r * state) + weights[f"{unit}.b"])
    return (1 - z) * state + z * candidate


def attend(weights: Weights, state: Tensor, annotations: Tensor, keys: Tensor) -> Tensor:
    """c_i, (B, C): Eqs. 5 and 6 with the alignment model of App. A.1.2."""
    query = (state @ weights["decoder.alignment.W_a"]).unsqueeze(1)
    energies = torch.tanh(query + keys) @ weights["decoder.alignment.v_a"]
    return (energies.softmax(dim=1).unsqueeze(1) @ annotations).squeeze(1)


def readout(weights: Weights, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
    """Logits (B, V): the deep output with a maxout layer of App. A.2.2."""
    deep = (
        state @ weights["readout.U_o"]
        + previous @ weights["readout.V_o"]
        + context @ weights["readout.C_o"]
        + weights["readout.b_t"]
    )
    maxout = deep.view(len(deep), -1, 2).amax(dim=2)
    return maxout @ weights["readout.W_o"] + weights["readout.b_o"]
