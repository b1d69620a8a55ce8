"""Scores given translations by teacher forcing: the log-probability of every word, and attention.

Shapes: T' words of a translation and the end symbol, S' words of a source and, if the model reads it, the end symbol.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.batches import Batch, pad_pairs
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder, at
from nmt.model.readout import CHUNK
from nmt.settings.decoding import Average
from nmt.store.trained_model import TrainedModel

Words = Sequence[str]
STEPS = 256
"""Number of target words whose states and attention are in memory at once."""
WORDS_PER_SENTENCE = 50
"""Words per sentence of a full batch, padding included. Longer lines come in smaller batches."""


@dataclass(frozen=True)
class ForcedScores:
    """Log-probability of each word given the previous words and the source, (T',), in nats, and attention (T', S').

    Attention is None if it was not requested or the model has none. For several models, the log-probability is their
    average (see `ensemble`), and attention is the mean of the models that have attention.
    """

    word_log_probabilities: NDArray[np.float64]
    attention: NDArray[np.float32] | None

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole translation, the end symbol included, in nats."""
        return float(self.word_log_probabilities.sum())


class Scorer:
    """Sources that all models have encoded, for scoring their translations."""

    @torch.no_grad()
    def __init__(
        self, models: Sequence[TrainedModel], sources: Sequence[Words], average: Average = "probability"
    ) -> None:
        """Take models that share their vocabularies."""
        self.models, self.sources, self.average = models, sources, average
        batch = make_batch(models[0], sources, [[] for _ in sources]).to(models[0].device)
        self.encoded = [model.network.encode(batch.source, batch.source_mask) for model in models]

    @torch.no_grad()
    def log_probabilities(
        self, rows: Sequence[int], targets: Sequence[Words], attention: bool
    ) -> tuple[Batch, Tensor, Tensor | None]:
        """Return a batch of targets, each for the source at its row, log p at its P positions, and attention."""
        device = self.models[0].device
        batch = make_batch(self.models[0], [[] for _ in targets], targets).to(device)
        select = torch.tensor(rows, device=device)
        found = [
            word_log_probabilities(model.network, encoded.select(select), batch, attention)
            for model, encoded in zip(self.models, self.encoded, strict=True)
        ]
        aligned = [weights for _, weights in found if weights is not None]
        logs = mean(torch.stack([values for values, _ in found]), self.average)
        return batch, logs, torch.stack(aligned).mean(dim=0) if aligned else None

    def totals(self, rows: Sequence[int], targets: Sequence[Words]) -> list[float]:
        """Return the log-probability of each target, in nats, the end symbol included."""
        batch, logs, _ = self.log_probabilities(rows, targets, attention=False)
        sums = logs.new_zeros(len(targets)).index_add_(0, batch.sentence, logs)
        totals: list[float] = sums.tolist()
        return totals

    def scores(self, targets: Sequence[Words], attention: bool = True) -> list[ForcedScores]:
        """Return the scores of a target for each source."""
        batch, logs, aligned = self.log_probabilities(range(len(targets)), targets, attention)
        weights = None if aligned is None else aligned.cpu().numpy()
        values, owners = logs.cpu().numpy(), batch.sentence.cpu().numpy()
        first = self.models[0]
        end, cut = first.run.architecture.source_end, first.source.subwords or first.target.subwords
        scores = []
        for row, (source, target) in enumerate(zip(self.sources, targets, strict=True)):
            columns, rows = first.source.beginnings(source), first.target.beginnings(target)
            matrix = None if weights is None else weights[: rows[-1] + 1, row, : columns[-1] + end]
            forced = ForcedScores(values[owners == row], matrix)
            scores.append(_of_words(forced, rows, columns[: None if end else -1]) if cut else forced)
        return scores


def score_batch(
    models: Sequence[TrainedModel],
    sources: Sequence[Words],
    targets: Sequence[Words],
    attention: bool = True,
    average: Average = "probability",
) -> list[ForcedScores]:
    """Score one batch of pairs, in their order, with models that share their vocabularies.

    With subword units, the log-probability of a word is the sum over its units. The attention to a word is the sum of
    the attention to its units; the attention from a word is the mean over its units.
    """
    return Scorer(models, sources, average).scores(targets, attention)


def _of_words(units: ForcedScores, rows: list[int], columns: list[int]) -> ForcedScores:
    """Turn scores of subword units into scores of words, which begin at `rows` (with the end symbol) and `columns`."""
    values = np.add.reduceat(units.word_log_probabilities, rows)
    if units.attention is None or not columns:
        return ForcedScores(values, units.attention)
    lengths = np.diff([*rows, len(units.attention)])[:, None]
    written = np.add.reduceat(units.attention, rows, axis=0) / lengths.astype(np.float32)
    return ForcedScores(values, np.add.reduceat(written, columns, axis=1))


def make_batch(
    model: TrainedModel, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> Batch:
    """Turn tokens into a padded batch of ids."""
    return pad_pairs(
        [np.array(model.source.ids(tokens), dtype=np.uint32) for tokens in sources],
        [np.array(model.target.ids(tokens), dtype=np.uint32) for tokens in targets],
        model.run.architecture.source_end,
    )


def word_log_probabilities(
    model: EncoderDecoder, encoded: Any, batch: Batch, attention: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Return log p of the words at the batch's P positions, (P,) float64, and attention (T, B, S) or None.

    `encoded` holds the encoded sources. Raises a `UserError` if the model computes NaN.

    States are computed for some steps at a time, and logits in chunks: at the paper's sizes, those of a long line would
    fill the memory. Without attention, memory grows with S + T, not with S T.
    """
    values, matrices = list[Tensor](), list[Tensor]()
    first, words = 0, batch.target.flatten()
    for inputs, weights in model.unroll(encoded, batch.target, STEPS):
        last = first + inputs[0].shape[:2].numel()
        inside = batch.positions[(batch.positions >= first) & (batch.positions < last)]
        read = [at(inside - first, part) for part in inputs]
        values += log_probabilities(model, read, words[inside])
        if attention and weights is not None:
            matrices.append(weights)
        first = last
    found = torch.cat(values)
    refuse_nan(found, "scoring")
    return found, torch.cat(matrices) if matrices else None


def refuse_nan(values: Tensor, work: str) -> None:
    """Raise a UserError if a model computes NaN. Finite weights that are far too large can cause this."""
    if not values.isfinite().all():
        raise UserError(
            f"{work}: the model's numbers have become NaN or infinite; use other weights, or train the model again"
        )


def log_probabilities(model: EncoderDecoder, inputs: Sequence[Tensor], words: Tensor) -> Iterator[Tensor]:
    """Return log p of words (P,), float64, given `inputs` (P, ...) of the output layer, computed in chunks."""
    for start in range(0, len(words), CHUNK):
        rows = slice(start, start + CHUNK)
        logs = model.readout(*(part[rows] for part in inputs)).log_softmax(dim=1)
        yield logs.gather(1, words[rows].unsqueeze(1)).squeeze(1).double()


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the indices of sentences of similar length: at most `size`, with at most 50 `size` words with padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = len(batch) == size or (len(batch) + 1) * lengths[place] > size * WORDS_PER_SENTENCE
        if batch and full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def score(
    models: Sequence[TrainedModel],
    pairs: Sequence[tuple[Words, Words]],
    size: int,
    attention: bool = True,
    average: Average = "probability",
) -> list[ForcedScores]:
    """Score any number of pairs, in batches of up to `size` of similar length. The order is that of the pairs."""
    found: dict[int, ForcedScores] = {}
    for batch in batches([max(len(source), len(target)) for source, target in pairs], size):
        sources, targets = zip(*(pairs[place] for place in batch), strict=True)
        found |= zip(batch, score_batch(models, sources, targets, attention, average), strict=True)
    return [found[place] for place in range(len(pairs))]


def mean(logs: Tensor, average: Average) -> Tensor:
    """Return the mean of log-probabilities (E, ...) of E models: (...)."""
    if average == "log_probability":
        return logs.mean(dim=0)
    return torch.logsumexp(logs, dim=0) - math.log(len(logs))
