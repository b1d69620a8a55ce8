"""The paper's equations as plain loops in float64, one sentence at a time: what the fast models are held against.

Nothing here is shared with the package but the names of the weights and of the settings. A matrix is used as the
paper writes it, W x, so the package's (inputs, outputs) weights are transposed at the look-up.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.config.schema import Architecture


class Reference:
    """log p(y | x) of one pair, from the weights of a `EncoderDecoder` by name."""

    def __init__(self, weights: dict[str, Tensor], family: str, architecture: Architecture) -> None:
        self.weights, self.family, self.readings = weights, family, architecture

    def times(self, name: str, vector: Tensor) -> Tensor:
        matrix = self.weights[name]
        rows = []
        for column in range(matrix.shape[1]):
            rows.append((matrix[:, column] * vector).sum())
        return torch.stack(rows)

    def embed(self, side: str, word: int) -> Tensor:
        row = self.weights[f"{side}_embedding.E"][word]
        return row + self.weights[f"{side}_embedding.b"] if self.readings.biases == "groundhog" else row

    def unit(self, name: str, word: Tensor, state: Tensor, context: Tensor | None) -> Tensor:
        """App. A.1.1 and A.2.2: z, r, h~ and the new state."""

        def part(suffix: str, recurrent: Tensor, bias: bool) -> Tensor:
            total = self.times(f"{name}.W{suffix}", word) + self.times(f"{name}.U{suffix}", recurrent)
            if context is not None:
                total = total + self.times(f"{name}.C{suffix}", context)
            return total + self.weights[f"{name}.b{suffix}"] if bias else total

        z = 1 / (1 + torch.exp(-part("_z", state, self.readings.biases == "every")))
        r = 1 / (1 + torch.exp(-part("_r", state, self.readings.biases == "every")))
        candidate = torch.tanh(part("", r * state, True))
        return (1 - z) * state + z * candidate

    def read(self, name: str, words: list[int]) -> list[Tensor]:
        state = torch.zeros(self.weights[f"{name}.b"].shape[0], dtype=torch.float64)
        states = []
        for word in words:
            state = self.unit(name, self.embed("source", word), state, None)
            states.append(state)
        return states

    def encode(self, source: list[int]) -> tuple[list[Tensor], Tensor]:
        """Annotations, and the state that s_0 is made of."""
        forwards = self.read("encoder.forwards", source)
        if self.family == "rnnencdec":
            return [forwards[-1]], forwards[-1]
        backwards = self.read("encoder.backwards", source[::-1])[::-1]
        joined = [torch.cat([f, b]) for f, b in zip(forwards, backwards, strict=True)]
        return joined, backwards[0]

    def context(self, state: Tensor, annotations: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Eqs. 5 and 6 with the alignment model of App. A.1.2."""
        if self.family == "rnnencdec":
            return annotations[0], [torch.ones(())]
        energies = []
        for annotation in annotations:
            inner = self.times("decoder.alignment.W_a", state) + self.times(
                "decoder.alignment.U_a", annotation
            )
            if self.readings.biases == "every":
                inner = inner + self.weights["decoder.alignment.b_a"]
            energies.append((self.weights["decoder.alignment.v_a"] * torch.tanh(inner)).sum())
        total = sum(torch.exp(energy) for energy in energies)
        alphas = [torch.exp(energy) / total for energy in energies]
        context = sum(alpha * annotation for alpha, annotation in zip(alphas, annotations, strict=True))
        assert isinstance(context, Tensor)
        return context, alphas

    def distribution(self, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
        """App. A.2.2: the deep output with a maxout layer, then a softmax."""
        deep = (
            self.times("readout.U_o", state)
            + self.times("readout.V_o", previous)
            + self.times("readout.C_o", context)
            + self.weights["readout.b_t"]
        )
        hidden = torch.stack([torch.maximum(deep[2 * k], deep[2 * k + 1]) for k in range(len(deep) // 2)])
        if self.readings.output_layer == "factored":
            hidden = self.times("readout.W_m", hidden)
        logits = self.times("readout.W_o", hidden) + self.weights["readout.b_o"]
        return torch.exp(logits) / torch.exp(logits).sum()

    def nll(self, source: list[int], target: list[int]) -> tuple[Tensor, list[list[Tensor]]]:
        """-log p(target | source) in nats and the alignment weights; both sides with their end symbols."""
        annotations, summary = self.encode(source)
        if self.family == "rnnencdec" and self.readings.encdec_start == "zero":
            state = torch.zeros_like(summary)
        else:
            state = torch.tanh(self.times("decoder.W_s", summary) + self.weights["decoder.b_s"])
        previous = torch.zeros(self.weights["target_embedding.E"].shape[1], dtype=torch.float64)
        total, alignment = torch.zeros((), dtype=torch.float64), []
        for word in target:
            context, alphas = self.context(state, annotations)
            alignment.append(alphas)
            embedded = self.embed("target", word)
            fed = embedded if self.readings.step_order == "groundhog" else previous
            after = self.unit("decoder.unit", fed, state, context)
            read = after if self.readings.step_order == "section3" else state
            total = total - torch.log(self.distribution(read, previous, context)[word])
            state, previous = after, embedded
        return total, alignment
