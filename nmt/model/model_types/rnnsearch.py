"""RNNsearch (paper, Sec. 3 and App. A): a bidirectional gated encoder and a decoder that learns to align."""

from __future__ import annotations

import re
from dataclasses import replace

import torch
from torch import Tensor, nn

from nmt.data.batches import word_mask
from nmt.model.attention import Alignment, AttentionScan, attend
from nmt.model.gated_decoder import Annotations, GatedDecoder, GatedEncoderDecoder
from nmt.model.gru import GRUCell, scan_gru
from nmt.model.weights import Initializer, normal
from nmt.settings.model_types import GatedArchitecture

ALIGNMENT_NAMES = re.compile(r"\.(W_a|U_a)$")


class BidirectionalEncoder(nn.Module):
    """The bidirectional encoder, h_j = [forward h_j ; backward h_j] (Sec. 3.2, App. A.2.1)."""

    def __init__(self, architecture: GatedArchitecture) -> None:
        super().__init__()
        self.forwards = GRUCell(architecture.embedding_size, architecture.hidden_units)
        self.backwards = GRUCell(architecture.embedding_size, architecture.hidden_units)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Annotations:
        """Encode sentences, given their embedded words E x (S, B, M) and lengths (B,)."""
        mask = word_mask(lengths, len(embedded))  # (S, B)

        # both directions at once; the backward one reads the padding first, where its state stays 0
        start = embedded.new_zeros(2, embedded.shape[1], self.forwards.hidden_size)  # (2, B, N)
        projected = [self.forwards.project(embedded), self.backwards.project(embedded.flip(0))]
        masks = torch.stack([mask, mask.flip(0)], dim=1).to(embedded.dtype)  # (S, 2, B)
        states = scan_gru([self.forwards, self.backwards], projected, start, masks)  # (S+1, 2, B, N)
        forwards, backwards = states[1:].unbind(1)

        # attention wants sentences first: (B, S, 2N)
        annotations = torch.cat([forwards, backwards.flip(0)], dim=2).transpose(0, 1).contiguous()
        return Annotations(annotations, padding=~mask.t(), summary=backwards[-1])


class AttentionDecoder(GatedDecoder):
    """The decoder with attention. The alignment model computes c_i from s_{i-1}."""

    encoder_directions = 2

    def __init__(self, architecture: GatedArchitecture) -> None:
        super().__init__(architecture)
        self.alignment = Alignment(architecture.hidden_units, self.context_size, architecture.alignment_units)

    def add_keys(self, encoded: Annotations) -> Annotations:
        """Return `encoded` with the keys U_a h_j, which are computed once per sentence."""
        U_a = self.prepare_once("keys", lambda: self.alignment.U_a)
        return replace(encoded, keys=self.backend.product(encoded.annotations, U_a))

    def scan_steps(
        self, encoded: Annotations, embedded: Tensor, start: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return states, contexts and attention weights of all steps. See `GatedDecoder.scan_steps`."""
        states_contexts_alpha: tuple[Tensor, Tensor, Tensor] = AttentionScan.apply(  # type: ignore[no-untyped-call]
            self.backend, self.unit.project(embedded), start, encoded.annotations, encoded.keys, encoded.padding,
            self.alignment.W_a, self.alignment.v_a,
            self.unit.gate_weights(), self.unit.U, self.unit.context_weights(),
        )  # fmt: skip
        return states_contexts_alpha

    def compute_context_terms(
        self, state: Tensor, encoded: Annotations, annotation_terms: Tensor
    ) -> tuple[Tensor, Tensor]:
        """See `GatedDecoder.compute_context_terms`."""
        assert encoded.keys is not None
        queries = self.backend.product(state, self.prepare_once("queries", lambda: self.alignment.W_a))
        return attend(
            queries=queries,
            keys=encoded.keys,
            v_a=self.alignment.v_a,
            padding=encoded.padding,
            values=annotation_terms,
            fast_tanh=self.backend.fast_tanh,
        )


class RNNsearch(GatedEncoderDecoder):
    """The model: the bidirectional encoder and the decoder with attention."""

    architecture: GatedArchitecture
    encoder_class = BidirectionalEncoder
    decoder_class = AttentionDecoder

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of App. B.1: N(0, 0.001^2) for W_a and U_a, with the deviation as a setting."""
        if ALIGNMENT_NAMES.search(name):
            return normal(self.architecture.alignment_init_std)
        return super().choose_initializer(name)


Model = RNNsearch
