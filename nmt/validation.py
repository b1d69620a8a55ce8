"""Mean negative log-probability of a sentence, as Table 2 gives it, in nats."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from nmt.batches import Batch, Indices, PairsWithinLimit, evaluation_batches
from nmt.bitext import Bitext
from nmt.models import Translator


def development_rows(bitext: Bitext, limit: int | None) -> Indices:
    """The pairs whose NLL counts: all, or those with at most `limit` words a side (a UserError if there is none)."""
    if limit is None:
        return np.arange(len(bitext))
    pairs = PairsWithinLimit(bitext, limit)
    return pairs.take(0, len(pairs))


def sentence_nll(model: Translator, batch: Batch) -> torch.Tensor:
    """-log p(target | source) of each pair in nats, the end symbol included: (B,), float64."""
    logits, _ = model(batch.source, batch.source_mask, batch.target, batch.positions)
    words = batch.target.flatten()[batch.positions]
    losses = cross_entropy(logits, words, reduction="none").double()
    return losses.new_zeros(len(batch)).index_add_(0, batch.sentence, losses)


@torch.no_grad()
def mean_nll(model: Translator, bitext: Bitext, rows: Indices, batch_size: int, source_end: bool) -> float:
    """Mean over the pairs at `rows` of the NLL of a sentence, in nats."""
    device = next(model.parameters()).device
    total = torch.zeros((), dtype=torch.float64, device=device)
    for batch in evaluation_batches(bitext, rows, batch_size, source_end):
        total += sentence_nll(model, batch.to(device)).sum()
    return float(total) / len(rows)
