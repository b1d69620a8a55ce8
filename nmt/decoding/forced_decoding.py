"""Scores given translations by teacher forcing: the log-probability of every word, and attention.

What a model computes for ids, here or in a search, is told in words (`in_words`).

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

from nmt.data.batches import Batch, map_in_batches
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder, select_positions
from nmt.model.loss import POSITIONS_PER_BLOCK
from nmt.settings.decoding import Average
from nmt.store.trained_model import Tokens, TrainedModel

STEPS = 256
"""Number of target words whose states and attention are in memory at once."""


@dataclass(frozen=True)
class WordScores:
    """Log-probability of each word given the previous words and the source, (T',), in nats, and attention (T', S').

    Attention is None if it was not requested or the model has none. For several models, the log-probability is their
    average (see `ensemble`), and attention is the mean of the models that have attention.

    With subword units, the log-probability of a word is the sum over its units. The attention to a word is the sum of
    the attention to its units; the attention from a word is the mean over its units.
    """

    word_log_probabilities: NDArray[np.float64]
    attention: NDArray[np.float32] | None

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole translation, the end symbol included, in nats."""
        return float(self.word_log_probabilities.sum())


def score_translations(
    models: Sequence[TrainedModel],
    pairs: Sequence[tuple[Tokens, Tokens]],
    size: int,
    attention: bool = True,
    average: Average = "probability",
) -> list[WordScores]:
    """Score pairs of source and translation, in their order, in batches of up to `size` of similar length."""

    def compute(batch: list[tuple[Tokens, Tokens]]) -> list[WordScores]:
        sources, targets = zip(*batch, strict=True)
        return Scorer(models, sources, average).batch([*enumerate(targets)], attention)

    return map_in_batches(compute, pairs, [max(map(len, pair)) for pair in pairs], size)


class Scorer:
    """Sources that all models have encoded once, for scoring their translations."""

    @torch.no_grad()
    def __init__(
        self, models: Sequence[TrainedModel], sources: Sequence[Tokens], average: Average = "probability"
    ) -> None:
        """Take models that share their vocabularies."""
        self.models, self.sources, self.average = models, sources, average
        batch = models[0].make_batch(sources)
        self.encoded = [model.network.encode(batch.source, batch.source_lengths) for model in models]

    def __call__(
        self, targets: Sequence[tuple[int, Tokens]], size: int, attention: bool = True
    ) -> list[WordScores]:
        """Score translations, each with the row of its source, in batches of up to `size` of similar length."""
        lengths = [len(target) for _, target in targets]
        return map_in_batches(lambda batch: self.batch(batch, attention), targets, lengths, size)

    @torch.no_grad()
    def batch(self, targets: Sequence[tuple[int, Tokens]], attention: bool = True) -> list[WordScores]:
        """Score one batch of translations, each with the row of its source."""
        first = self.models[0]
        batch = first.make_batch([[] for _ in targets], [target for _, target in targets])
        rows = torch.tensor([row for row, _ in targets], device=first.device)
        scored = [
            word_log_probabilities(model.network, encoded.select(rows), batch, attention)
            for model, encoded in zip(self.models, self.encoded, strict=True)
        ]
        aligned = [weights for _, weights in scored if weights is not None]
        attended = torch.stack(aligned).mean(dim=0).cpu().numpy() if aligned else None
        logs = mean(torch.stack([values for values, _ in scored]), self.average).cpu().numpy()
        owners = batch.positions.cpu().numpy() % len(batch)
        own = np.split(logs[np.argsort(owners, kind="stable")], np.bincount(owners).cumsum()[:-1])
        return [
            in_words(
                first,
                self.sources[row],
                first.target.word_start_indices(target),
                own[place],
                None if attended is None else attended[:, place],
            )
            for place, (row, target) in enumerate(targets)
        ]


def in_words(
    model: TrainedModel,
    source: Tokens,
    beginnings: Sequence[int],
    scores: NDArray[np.float64],
    attention: NDArray[np.floating] | None,
) -> WordScores:
    """Return what a model computes for the ids of a translation in terms of its words.

    Args:
        model: the model, or any of an ensemble.
        source: the words of the source.
        beginnings: the index of the first id of each word, and of the end symbol if it was written.
        scores: the log-probability of each id and the end symbol.
        attention: the attention of these to the ids of the source, with any padding; None if there is none.
    """
    end = model.run.architecture.source_eos
    columns = model.source.word_start_indices(source)
    weights = None if attention is None else attention[: len(scores), : columns[-1] + end]
    if not (model.source.has_subwords or model.target.has_subwords):
        return WordScores(scores, weights)

    rows, columns = np.array(beginnings, np.int64), columns[: None if end else -1]
    rows[:1] = 0  # a mark without letters that precedes the first word belongs to it
    scores = np.add.reduceat(scores, rows)
    if weights is None or not columns:
        return WordScores(scores, weights)
    lengths = np.diff([*rows, len(weights)])[:, None]
    means = np.add.reduceat(weights, rows, axis=0) / lengths.astype(np.float32)
    return WordScores(scores, np.add.reduceat(means, columns, axis=1))


def word_log_probabilities(
    model: EncoderDecoder, encoded: Any, batch: Batch, attention: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Return log p of the words at the batch's P positions, (P,) float64, and attention (T, B, S) or None.

    `encoded` holds the encoded sources. Raises a `UserError` if the model computes NaN.

    States are computed for some steps at a time, and logits in chunks: at the paper's sizes, those of a long line would
    fill the memory. Without attention, memory grows with S + T, not with S T.
    """
    values, matrices = list[Tensor](), list[Tensor]()
    first, words, positions = 0, batch.target.flatten(), batch.positions
    for inputs, weights in model.unroll(encoded, batch.target, STEPS):
        last = first + inputs[0].shape[:2].numel()
        inside = positions[(positions >= first) & (positions < last)]
        read = [select_positions(inside - first, part) for part in inputs]
        values += log_probabilities(model, read, words[inside])
        if attention and weights is not None:
            matrices.append(weights)
        first = last
    logs = torch.cat(values)
    check_finite(logs, "scoring")
    return logs, torch.cat(matrices) if matrices else None


def check_finite(values: Tensor, work: str) -> None:
    """Raise a UserError if a model computes NaN. Finite weights that are far too large can cause this."""
    if not values.isfinite().all():
        raise UserError(
            f"{work}: the model's numbers have become NaN or infinite; use other weights, or train the model again"
        )


def log_probabilities(model: EncoderDecoder, inputs: Sequence[Tensor], words: Tensor) -> Iterator[Tensor]:
    """Return log p of words (P,), float64, given `inputs` (P, ...) of the output layer, computed in chunks."""
    for start in range(0, len(words), POSITIONS_PER_BLOCK):
        rows = slice(start, start + POSITIONS_PER_BLOCK)
        logs = model.readout(*(part[rows] for part in inputs)).log_softmax(dim=1)
        yield logs.gather(1, words[rows].unsqueeze(1)).squeeze(1).double()


def mean(logs: Tensor, average: Average) -> Tensor:
    """Return the mean of log-probabilities (E, ...) of E models: (...)."""
    if average == "log_probability":
        return logs.mean(dim=0)
    return torch.logsumexp(logs, dim=0) - math.log(len(logs))
