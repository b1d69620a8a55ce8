"""grConv (Cho et al. 2014b, Sec. 2.2): the encoder is a gated recursive convolution, and its root is the fixed context.

    h_j^0 = U E x_j + b_U
    h~_j  = phi(W_l h_{j-1} + W_r h_j + b)                      phi: a rectifier
    [w_c, w_l, w_r] = softmax(G_l h_{j-1} + G_r h_j + b_g)
    h_j^t = w_c h~_j + w_l h_{j-1}^{t-1} + w_r h_j^{t-1}        Eq. 1; all of level t - 1 on the right

Each level has one node less than the level below. So in this code, node j of level t covers the words j to j + t, and
the root of a sentence of n words is node 0 of level n - 1. Nodes over padding are computed, too, but no root uses them.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor

from nmt.backend.matmul import BackendModule
from nmt.model.gated_decoder import RECURRENT_NAMES, Annotations, FixedContextDecoder, GatedEncoderDecoder
from nmt.model.weights import Initializer, create_weight, normal, orthogonal
from nmt.settings.model_types import GrConvArchitecture

SQUARE_NAMES = re.compile(r"^encoder\.W_[lr]$")
"""The square matrices of the tree. All other matrices of the tree are initialized like the decoder's."""
GATES = 3
"""Gates of a node: one for its new value, and one for each child."""


class RecursiveEncoder(BackendModule):
    """The encoder, whose root is c. U (M, N), W_l, W_r (N, N), G_l, G_r (N, 3) are the same at every level."""

    def __init__(self, architecture: GrConvArchitecture) -> None:
        super().__init__()
        N = architecture.hidden_units
        self.U = create_weight(architecture.embedding_size, N)
        self.W_l, self.W_r = create_weight(N, N), create_weight(N, N)
        self.G_l, self.G_r = create_weight(N, GATES), create_weight(N, GATES)
        self.b_U, self.b, self.b_g = create_weight(N), create_weight(N), create_weight(GATES)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Annotations:
        """Encode sentences, given their embedded words E x (S, B, M) and lengths (B,)."""
        # the root of a sentence of n words is node 0 of level n - 1
        root_levels = lengths.unsqueeze(1) - 1  # (B, 1)
        nodes = self.compute_leaves(embedded)
        roots = nodes[0]
        for level in range(1, len(embedded)):
            nodes, _ = self.compute_level(nodes)
            roots = torch.where(root_levels == level, nodes[0], roots)
        return Annotations.from_vector(roots)

    def compute_leaves(self, embedded: Tensor) -> Tensor:
        """Return the nodes of level 0, (S, B, N), given the embedded words E x (S, B, M)."""
        return self.backend.product(embedded, self.U) + self.b_U

    def compute_level(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Return nodes (n-1, B, N) and gates [w_c, w_l, w_r] (n-1, B, 3) of the level above `nodes` (n, B, N).

        A hand-written backward pass would not be faster than PyTorch's, since nearly all time is spent in products.
        """
        left_nodes, right_nodes = nodes[:-1], nodes[1:]

        # the new value h~_j, (n-1, B, N)
        child_terms = self.backend.product(left_nodes, self.W_l) + self.backend.product(right_nodes, self.W_r)
        new_values = torch.relu(child_terms + self.b)

        # the gates: each node gives them a term as a left child, and one as a right child, (n, B, 6)
        gate_terms = self.backend.product(nodes, torch.cat([self.G_l, self.G_r], dim=1))
        gates = (gate_terms[:-1, :, :GATES] + gate_terms[1:, :, GATES:] + self.b_g).softmax(dim=2)

        # Eq. 1
        level = torch.addcmul(gates[..., :1] * new_values, gates[..., 1:2], left_nodes)
        return torch.addcmul(level, gates[..., 2:], right_nodes), gates


class GrConv(GatedEncoderDecoder):
    """The recursive encoder and a decoder with a fixed context."""

    architecture: GrConvArchitecture
    encoder: RecursiveEncoder
    encoder_class = RecursiveEncoder
    decoder_class = FixedContextDecoder

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of Cho et al. (2014b), Sec. 4.2: W_l, W_r are random orthogonal times 0.4.

        For other weights, see `GatedEncoderDecoder.choose_initializer`.
        """
        if SQUARE_NAMES.search(name):
            return orthogonal(self.architecture.tree_init_scale)
        if name == "encoder.U":  # not recurrent, in spite of its name
            return normal(self.architecture.init_std)
        if RECURRENT_NAMES.search(name):
            return orthogonal(self.architecture.recurrent_init_scale)
        return super().choose_initializer(name)

    @torch.no_grad()
    def gates(self, source: Tensor) -> list[Tensor]:
        """Return the gates of a sentence's tree: for each level t = 1, ..., S - 1 a tensor (S - t, 3).

        Level t has S - t nodes. The gates of a node are [w_c, w_l, w_r]: new content, left child, right child.

        source: the ids of the sentence, (S,).
        """
        embedded = self.source_embedding(source.unsqueeze(1))  # (S, 1, M)
        nodes = self.encoder.compute_leaves(embedded)
        gates_of_levels = []
        while len(nodes) > 1:
            nodes, gates = self.encoder.compute_level(nodes)
            gates_of_levels.append(gates.squeeze(1))
        return gates_of_levels


Model = GrConv
