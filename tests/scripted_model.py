"""A model whose next word depends on the last word only, as a table says: searches whose result is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.model.encoder_decoder import Encoded, Prediction


@dataclass(frozen=True)
class ScriptedSources(Encoded):
    """Sources; what they say does not matter. In 64 bits, probabilities are exact where they are powers of 2."""

    numbers: Tensor


def sources(count: int) -> ScriptedSources:
    """So many sources."""
    return ScriptedSources(torch.zeros(count, dtype=torch.float64))


class ScriptedModel:
    """Words are 0 to V - 1; `first` and `after[word]` hold V probabilities each, which need not sum to 1."""

    def __init__(self, first: list[float], after: dict[int, list[float]]) -> None:
        rows = [after.get(word, [0.0] * len(first)) for word in range(len(first))]
        self.table = torch.tensor([*rows, first], dtype=torch.float64).log()

    def start_search(self, encoded: ScriptedSources) -> ScriptedSteps:
        """The way through so many sources."""
        return ScriptedSteps(self.table, len(encoded))


class ScriptedSteps:
    """As in `nmt.model.encoder_decoder.DecoderState`."""

    def __init__(self, table: Tensor, sources: int) -> None:
        self.table, self.last = table, torch.full((sources, 1), len(table) - 1)

    def predict(self, active_hypotheses: Tensor | None = None) -> Prediction:
        """log p of the next word, (R, V)."""
        last = self.last.flatten()
        return Prediction(
            self.table[last if active_hypotheses is None else last[active_hypotheses]].clone(), None
        )

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """Only the last words count."""
        self.last = words

    def select_sentences(self, rows: Tensor) -> None:
        """Forget the others."""
        self.last = self.last[rows]
