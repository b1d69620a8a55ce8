"""Ensembles of models, which average their predictions of the next word.

Every model encodes the source and keeps its own states in the search; all models get the same chosen words. Their
vocabularies must be the same; model types and sizes may differ. For E models, `average` is the mean of

    probability:        p(y_i) = 1/E sum_e p_e(y_i)
    log_probability:    log p(y_i) = 1/E sum_e log p_e(y_i), a geometric mean, whose sum over all words is at most 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.model.encoder_decoder import DecoderState, Encoded, EncoderDecoder, Prediction
from nmt.model.output_layer import Candidates
from nmt.settings.decoding import Average


@dataclass(frozen=True)
class EncodedByAll(Encoded):
    """The sentences as encoded by each model."""

    parts: list[Encoded]

    @property
    def tensor(self) -> Tensor:
        """See `Encoded.tensor`."""
        return self.parts[0].tensor

    def select(self, rows: Tensor) -> EncodedByAll:
        """Return the sentences at `rows`."""
        return EncodedByAll([part.select(rows) for part in self.parts])


class Ensemble:
    """Any number of models, which are used in a search like one `EncoderDecoder`."""

    def __init__(self, models: Sequence[EncoderDecoder], average: Average = "probability") -> None:
        """Take models that share their vocabularies and read the source alike (`trained_model.check_compatible`)."""
        self.models, self.average = list(models), average

    def encode(self, source: Tensor, lengths: Tensor) -> EncodedByAll:
        """Encode padded sources (S, B) with their lengths (B,)."""
        return EncodedByAll([model.encode(source, lengths) for model in self.models])

    def start_search(self, encoded: EncodedByAll, candidates: Candidates | None = None) -> EnsembleState:
        """Return the `DecoderState` of a search over encoded sentences."""
        parts = zip(self.models, encoded.parts, strict=True)
        return EnsembleState([model.start_search(part, candidates) for model, part in parts], self.average)


class EnsembleState:
    """The `DecoderState` of all models."""

    def __init__(self, parts: list[DecoderState], average: Average) -> None:
        self.parts, self.average = parts, average

    def predict(self, active_rows: Tensor | None = None) -> Prediction:
        """Return the mean of all models, and of the attention of those that have any.

        Only two distributions are in memory at a time.
        """
        total: Tensor | None = None
        weights = list[Tensor]()
        for part in self.parts:
            log_probs, attention = part.predict(active_rows)
            if attention is not None:
                weights.append(attention)
            if total is None:
                total = log_probs
            elif self.average == "probability":
                torch.logaddexp(total, log_probs, out=total)
            else:
                total += log_probs

        assert total is not None
        if self.average == "probability":
            total.sub_(math.log(len(self.parts)))
        else:
            total.div_(len(self.parts))
        return Prediction(total, torch.stack(weights).mean(dim=0) if weights else None)

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        for part in self.parts:
            part.reorder_and_append(parents, words)

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        for part in self.parts:
            part.select_sentences(rows)


def joined(models: Sequence[EncoderDecoder], average: Average = "probability") -> EncoderDecoder | Ensemble:
    """Return the model if there is one, or the ensemble of several models."""
    return models[0] if len(models) == 1 else Ensemble(models, average)
