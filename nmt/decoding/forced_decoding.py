"""Scores given translations by teacher forcing: the log-probability of every word, and attention.

With subword units, scores and attention of units become those of words (`to_word_scores`).

Shapes: B sentences, S source steps, T target steps; S' words of a source and, if the model reads it, the end symbol; T'
words of a translation and the end symbol; P positions of the T * B that are not padding; E models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.batches import Batch, map_in_batches
from nmt.decoding.ensemble import compute_mean_attention
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder, select_positions
from nmt.model.loss import POSITIONS_PER_BLOCK
from nmt.settings.decoding import Average
from nmt.store.trained_model import Tokens, TrainedModel

STEPS_PER_BLOCK = 256
"""Number of target words whose states and attention are in memory together."""


@dataclass(frozen=True)
class WordScores:
    """Scores of a translation, word by word.

    For several models, the log-probability is their average (see `ensemble`), and attention is the mean of the models
    that have attention.

    Attributes:
        word_log_probabilities: of each word given the previous words and the source, in nats, (T',).
        attention: (T', S'); None if it was not requested or the model has none.
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
    batch_size: int,
    keep_attention: bool = True,
    average: Average = "probability",
) -> list[WordScores]:
    """Return the scores of pairs of source and translation, in their order.

    Args:
        models: models that share their vocabularies.
        pairs: source and translation as tokens.
        batch_size: maximum number of pairs in a batch, which have similar lengths.
        keep_attention: whether the scores have the attention of the models.
        average: whether an ensemble averages probabilities or their logarithms.
    """

    def score_pairs(batch: list[tuple[Tokens, Tokens]]) -> list[WordScores]:
        sources, targets = zip(*batch, strict=True)
        return Scorer(models, sources, average).score_batch(list(enumerate(targets)), keep_attention)

    lengths = [max(len(source), len(target)) for source, target in pairs]
    return map_in_batches(score_pairs, pairs, lengths, batch_size)


class Scorer:
    """Sources that all models have encoded once, for scoring their translations."""

    @torch.no_grad()
    def __init__(self, models: Sequence[TrainedModel], sources: Sequence[Tokens], average: Average) -> None:
        """Take models that share their vocabularies."""
        self.models, self.sources, self.average = models, sources, average
        batch = models[0].make_batch(sources)
        self.encoded = [model.network.encode(batch.source, batch.source_lengths) for model in models]

    @torch.no_grad()
    def score_batch(self, targets: Sequence[tuple[int, Tokens]], keep_attention: bool) -> list[WordScores]:
        """Return the scores of a batch of translations, each of which comes with the index of its source."""
        # 1. the scores of each model: log p of the P words, (P,), and attention (T, B, S)
        first_model = self.models[0]
        target_tokens = [target for _, target in targets]
        batch = first_model.make_batch([()] * len(targets), target_tokens)  # the sources are encoded already
        source_rows = torch.tensor([row for row, _ in targets], device=first_model.device)
        log_prob_list: list[Tensor] = []
        attention_list: list[Tensor | None] = []
        for model, encoded in zip(self.models, self.encoded, strict=True):
            log_probs, attention = compute_word_log_probabilities(
                model.network, encoded.select(source_rows), batch, keep_attention
            )
            log_prob_list.append(log_probs)
            attention_list.append(attention)

        # 2. their averages
        model_log_probs = torch.stack(log_prob_list)  # (models, P)
        if self.average == "probability":
            mean_log_probs = model_log_probs.logsumexp(dim=0) - math.log(len(self.models))
        else:
            mean_log_probs = model_log_probs.mean(dim=0)
        log_probs_of_batch = mean_log_probs.cpu().numpy()
        mean_attention = compute_mean_attention(attention_list)
        attention_of_batch = None if mean_attention is None else mean_attention.cpu().numpy()

        # 3. the scores of each sentence: position p of the flattened (T, B) belongs to sentence p % B
        sentence_of_position = batch.positions.cpu().numpy() % len(batch)
        word_scores = []
        for column, (row, target) in enumerate(targets):
            scores = to_word_scores(
                model=first_model,
                source=self.sources[row],
                word_starts=first_model.target_vocabulary.word_start_indices(target),
                scores=log_probs_of_batch[sentence_of_position == column],
                attention=None if attention_of_batch is None else attention_of_batch[:, column],
            )
            word_scores.append(scores)
        return word_scores


def to_word_scores(
    model: TrainedModel,
    source: Tokens,
    word_starts: Sequence[int],
    scores: NDArray[np.float64],
    attention: NDArray[np.floating] | None,
) -> WordScores:
    """Return the scores of words, given the scores that a model computes for ids.

    With subword units, the log-probability of a word is the sum over its units. The attention to a word is the sum of
    the attention to its units; the attention from a word is the mean over its units.

    Args:
        model: the model, or any of an ensemble.
        word_starts: the index of the first id of each word, then the index of the end symbol if it was written.
        scores: the log-probabilities of the ids, then that of the end symbol if it was written.
        attention: the attention, a row for each of these scores and a column for each id of the source. Rows and
            columns of padding may follow. None if there is no attention.
    """
    # 1. the steps of the source: its ids and, if the model reads it, the end symbol
    # (the last of the starts belongs to the end symbol)
    source_starts = model.source_vocabulary.word_start_indices(source)
    source_steps = source_starts[-1] + 1
    if not model.run.architecture.source_eos:
        source_steps = source_starts.pop()  # the number of ids
    if attention is not None:
        attention = attention[: len(scores), :source_steps]  # without padding
    has_subwords = model.source_vocabulary.has_subwords or model.target_vocabulary.has_subwords
    if not has_subwords:
        return WordScores(scores, attention)

    # 2. sums over the units of each word: word i has the units from starts[i] to starts[i + 1]. If a unit that is only
    # the mark of a word's start comes before the first word, it is counted with this word.
    starts = np.array(word_starts, np.int64)
    if len(starts):
        starts[0] = 0
    word_log_probs = np.add.reduceat(scores, starts)
    if attention is None:
        return WordScores(word_log_probs, attention)

    # 3. means over the units of a target word, sums over the units of a source word
    unit_counts = np.diff([*starts, len(attention)])[:, None]
    row_means = np.add.reduceat(attention, starts, axis=0) / unit_counts.astype(np.float32)
    return WordScores(word_log_probs, np.add.reduceat(row_means, source_starts, axis=1))


def compute_word_log_probabilities(
    model: EncoderDecoder, encoded: Any, batch: Batch, keep_attention: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Return log p of the target words and end symbols of a batch, (P,) float64, and attention (T, B, S) or None.

    `encoded` holds the encoded sources. Raises a `UserError` if the model computes NaN.

    States and logits are computed in blocks, since those of a long sentence would fill the memory at the paper's sizes.
    Without attention, memory grows with S + T, not with S T.
    """
    log_probs: list[Tensor] = []
    attention_blocks: list[Tensor] = []
    words, positions = batch.target.flatten(), batch.positions
    start = 0
    for decoder_values, attention in model.unroll(encoded, batch.target, STEPS_PER_BLOCK):
        # the positions of this block, from `start` to `end` of the flattened T * B, without padding
        end = start + decoder_values[0].shape[:2].numel()  # the values are (steps, B, ...) each
        block_positions = positions[(positions >= start) & (positions < end)]
        block_words = words[block_positions].unsqueeze(1)
        inputs = [select_positions(block_positions - start, values) for values in decoder_values]

        # log p of their words; the logits of a few positions are in memory together
        for first_row in range(0, len(block_words), POSITIONS_PER_BLOCK):
            rows = slice(first_row, first_row + POSITIONS_PER_BLOCK)
            features = model.readout.compute_features(*(values[rows] for values in inputs))  # (rows, F)
            vocabulary_log_probs = model.readout.compute_log_probs(features)
            log_probs.append(vocabulary_log_probs.gather(1, block_words[rows]).squeeze(1).double())
        if keep_attention and attention is not None:
            attention_blocks.append(attention)
        start = end

    all_log_probs = torch.cat(log_probs)
    check_finite(all_log_probs, "scoring")
    return all_log_probs, torch.cat(attention_blocks) if attention_blocks else None


def check_finite(values: Tensor, work: str) -> None:
    """Raise a UserError if a model computes NaN. Finite weights that are far too large can cause this."""
    if not values.isfinite().all():
        raise UserError(
            f"{work}: the model's numbers have become NaN or infinite; use other weights, or train the model again"
        )
