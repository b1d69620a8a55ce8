"""RNNencdec (paper, Sec. 2.1 and A.2.2; Cho et al. 2014a): the encoder's last state is the fixed context."""

from __future__ import annotations

from torch import Tensor, nn

from nmt.data.batches import word_mask
from nmt.model.gated_decoder import Annotations, FixedContextDecoder, GatedEncoderDecoder
from nmt.model.gru import GRUCell, scan_gru
from nmt.settings.model_types import GatedArchitecture


class ForwardEncoder(nn.Module):
    """The forward encoder. Its last state is the context, c = h_{T_x}."""

    def __init__(self, architecture: GatedArchitecture) -> None:
        super().__init__()
        self.forwards = GRUCell(architecture.embedding_size, architecture.hidden_units)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Annotations:
        """Encode sentences, given their embedded words E x (S, B, M) and lengths (B,)."""
        mask = word_mask(lengths, len(embedded)).to(embedded.dtype)  # (S, B)
        start = embedded.new_zeros(1, embedded.shape[1], self.forwards.hidden_size)  # (1, B, N)
        projected = self.forwards.project(embedded)  # (S, B, 3N)
        states = scan_gru([self.forwards], [projected], start, mask.unsqueeze(1))  # (S+1, 1, B, N)

        # padded steps keep the state, so the last one is h_{T_x} of every sentence
        return Annotations.from_vector(states[-1, 0])


class RNNencdec(GatedEncoderDecoder):
    """The model: the forward encoder and a decoder with a fixed context."""

    encoder_class = ForwardEncoder
    decoder_class = FixedContextDecoder


Model = RNNencdec
