"""Deep LSTMs from a sentence to a vector and from the vector to a sentence (Sutskever et al. 2014, Sec. 2 and 3.4).

One deep LSTM reads the source. Its last h and c of every layer are the initial states of the decoder, layer by layer.
The decoder is a language model with a softmax on its top layer (Eq. 1). The source is read backwards unless the
settings say otherwise (Sec. 3.3).

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, R of the B * K that are active,
L layers, N hidden units, M embedding size or, above the first layer, N; V vocabulary size. Vectors are rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.backend.products import Module
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import Encoded, EncoderDecoder, Inputs, Prediction
from nmt.model.output_layer import Candidates, OutputLayer, WordProbabilities
from nmt.model.weights import Initializer, create_weight, uniform
from nmt.settings.model_types import LSTMArchitecture

State = tuple[Tensor, Tensor]
"""h and c, (..., N) each."""


class Layer(Module):
    """One layer: W (M, 4N), U (N, 4N), b (4N,), each the concatenation of [i | f | g | o], as in PyTorch's LSTM.

    i = sigmoid(W_i x + U_i h + b_i), f and o alike; g = tanh(W_g x + U_g h + b_g); c' = f c + i g; h' = o tanh(c').
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.W, self.U = create_weight(inputs, 4 * hidden), create_weight(hidden, 4 * hidden)
        self.b = nn.Parameter(torch.empty(4 * hidden))

    def scan(self, x: Tensor, start: State, mask: Tensor) -> tuple[Tensor, State]:
        """Return h at every step, (T, B, N), and the last h and c, from inputs (T, B, M) and the state before them.

        `mask` (T, B) is 0 where the input is padding, else 1. Inputs must be 0 on padding. The bias is multiplied by
        `mask`. So a state of 0 stays 0 over padding, since i g is i tanh(0).
        """
        if not self.backend.rounds:
            return self._scan_by_library(x, start, mask)
        given = self.backend.product(x, self.W) + mask.unsqueeze(2) * self.b
        U, states = self.prepared_weight("U", lambda: self.U), []
        h, c = start
        for step in given:
            h, c = self.cell(step + self.backend.product(h, U), c)
            states.append(h)
        return torch.stack(states), (h, c)

    def _scan_by_library(self, x: Tensor, start: State, mask: Tensor) -> tuple[Tensor, State]:
        """Compute `scan` by oneDNN or cuDNN. The bias is the weight of an extra input: 1 at words and 0 at padding."""
        # on a GPU inputs of 0 besides, for products whose rows begin where several numbers are read at once
        more = -(x.shape[2] + 1) % 8 if x.is_cuda else 0
        W = pad(torch.cat([self.W, self.b.unsqueeze(0)]), (0, 0, 0, more))
        # in one piece of memory, as cuDNN wants them
        ours = [W.t(), self.U.t()]
        together = torch.cat([part.flatten() for part in ours]).split_with_sizes(
            [part.numel() for part in ours]
        )
        weights = [part.view_as(like) for part, like in zip(together, ours, strict=True)]
        h, c = (part.unsqueeze(0) for part in start)
        states, h, c = torch.lstm(
            pad(torch.cat([x, mask.unsqueeze(2)], dim=2), (0, more)), (h.contiguous(), c.contiguous()), weights,
            has_biases=False, num_layers=1, dropout=0.0, train=torch.is_grad_enabled(), bidirectional=False,
            batch_first=False,
        )  # fmt: skip
        return states, (h[0], c[0])

    def step(self, x: Tensor, state: State) -> State:
        """Compute one step for any number of hypotheses, from inputs (R, M) and their states."""
        h, c = state
        W, U = self.prepared_weight("W", lambda: self.W), self.prepared_weight("U", lambda: self.U)
        return self.cell(self.backend.affine(x, W, self.b) + self.backend.product(h, U), c)

    def cell(self, inner: Tensor, c: Tensor) -> State:
        """Return the next h and c from c (..., N) and the pre-activations (..., 4N)."""
        i, f, g, o = inner.chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class Layers(nn.ModuleList):
    """A deep LSTM: the first layer reads embeddings, each other layer reads the h of the layer below."""

    def __init__(self, architecture: LSTMArchitecture) -> None:
        hidden = architecture.hidden_units
        inputs = [architecture.embedding_size, *[hidden] * (architecture.layers - 1)]
        super().__init__(Layer(size, hidden) for size in inputs)

    def __iter__(self) -> Iterator[Layer]:
        """Iterate over the layers, from the first to the top."""
        return cast(Iterator[Layer], super().__iter__())

    def scan(self, x: Tensor, states: list[State], mask: Tensor) -> tuple[Tensor, list[State]]:
        """Return h of the top layer at every step, and the last states of all layers; see `Layer.scan`."""
        after = []
        for layer, state in zip(self, states, strict=True):
            x, last = layer.scan(x, state, mask)
            after.append(last)
        return x, after

    def step(self, x: Tensor, states: list[State]) -> tuple[Tensor, list[State]]:
        """Compute one step of all layers; see `Layer.step`."""
        after = []
        for layer, state in zip(self, states, strict=True):
            after.append(layer.step(x, state))
            x = after[-1][0]
        return x, after


@dataclass(frozen=True)
class SentenceVector(Encoded):
    """The last state of every layer, h and c (B, L, N) each."""

    h: Tensor
    c: Tensor


class SoftmaxLayer(OutputLayer):
    """The output layer, a softmax that reads only the top layer's h (Eq. 1)."""

    def __init__(self, architecture: LSTMArchitecture, words: int) -> None:
        super().__init__()
        self.W_o = create_weight(architecture.hidden_units, words + architecture.unused_ids)
        self.b_o = nn.Parameter(torch.empty(words + architecture.unused_ids))

    def features(self, *inputs: Tensor) -> Tensor:
        """Return h of the top layer unchanged."""
        (h,) = inputs
        return h


class DeepLSTM(EncoderDecoder):
    """The model: both deep LSTMs and the softmax."""

    architecture: LSTMArchitecture

    def __init__(
        self, architecture: LSTMArchitecture, source_vocabulary: int, target_vocabulary: int
    ) -> None:
        super().__init__(architecture, source_vocabulary, target_vocabulary, embedding_bias=False)
        self.encoder, self.decoder = Layers(architecture), Layers(architecture)
        self.readout = SoftmaxLayer(architecture, target_vocabulary)

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of all weights: uniform between -0.08 and 0.08 (Sec. 3.4)."""
        return uniform(self.architecture.init_range)

    def encode(self, source: Tensor, lengths: Tensor) -> SentenceVector:
        """See `EncoderDecoder.encode`."""
        order, is_word = self.reading_order(lengths, len(source))
        x = self.source_embedding(source.gather(0, order))
        mask = is_word.to(x.dtype)
        x = x * mask.unsqueeze(2)
        nothing = x.new_zeros(source.shape[1], self.architecture.hidden_units)
        _, last = self.encoder.scan(x, [(nothing, nothing)] * self.architecture.layers, mask)
        return SentenceVector(*(torch.stack(parts, dim=1) for parts in zip(*last, strict=True)))

    def reading_order(self, lengths: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Return the position that is read at each step, and the mask: whether it is a word, (S, B) each.

        Padding is read first, so that all sentences end together. The end symbol is read last in both directions.
        """
        place = torch.arange(steps, device=lengths.device).unsqueeze(1) - (steps - lengths)
        mask = place >= 0
        if self.architecture.source_order == "reversed":
            words = lengths - 1 if self.architecture.source_eos else lengths
            place = torch.where(place < words, words - 1 - place, place)
        return torch.where(mask, place, 0), mask

    def sentence_vectors(self, encoded: SentenceVector) -> Tensor:
        """See `EncoderDecoder.sentence_vectors`: 8,000 numbers at the paper's sizes (Sec. 3.4)."""
        return torch.cat([encoded.h, encoded.c], dim=1).flatten(1)

    def unroll(
        self, encoded: SentenceVector, target: Tensor, steps: int
    ) -> Iterator[tuple[Inputs, Tensor | None]]:
        """See `EncoderDecoder.unroll`: h of the top layer (t, B, N)."""
        embedded = torch.cat([self.before_first(target.shape[1]), self.target_embedding(target[:-1])])
        states = list(zip(encoded.h.unbind(1), encoded.c.unbind(1), strict=True))
        for first in range(0, len(target), steps):
            x = embedded[first : first + steps]
            x, states = self.decoder.scan(x, states, x.new_ones(x.shape[:2]))
            yield (x,), None

    def before_first(self, sentences: int) -> Tensor:
        """Return the decoder's input before the first word, (1, B, M): the end symbol (Fig. 1)."""
        ends = torch.full((1, sentences), END, device=self.target_embedding.E.device)
        embedded: Tensor = self.target_embedding(ends)
        return embedded

    def start_search(self, encoded: SentenceVector, candidates: Candidates | None = None) -> DeepLSTMState:
        """See `EncoderDecoder.start_search`."""
        return DeepLSTMState(self, encoded, candidates)


class DeepLSTMState:
    """The `DecoderState` of a deep LSTM, with h and c of every layer, (L, B, K, N) each."""

    def __init__(
        self, model: DeepLSTM, encoded: SentenceVector, candidates: Candidates | None = None
    ) -> None:
        self.model = model
        self.h, self.c = (part.transpose(0, 1).unsqueeze(2) for part in (encoded.h, encoded.c))
        self.previous = model.before_first(len(encoded))[0].unsqueeze(1)
        self.words = WordProbabilities(model.readout, model.target_vocabulary, candidates)

    def predict(self, active_rows: Tensor | None = None) -> Prediction:
        """See `DecoderState.predict`."""
        states = list(zip(self.h.flatten(1, 2), self.c.flatten(1, 2), strict=True))
        top, states = self.model.decoder.step(self.previous.flatten(0, 1), states)
        self.h, self.c = (torch.stack(parts).view_as(self.h) for parts in zip(*states, strict=True))
        features = self.model.readout.features(top if active_rows is None else top[active_rows])
        return Prediction(self.words.of(features, self.h.shape[2], active_rows), None)

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        rows = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self.h, self.c = self.h[:, rows, parents], self.c[:, rows, parents]
        self.previous = self.model.target_embedding(words)

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        self.h, self.c, self.previous = self.h[:, rows], self.c[:, rows], self.previous[rows]
        self.words.select_sentences(rows)


Model = DeepLSTM
