"""RNNsearch (paper, Sec. 3 and App. A): a bidirectional gated encoder and a decoder that learns to align."""

from __future__ import annotations

import re
from dataclasses import replace

import torch
from torch import Tensor, nn

from nmt.data.batches import word_mask
from nmt.model.attention import Alignment, AttentionScan
from nmt.model.gated_decoder import Annotations, GatedDecoder, GatedEncoderDecoder
from nmt.model.gru import GRUCell, scan
from nmt.model.output_layer import MaxoutOutputLayer
from nmt.model.weights import Initializer, normal
from nmt.settings.model_types import GatedArchitecture

ALIGNMENT = re.compile(r"\.(W_a|U_a)$")


class BidirectionalEncoder(nn.Module):
    """The bidirectional encoder, h_j = [forward h_j ; backward h_j] (Sec. 3.2, App. A.2.1)."""

    def __init__(self, architecture: GatedArchitecture) -> None:
        super().__init__()
        sizes = architecture.embedding_size, architecture.hidden_units
        self.forwards, self.backwards = GRUCell(*sizes), GRUCell(*sizes)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Annotations:
        """Encode E x (S, B, M) of sentences with these lengths (B,)."""
        mask = word_mask(lengths, len(embedded))
        start = embedded.new_zeros(2, embedded.shape[1], self.forwards.hidden)
        projected = [self.forwards.project(embedded), self.backwards.project(embedded.flip(0))]
        masks = torch.stack([mask, mask.flip(0)], dim=1).to(embedded.dtype)
        forwards, backwards = scan([self.forwards, self.backwards], projected, start, masks)[1:].unbind(1)
        annotations = torch.cat([forwards, backwards.flip(0)], dim=2).transpose(0, 1).contiguous()
        return Annotations(annotations, ~mask.t(), backwards[-1])


class AttentionDecoder(GatedDecoder):
    """The decoder with attention. The alignment model computes c_i from s_{i-1}."""

    def __init__(self, architecture: GatedArchitecture, context: int) -> None:
        super().__init__(architecture, context)
        self.alignment = Alignment(architecture.hidden_units, context, architecture.alignment_units)

    def prepare(self, encoded: Annotations) -> Annotations:
        """Add the keys U_a h_j, which are computed once per sentence."""
        return replace(encoded, keys=self.alignment.keys(encoded.annotations))

    def scan(self, encoded: Annotations, embedded: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See `GatedDecoder.scan`."""
        unit = self.unit
        states, contexts, weights = AttentionScan.apply(  # type: ignore[no-untyped-call]
            self.backend, unit.project(embedded), start, encoded.annotations, encoded.keys, encoded.padding,
            self.alignment.W_a, self.alignment.v_a, unit.gate_weights(), unit.U, unit.context_weights(),
        )  # fmt: skip
        return states, contexts, weights

    def context_share(self, state: Tensor, encoded: Annotations, shares: Tensor) -> tuple[Tensor, Tensor]:
        """See `GatedDecoder.context_share`."""
        assert encoded.keys is not None
        return self.alignment.attend(state, encoded.keys, encoded.padding, shares)


class RNNsearch(GatedEncoderDecoder):
    """The model: the bidirectional encoder and the decoder with attention."""

    architecture: GatedArchitecture

    def __init__(
        self, architecture: GatedArchitecture, source_vocabulary: int, target_vocabulary: int
    ) -> None:
        super().__init__(architecture, source_vocabulary, target_vocabulary)
        context = 2 * architecture.hidden_units
        self.encoder = BidirectionalEncoder(architecture)
        self.decoder = AttentionDecoder(architecture, context)
        self.readout = MaxoutOutputLayer(architecture, context, target_vocabulary)

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of App. B.1: N(0, 0.001^2) for W_a and U_a, with the deviation as a setting."""
        return (
            normal(self.architecture.alignment_init_std)
            if ALIGNMENT.search(name)
            else super().choose_initializer(name)
        )


Model = RNNsearch
