"""What models think of given translations: log-probability of every word and attention, by teacher forcing.

Shapes: T' words of a translation and the end symbol, S' words of a source and, if the model reads it, the end symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.batches import Batch, pad_pairs
from nmt.decoding.ensemble import mean
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder, at
from nmt.model.loss import CHUNK
from nmt.model.trained_model import TrainedModel
from nmt.settings.decoding import Average

Words = Sequence[str]
STEPS = 256
"""Target words whose states and attention are in memory at once."""
WORDS_PER_SENTENCE = 50
"""A batch of B sentences may have B times so many words, padding included: long lines come in smaller batches."""


@dataclass(frozen=True)
class ForcedScores:
    """Nats of each word given those before it and the source, (T',), and attention, (T', S'), if wanted and there.

    Of several models: the mean of what they say (see `ensemble`), and the mean attention of those that align.
    """

    word_log_probabilities: NDArray[np.float64]
    attention: NDArray[np.float32] | None

    @property
    def log_probability(self) -> float:
        """log p of the whole translation, the end symbol included, in nats."""
        return float(self.word_log_probabilities.sum())


@torch.no_grad()
def read(
    models: Sequence[TrainedModel],
    sources: Sequence[Words],
    targets: Sequence[Words],
    attention: bool = True,
    average: Average = "probability",
) -> list[ForcedScores]:
    """One batch of pairs, in their order; the models share their vocabularies.

    Of subword units log-probabilities add up to those of words; attention to a word is the sum of that to its units,
    attention from a word the mean of that from its units.
    """
    device = next(models[0].network.parameters()).device
    found = []
    for model in models:
        batch = make_batch(model, sources, targets).to(device)
        encoded = model.network.encode(batch.source, batch.source_mask)
        found.append(word_log_probabilities(model.network, encoded, batch, attention))
    logs = mean(torch.stack([values for values, _ in found]), average)
    aligned = [weights for _, weights in found if weights is not None]
    weights = torch.stack(aligned).mean(dim=0).cpu().numpy() if aligned else None
    values, owners = logs.cpu().numpy(), batch.sentence.cpu().numpy()
    end = models[0].run.architecture.source_end
    found_forced = []
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        columns, rows = models[0].source.beginnings(source), models[0].target.beginnings(target)
        matrix = None if weights is None else weights[: rows[-1] + 1, row, : columns[-1] + end]
        forced = ForcedScores(values[owners == row], matrix)
        cut = models[0].source.subwords or models[0].target.subwords
        found_forced.append(_of_words(forced, rows, columns[: None if end else -1]) if cut else forced)
    return found_forced


def _of_words(units: ForcedScores, rows: list[int], columns: list[int]) -> ForcedScores:
    """Scores of subword units as those of words, which begin at `rows` (the end symbol is the last) and `columns`."""
    values = np.add.reduceat(units.word_log_probabilities, rows)
    if units.attention is None or not columns:
        return ForcedScores(values, units.attention)
    lengths = np.diff([*rows, len(units.attention)])[:, None]
    written = np.add.reduceat(units.attention, rows, axis=0) / lengths.astype(np.float32)
    return ForcedScores(values, np.add.reduceat(written, columns, axis=1))


def make_batch(
    model: TrainedModel, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> Batch:
    """Tokens as a padded batch of ids."""
    return pad_pairs(
        [np.array(model.source.ids(tokens), dtype=np.uint32) for tokens in sources],
        [np.array(model.target.ids(tokens), dtype=np.uint32) for tokens in targets],
        model.run.architecture.source_end,
    )


def word_log_probabilities(
    model: EncoderDecoder, encoded: Any, batch: Batch, attention: bool = True
) -> tuple[Tensor, Tensor | None]:
    """log p of the words at the batch's P positions, (P,) float64, and attention (T, B, S), or None without.

    `encoded`: the sources as the model has read them.

    Raises a `UserError` where the model computes no probabilities (NaN).

    States exist only some steps at a time, logits only a chunk: with the paper's sizes a long line's would fill the
    memory. Without attention memory grows with S + T, not with S T.
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
    """A UserError where a model computes something else than numbers, as with finite weights that are far too large."""
    if not values.isfinite().all():
        raise UserError(
            f"{work}: the model's numbers have become NaN or infinite; use other weights, or train the model again"
        )


def log_probabilities(model: EncoderDecoder, inputs: Sequence[Tensor], words: Tensor) -> Iterator[Tensor]:
    """log p of words (P,), float64, before which the output layer reads `inputs` (P, ...); a chunk at a time."""
    for start in range(0, len(words), CHUNK):
        rows = slice(start, start + CHUNK)
        logs = model.readout(*(part[rows] for part in inputs)).log_softmax(dim=1)
        yield logs.gather(1, words[rows].unsqueeze(1)).squeeze(1).double()


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Places of sentences of like length: at most `size`, and in all at most `size` times 50 words with padding."""
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
    """Scores of any number of pairs, in their order, in batches of up to `size` of like length."""
    found: dict[int, ForcedScores] = {}
    for batch in batches([max(len(source), len(target)) for source, target in pairs], size):
        sources, targets = zip(*(pairs[place] for place in batch), strict=True)
        found |= zip(batch, read(models, sources, targets, attention, average), strict=True)
    return [found[place] for place in range(len(pairs))]
