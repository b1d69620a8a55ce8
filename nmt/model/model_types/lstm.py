"""Deep LSTMs from a sentence to a vector and from the vector to a sentence (Sutskever et al. 2014, Sec. 2 and 3.4).

One deep LSTM reads the source. Its last h and c of every layer are the initial states of the decoder, layer by layer.
The decoder is a language model with a softmax on its top layer (Eq. 1). The source is read backwards unless the
settings say otherwise (Sec. 3.3).

The letters of dimensions are those of `nmt.model`. Above the first layer, M is N.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.backend.matmul import BackendModule
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import DecoderValues, Encoded, EncoderDecoder, Prediction
from nmt.model.output_layer import OutputLayer
from nmt.model.weights import Initializer, create_weight, uniform
from nmt.settings.model_types import LSTMArchitecture


class LSTMState(NamedTuple):
    """State of a layer: h and its cell c, (..., N) each. Of all layers: (layers, ..., N) each."""

    h: Tensor
    c: Tensor


class LSTMLayer(BackendModule):
    """One layer: W (M, 4N), U (N, 4N), b (4N,), each the concatenation of [i | f | g | o], as in PyTorch's LSTM.

    i = sigmoid(W_i x + U_i h + b_i), f and o alike; g = tanh(W_g x + U_g h + b_g); c' = f c + i g; h' = o tanh(c').
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.W = create_weight(input_size, 4 * hidden_size)
        self.U = create_weight(hidden_size, 4 * hidden_size)
        self.b = create_weight(4 * hidden_size)

    def scan_steps(self, x: Tensor, state: LSTMState, mask: Tensor) -> tuple[Tensor, LSTMState]:
        """Return h at every step, (T, B, N), and the last state, from inputs x (T, B, M) and the state before them.

        `mask` (T, B) is 0 where the input is padding, else 1. On padding, inputs must be 0, and the bias is left out.
        So g = tanh(0) = 0, and a state of 0 stays 0.
        """
        # In bf16, a library's recurrence would also round the states, which must stay in 32 bits.
        if not self.backend.is_bf16:
            return self._scan_by_library(x, state, mask)

        input_terms = self.backend.product(x, self.W) + mask.unsqueeze(2) * self.b  # (T, B, 4N)
        U = self.prepare_once("U", lambda: self.U)
        states = []
        for step_terms in input_terms:
            state = self._apply_gates(step_terms + self.backend.product(state.h, U), state.c)
            states.append(state.h)
        return torch.stack(states), state

    def _scan_by_library(self, x: Tensor, state: LSTMState, mask: Tensor) -> tuple[Tensor, LSTMState]:
        """Compute the same as `scan_steps` by oneDNN or cuDNN.

        The bias is the weight of an extra input, which is 1 at words and 0 at padding.
        """
        # On a GPU, rows are padded with inputs of 0 to a multiple of 8 numbers, since aligned rows are faster.
        padding = -(x.shape[2] + 1) % 8 if x.is_cuda else 0
        inputs = pad(torch.cat([x, mask.unsqueeze(2)], dim=2), (0, padding))  # (T, B, M + 1 + padding)
        W = pad(torch.cat([self.W, self.b.unsqueeze(0)]), (0, 0, 0, padding)).t()
        U = self.U.t()

        # cuDNN copies weights at each call unless they are in one block of memory.
        flat_W, flat_U = torch.cat([W.flatten(), U.flatten()]).split_with_sizes([W.numel(), U.numel()])
        weights = [flat_W.view_as(W), flat_U.view_as(U)]

        states, h, c = torch.lstm(
            inputs,
            (state.h.unsqueeze(0).contiguous(), state.c.unsqueeze(0).contiguous()),
            weights,
            has_biases=False,
            num_layers=1,
            dropout=0.0,
            train=torch.is_grad_enabled(),
            bidirectional=False,
            batch_first=False,
        )
        return states, LSTMState(h[0], c[0])

    def compute_step(self, x: Tensor, state: LSTMState) -> LSTMState:
        """Return the next state of any number of hypotheses, from inputs (B * K, M)."""
        W, U = self.prepare_once("W", lambda: self.W), self.prepare_once("U", lambda: self.U)
        pre_activations = self.backend.affine(x, W, self.b) + self.backend.product(state.h, U)
        return self._apply_gates(pre_activations, state.c)

    def _apply_gates(self, pre_activations: Tensor, c: Tensor) -> LSTMState:
        """Return the next state from the pre-activations (..., 4N) and the cell (..., N)."""
        i, f, g, o = pre_activations.chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return LSTMState(o.sigmoid() * c.tanh(), c)


class LSTMLayers(nn.ModuleList):
    """A deep LSTM: the first layer reads embeddings, each other layer reads the h of the layer below."""

    def __init__(self, architecture: LSTMArchitecture) -> None:
        N = architecture.hidden_units
        upper_layers = [LSTMLayer(N, N) for _ in range(architecture.layers - 1)]
        super().__init__([LSTMLayer(architecture.embedding_size, N), *upper_layers])

    def __iter__(self) -> Iterator[LSTMLayer]:
        """Iterate over the layers, from the first to the top."""
        return cast(Iterator[LSTMLayer], super().__iter__())

    def scan_steps(self, x: Tensor, states: LSTMState, mask: Tensor) -> tuple[Tensor, LSTMState]:
        """Return h of the top layer at every step, and the last states of all layers; see `LSTMLayer.scan_steps`."""
        last_states = []
        for layer, h, c in zip(self, states.h, states.c, strict=True):
            x, last_state = layer.scan_steps(x, LSTMState(h, c), mask)
            last_states.append(last_state)
        return x, stack_layers(last_states)

    def compute_step(self, x: Tensor, states: LSTMState) -> LSTMState:
        """Return the next states of all layers; see `LSTMLayer.compute_step`."""
        next_states = []
        for layer, h, c in zip(self, states.h, states.c, strict=True):
            next_states.append(layer.compute_step(x, LSTMState(h, c)))
            x = next_states[-1].h
        return stack_layers(next_states)


def stack_layers(states: list[LSTMState]) -> LSTMState:
    """Return the states of single layers, (..., N) each, as one state, (layers, ..., N) each."""
    return LSTMState(torch.stack([state.h for state in states]), torch.stack([state.c for state in states]))


@dataclass(frozen=True)
class SentenceVector(Encoded):
    """The last state of every layer, h and c (B, layers, N) each."""

    h: Tensor
    c: Tensor


class SoftmaxLayer(OutputLayer):
    """The output layer, a softmax that reads only the top layer's h (Eq. 1)."""

    def __init__(self, architecture: LSTMArchitecture, vocabulary_size: int) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        output_size = vocabulary_size + architecture.unused_ids
        self.W_o, self.b_o = create_weight(architecture.hidden_units, output_size), create_weight(output_size)

    def compute_features(self, *inputs: Tensor) -> Tensor:
        """Return h of the top layer unchanged."""
        return inputs[0]


class DeepLSTM(EncoderDecoder):
    """The model: both deep LSTMs and the softmax."""

    architecture: LSTMArchitecture

    def __init__(self, architecture: LSTMArchitecture, vocabulary_sizes: tuple[int, int]) -> None:
        super().__init__(architecture, vocabulary_sizes, embedding_bias=False)
        self.encoder, self.decoder = LSTMLayers(architecture), LSTMLayers(architecture)
        self.readout = SoftmaxLayer(architecture, vocabulary_sizes[1])

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of all weights: uniform between -0.08 and 0.08 (Sec. 3.4)."""
        return uniform(self.architecture.init_range)

    def encode(self, source: Tensor, lengths: Tensor) -> SentenceVector:
        """See `EncoderDecoder.encode`."""
        # E x in reading order, (S, B, M), 0 on padding
        positions, is_word = self.reading_order(lengths, len(source))
        embedded = self.source_embedding(source.gather(0, positions))
        mask = is_word.to(embedded.dtype)
        embedded = embedded * mask.unsqueeze(2)

        zeros = embedded.new_zeros(self.architecture.layers, source.shape[1], self.architecture.hidden_units)
        _, (h, c) = self.encoder.scan_steps(embedded, LSTMState(zeros, zeros), mask)
        return SentenceVector(h.transpose(0, 1), c.transpose(0, 1))

    def reading_order(self, lengths: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Return the position that is read at each step, and whether it is a word: two tensors (S, B).

        Padding is read first, so that all sentences end together. The end symbol is read last in both directions.
        """
        # for example -1, 0, 1: three steps of a sentence of two words, where -1 is padding
        positions = torch.arange(steps, device=lengths.device).unsqueeze(1) - (steps - lengths)
        is_word = positions >= 0

        # backwards: 1, 0 instead of 0, 1; the end symbol keeps its position
        if self.architecture.source_order == "reversed":
            word_counts = lengths - 1 if self.architecture.source_eos else lengths
            positions = torch.where(positions < word_counts, word_counts - 1 - positions, positions)
        return torch.where(is_word, positions, 0), is_word

    def sentence_vectors(self, encoded: SentenceVector) -> Tensor:
        """See `EncoderDecoder.sentence_vectors`: 8,000 numbers at the paper's sizes (Sec. 3.4)."""
        return torch.cat([encoded.h, encoded.c], dim=1).flatten(1)

    def unroll(
        self, encoded: SentenceVector, target: Tensor, block_steps: int
    ) -> Iterator[tuple[DecoderValues, Tensor | None]]:
        """See `EncoderDecoder.unroll`. The output layer reads h of the top layer, (t, B, N)."""
        # E y_{i-1} of each step, (T, B, M)
        previous_words = torch.cat([self.embed_start(target.shape[1]), self.target_embedding(target[:-1])])
        states = LSTMState(encoded.h.transpose(0, 1), encoded.c.transpose(0, 1))
        for start in range(0, len(target), block_steps):
            # Padding needs no mask: it comes after the words, so their states do not depend on it.
            block = previous_words[start : start + block_steps]
            top_h, states = self.decoder.scan_steps(block, states, mask=block.new_ones(block.shape[:2]))
            yield (top_h,), None

    def embed_start(self, sentence_count: int) -> Tensor:
        """Return the decoder's input before the first word, (1, B, M): the end symbol (Fig. 1)."""
        end_symbols = torch.full((1, sentence_count), END, device=self.target_embedding.E.device)
        embedded: Tensor = self.target_embedding(end_symbols)
        return embedded

    def start_search(self, encoded: SentenceVector) -> DeepLSTMState:
        """See `EncoderDecoder.start_search`."""
        return DeepLSTMState(self, encoded)


class DeepLSTMState:
    """The `DecoderState` of a deep LSTM, with h and c of every layer, (layers, B, K, N) each."""

    def __init__(self, model: DeepLSTM, encoded: SentenceVector) -> None:
        self.model = model
        self.h, self.c = encoded.h.transpose(0, 1).unsqueeze(2), encoded.c.transpose(0, 1).unsqueeze(2)
        self.previous_words = model.embed_start(len(encoded))[0].unsqueeze(1)  # (B, 1, M)

    def predict(self, active_hypotheses: Tensor | None = None) -> Prediction:
        """See `DecoderState.predict`."""
        # one step of all hypotheses: (B * K, N) for each layer
        states = self.model.decoder.compute_step(
            self.previous_words.flatten(0, 1), LSTMState(self.h.flatten(1, 2), self.c.flatten(1, 2))
        )
        self.h, self.c = states.h.view_as(self.h), states.c.view_as(self.c)

        # the words of all hypotheses or the active ones, (R, V)
        features = states.h[-1]
        if active_hypotheses is not None:
            features = features[active_hypotheses]
        log_probs = self.model.readout.compute_log_probs(features)
        return Prediction(log_probs, attention=None)

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        rows = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self.h, self.c = self.h[:, rows, parents], self.c[:, rows, parents]
        self.previous_words = self.model.target_embedding(words)

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        self.h, self.c, self.previous_words = self.h[:, rows], self.c[:, rows], self.previous_words[rows]


Model = DeepLSTM
