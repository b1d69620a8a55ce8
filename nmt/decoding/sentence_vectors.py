"""The fixed vectors of sentences that an encoder hands to its decoder (Sutskever et al., 2014, Sec. 3.8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from nmt.decoding.forced_decoding import Words, batches, make_batch, refuse_nan
from nmt.errors import UserError
from nmt.evaluation.principal_components import Vectors
from nmt.store.trained_model import TrainedModel


@torch.no_grad()
def sentence_vectors(model: TrainedModel, sentences: Sequence[Words], size: int) -> Vectors:
    """Return the vectors of sentences, (n, D), in their order, computed in batches of up to `size` of similar length.

    Raises:
        UserError: the model does not encode a sentence as a fixed vector.
    """
    found: dict[int, Vectors] = {}
    device = model.device
    for places in batches([len(words) for words in sentences], size):
        batch = make_batch(model, [sentences[place] for place in places], [[] for _ in places]).to(device)
        vectors = model.network.sentence_vectors(model.network.encode(batch.source, batch.source_mask))
        if vectors is None:
            raise UserError(
                f"{model.run.label} has a vector for each word, not one for the sentence; use a model that does not"
                f" align, such as an RNNencdec or an LSTM"
            )
        refuse_nan(vectors, "vectors")
        found |= zip(places, vectors.float().cpu().numpy(), strict=True)
    return np.stack([found[place] for place in range(len(sentences))])
