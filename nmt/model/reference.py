"""The models as their papers write them: one sentence pair, one vector and one word at a time.

This module follows Bahdanau et al. (2015), Sec. 2, 3 and App. A, Cho et al. (2014b), Sec. 2.2, and Sutskever et al.
(2014), Sec. 2, and uses their letters and equation numbers. It is slow, and shares only the names of weights and
settings with the fast models. The tests compare the fast models with it, in values and in gradients. Each model has a
method `nll(x, y)`. It returns -log p(y | x) in nats, and alpha_i (T_x,) for each word y_i, if the model has attention.

As in the papers, vectors are columns and a weight acts from the left, W x. Sums and products of vectors are taken
element by element; `*` is Bahdanau's small circle. The papers leave bias terms out of their equations; here they are
where the settings put them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from nmt.settings.model_types import GatedDecoderArchitecture, LSTMArchitecture

Sentence = list[int]
"""Ids of words, the end symbol last."""


class Reference:
    """The common part of all models.

    weights: by name, in the layout of the fast model: (inputs, outputs), the transpose of the paper's.
    """

    def __init__(self, weights: dict[str, Tensor], settings: Any) -> None:
        self.weights, self.settings = weights, settings

    def times(self, name: str, vector: Tensor) -> Tensor:
        """Return W x, row by row of the paper's W."""
        return torch.stack([(column * vector).sum() for column in self.weights[name].unbind(dim=1)])


class GatedReference(Reference, ABC):
    """The common part of three models: gated units, the decoder and its deep output."""

    settings: GatedDecoderArchitecture

    # Equations of one model -------------------------------------------------------------------------------------------

    @abstractmethod
    def encode(self, x: Sentence) -> tuple[list[Tensor], Tensor]:
        """Return the annotations h_1..h_{T_x}, and the state from which s_0 is computed."""

    @abstractmethod
    def context(self, s: Tensor, h: list[Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return c_i and alpha_i of a state s_{i-1} and the annotations h."""

    # Equations of all models ------------------------------------------------------------------------------------------

    def nll(self, x: Sentence, y: Sentence) -> tuple[Tensor, list[Tensor]]:
        """Return -log p(y | x), the sum of -log p(y_i | y_1..y_{i-1}, x) (Eq. 2), and alpha_i of each word y_i."""
        h, summary = self.encode(x)
        s = self.first_state(summary)
        previous_word = torch.zeros_like(self.embed("target", y[0]))  # E y_0: no word stands before the first
        nll = torch.zeros((), dtype=s.dtype)
        alignment = []
        for word in y:
            c, alpha = self.context(s, h)
            if alpha is not None:
                alignment.append(alpha)
            p, s = self.decoder_step(s, previous_word, self.embed("target", word), c)
            nll = nll - torch.log(p[word])
            previous_word = self.embed("target", word)
        return nll, alignment

    def decoder_step(
        self, s: Tensor, previous_word: Tensor, word: Tensor, c: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return p(y_i | ...) and s_i, from s_{i-1}, E y_{i-1}, E y_i and c_i.

        The paper has two orders, and the authors' code has a third (`step_order`).
        """
        if self.settings.step_order == "section3":  # Eq. 4 and the line below it
            s = self.gated_unit("decoder.unit", previous_word, s, c)
            return self.output(s, previous_word, c), s
        p = self.output(s, previous_word, c)
        next_input = word if self.settings.step_order == "groundhog" else previous_word  # "appendix": A.2.2
        return p, self.gated_unit("decoder.unit", next_input, s, c)

    def gated_unit(self, name: str, e: Tensor, h: Tensor, c: Tensor | None = None) -> Tensor:
        """Return the next state of the gated unit (GRU) whose weights have this name: App. A.1.1.

        e: the embedded word. h: the previous state. c: the context, in the decoder only (A.2.2). The reset gate r acts
        before the matrix product, U [r * h].
        """

        def pre_activation(gate: str, state: Tensor) -> Tensor:
            terms = self.times(f"{name}.W{gate}", e) + self.times(f"{name}.U{gate}", state)
            return terms if c is None else terms + self.times(f"{name}.C{gate}", c)

        z = sigmoid(pre_activation("_z", h))  # update gate
        r = sigmoid(pre_activation("_r", h))  # reset gate
        candidate = torch.tanh(pre_activation("", r * h) + self.weights[f"{name}.b"])
        return (1 - z) * h + z * candidate

    def output(self, s: Tensor, previous_word: Tensor, c: Tensor) -> Tensor:
        """Return the probabilities of the next word, p(y_i | ...), (V,): a deep output with maxout units (App. A.2.2).

        Args:
            s: decoder state, (N,): s_{i-1}, or s_i in the step order section3.
            previous_word: embedding E y_{i-1}, (M,).
            c: context c_i.
        """
        t_tilde = (
            self.times("readout.U_o", s)
            + self.times("readout.V_o", previous_word)
            + self.times("readout.C_o", c)
            + self.weights["readout.b_t"]
        )
        t = torch.stack([torch.maximum(t_tilde[2 * k], t_tilde[2 * k + 1]) for k in range(len(t_tilde) // 2)])
        if self.settings.output_layer == "factored":
            t = self.times("readout.W_m", t)
        return softmax(self.times("readout.W_o", t) + self.weights["readout.b_o"])

    def read_words(self, name: str, x: Sentence) -> list[Tensor]:
        """Return the states of one direction of the encoder, without h_0 = 0, in its reading order."""
        h = torch.zeros_like(self.weights[f"{name}.b"])
        states = []
        for word in x:
            h = self.gated_unit(name, self.embed("source", word), h)
            states.append(h)
        return states

    def first_state(self, summary: Tensor) -> Tensor:
        """Return s_0 = tanh(W_s summary): App. A.2.2. The paper does not define s_0 of RNNencdec."""
        return torch.tanh(self.times("decoder.W_s", summary) + self.weights["decoder.b_s"])

    def embed(self, side: str, word: int) -> Tensor:
        """Return E x of a word."""
        return self.weights[f"{side}_embedding.E"][word] + self.weights[f"{side}_embedding.b"]


class RNNencdec(GatedReference):
    """RNNencdec, Sec. 2.1: the encoder's last state c = h_{T_x} is the decoder's only input from the source."""

    def encode(self, x: Sentence) -> tuple[list[Tensor], Tensor]:
        """Return c = q({h_1..h_{T_x}}) = h_{T_x}: Eq. 1 and below."""
        last_state = self.read_words("encoder.forwards", x)[-1]
        return [last_state], last_state

    def context(self, s: Tensor, h: list[Tensor]) -> tuple[Tensor, None]:
        """Return the same c at every step."""
        return h[0], None


class GrConv(RNNencdec):
    """grConv, Cho et al. (2014b), Sec. 2.2: c is the root of a tree over the sentence."""

    def encode(self, x: Sentence) -> tuple[list[Tensor], Tensor]:
        """Return c = h^(T_x - 1), the only node of the last level."""
        b = self.weights["encoder.b_U"]
        h = [self.times("encoder.U", self.embed("source", word)) + b for word in x]
        while len(h) > 1:
            h = [self.node(left, right) for left, right in pairwise(h)]
        return h, h[0]

    def node(self, left: Tensor, right: Tensor) -> Tensor:
        """Return a node from the two nodes below it, h_{j-1} and h_j of the previous level: Eq. 1."""
        G_l, G_r = self.times("encoder.G_l", left), self.times("encoder.G_r", right)
        gates = softmax(G_l + G_r + self.weights["encoder.b_g"])
        W_l, W_r = self.times("encoder.W_l", left), self.times("encoder.W_r", right)
        new_value = torch.relu(W_l + W_r + self.weights["encoder.b"])
        return gates[0] * new_value + gates[1] * left + gates[2] * right


class RNNsearch(GatedReference):
    """RNNsearch, Sec. 3: the decoder attends to the annotations again for every target word."""

    def encode(self, x: Sentence) -> tuple[list[Tensor], Tensor]:
        """Return h_j = [forward h_j ; backward h_j], and backward h_1: Sec. 3.2 and A.2.1, Eq. 7."""
        forward = self.read_words("encoder.forwards", x)
        backward = self.read_words("encoder.backwards", x[::-1])[::-1]
        annotations = [torch.cat([forward[j], backward[j]]) for j in range(len(x))]
        return annotations, backward[0]

    def context(self, s: Tensor, h: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return c_i = sum_j alpha_ij h_j and alpha_i = softmax(e_i): Eqs. 5 and 6."""
        alpha = softmax(torch.stack([self.energy(s, annotation) for annotation in h]))
        c = torch.zeros_like(h[0])
        for j, annotation in enumerate(h):
            c = c + alpha[j] * annotation
        return c, alpha

    def energy(self, s: Tensor, annotation: Tensor) -> Tensor:
        """Return e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j), the alignment model: App. A.1.2."""
        pre_activation = self.times("decoder.alignment.W_a", s) + self.times(
            "decoder.alignment.U_a", annotation
        )
        return (self.weights["decoder.alignment.v_a"] * torch.tanh(pre_activation)).sum()


class DeepLSTM(Reference):
    """Sutskever et al. (2014), Sec. 2: a deep LSTM reads x, and another one starts from its last state and writes y.

    The four parts of a layer are concatenated in its weights.
    """

    settings: LSTMArchitecture

    def nll(self, x: Sentence, y: Sentence) -> tuple[Tensor, list[Tensor]]:
        """Return -log p(y | x), and no attention. p(y | x) is the product of p(y_t | v, y_1..y_{t-1}) (Eq. 1).

        v is the encoder's last state. x ends with the end symbol only if the settings say so (`source_eos`).
        """
        # the encoder reads the words backwards, and the end symbol last
        if self.settings.source_order == "reversed":
            words = x[:-1] if self.settings.source_eos else x
            x = words[::-1] + x[len(words) :]
        start = torch.zeros_like(self.weights["encoder.0.U"][:, 0])  # (N,)
        v = [(start, start) for _ in range(self.settings.layers)]
        for word in x:
            v = self.step("encoder", self.weights["source_embedding.E"][word], v)

        # the decoder begins with the encoder's last state and the end symbol
        E = self.weights["target_embedding.E"]
        previous_word = E[y[-1]]  # the end symbol
        nll = torch.zeros((), dtype=start.dtype)
        for word in y:
            v = self.step("decoder", previous_word, v)
            h, _ = v[-1]
            p = softmax(self.times("readout.W_o", h) + self.weights["readout.b_o"])
            nll = nll - torch.log(p[word])
            previous_word = E[word]
        return nll, []

    def step(self, side: str, e: Tensor, states: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
        """Return (h, c) of each layer after one word: layer l + 1 reads the new h of layer l."""
        x = e
        next_states = []
        for layer, (h, c) in enumerate(states):
            h_next, c_next = self.cell(f"{side}.{layer}", x, h, c)
            next_states.append((h_next, c_next))
            x = h_next
        return next_states

    def cell(self, name: str, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next h and c of a layer: Eqs. 7 to 11 of Graves (2013), without the terms of c (peepholes)."""
        pre_activations = self.times(f"{name}.W", x) + self.times(f"{name}.U", h)
        i, f, g, o = (pre_activations + self.weights[f"{name}.b"]).view(4, -1)
        c_next = sigmoid(f) * c + sigmoid(i) * torch.tanh(g)
        return sigmoid(o) * torch.tanh(c_next), c_next


def sigmoid(x: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + torch.exp(-x))


def softmax(x: Tensor) -> Tensor:
    """Return exp(x_k) / sum_k' exp(x_k')."""
    return torch.exp(x) / torch.exp(x).sum()
