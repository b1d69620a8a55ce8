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
from nmt.settings.decoding import Average


@dataclass(frozen=True)
class EnsembleEncoded(Encoded):
    """B sentences as encoded by each of E models."""

    encodings: list[Encoded]

    @property
    def tensor(self) -> Tensor:
        """See `Encoded.tensor`."""
        return self.encodings[0].tensor

    def select(self, rows: Tensor) -> EnsembleEncoded:
        """Return the sentences at `rows`."""
        return EnsembleEncoded([encoding.select(rows) for encoding in self.encodings])


@dataclass(frozen=True)
class Ensemble:
    """Any number of models, which are used in a search like one `EncoderDecoder`.

    They have the same vocabularies and the same `source_eos` (see `nmt.store.trained_model.check_compatible`).
    """

    models: Sequence[EncoderDecoder]
    average: Average

    def encode(self, source: Tensor, lengths: Tensor) -> EnsembleEncoded:
        """Encode padded sources (S, B) with their lengths (B,)."""
        return EnsembleEncoded([model.encode(source, lengths) for model in self.models])

    def start_search(self, encoded: EnsembleEncoded) -> EnsembleState:
        """Return the `DecoderState` of a search over encoded sentences."""
        states = []
        for model, encoding in zip(self.models, encoded.encodings, strict=True):
            states.append(model.start_search(encoding))
        return EnsembleState(states, self.average)


@dataclass(frozen=True)
class EnsembleState:
    """The `DecoderState` of all models."""

    states: list[DecoderState]
    average: Average

    def predict(self, active_hypotheses: Tensor | None = None) -> Prediction:
        """Return the log of the models' average probabilities, and the mean attention of the models with attention.

        With `average: log_probability`, return the average of the log-probabilities instead. Only two distributions are
        in memory at a time.
        """
        # the log of the sum, or the sum of the logs, which becomes the mean below
        mean_log_probs, attention = self.states[0].predict(active_hypotheses)
        attention_list = [attention]
        for state in self.states[1:]:
            log_probs, attention = state.predict(active_hypotheses)
            attention_list.append(attention)
            if self.average == "probability":
                torch.logaddexp(mean_log_probs, log_probs, out=mean_log_probs)
            else:
                mean_log_probs += log_probs

        if self.average == "probability":
            mean_log_probs.sub_(math.log(len(self.states)))
        else:
            mean_log_probs.div_(len(self.states))
        return Prediction(mean_log_probs, compute_mean_attention(attention_list))

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        for state in self.states:
            state.reorder_and_append(parents, words)

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        for state in self.states:
            state.select_sentences(rows)


def compute_mean_attention(attention_by_model: Sequence[Tensor | None]) -> Tensor | None:
    """Return the mean of the attention of all models that have any, or None if no model has attention."""
    attention_list = [attention for attention in attention_by_model if attention is not None]
    return torch.stack(attention_list).mean(dim=0) if attention_list else None
