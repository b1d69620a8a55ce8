"""Encodings of sentences: fixed vectors (Sutskever et al., 2014, Sec. 3.8) and trees (Cho et al., 2014b)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nmt.data.batches import map_in_batches
from nmt.data.vocabulary import END
from nmt.decoding.forced_decoding import check_finite
from nmt.errors import UserError
from nmt.evaluation.principal_components import Vectors
from nmt.model.model_types.grconv import GrConv
from nmt.settings.model_types import MODEL_TYPES_WITH_TREES
from nmt.store.trained_model import Tokens, TrainedModel


def encode_sentences(model: TrainedModel, sentences: Sequence[Tokens], batch_size: int) -> Vectors:
    """Return the vector of each sentence, from which the decoder starts, as the rows of an array.

    Batches have up to `batch_size` sentences of similar length.

    Raises:
        UserError: the model does not encode a sentence as a fixed vector.
    """

    @torch.no_grad()
    def encode_batch(sentences: list[Tokens]) -> list[Vectors]:
        batch = model.make_batch(sentences)
        vectors = model.network.sentence_vectors(model.network.encode(batch.source, batch.source_lengths))
        if vectors is None:
            raise UserError(
                f"{model.run.label} has a vector for each word, not one for the sentence; use a model without"
                f" attention, such as an RNNencdec or an LSTM"
            )
        check_finite(vectors, "vectors")
        return list(vectors.float().cpu().numpy())

    lengths = [len(words) for words in sentences]
    return np.stack(map_in_batches(encode_batch, sentences, lengths, batch_size))


@dataclass(frozen=True)
class Tree:
    """A tree over the words of a sentence.

    Attributes:
        leaves: the words or subword units. The end symbol is an empty word.
        gates: by level and node, the gates [new, left child, right child]. `gates[t][j]` belongs to the node over the
            leaves j to j + t + 1; the last level has one node, the root.
    """

    leaves: list[str]
    gates: list[list[list[float]]]


def compute_tree(model: TrainedModel, words: Tokens) -> Tree:
    """Return the tree that a gated recursive convolution makes of a sentence's words or subword units.

    Source: Cho et al. (2014b), Sec. 2.2.

    The model reads unknown words as [UNK]. Raises a `UserError` for a model of another type.
    """
    if not isinstance(model.network, GrConv):
        raise UserError(
            f"--model: {model.run.label} makes no trees; expected a model of type {' or '.join(MODEL_TYPES_WITH_TREES)}"
        )
    leaves, ids = model.source_vocabulary.segment(words), model.source_vocabulary.ids(words)
    if model.run.architecture.source_eos or not words:
        leaves, ids = [*leaves, ""], [*ids, END]

    gates = []
    for level in model.network.gates(torch.tensor(ids, device=model.device)):
        check_finite(level, "tree")
        gates.append(level.double().tolist())
    return Tree(leaves, gates)
