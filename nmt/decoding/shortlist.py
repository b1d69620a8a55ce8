"""A shortlist of target words for each sentence, so that the output layer is not computed for all target words.

As in Jean et al. (2015, Sec. 3.3), it has the most frequent words, and the likely translations of each source word.
Probabilities are normalised over the shortlist of a sentence, so that they do not depend on the batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from nmt.data.bitext import Bitext
from nmt.data.co_occurrence import likely_words
from nmt.data.vocabulary import SPECIALS
from nmt.errors import UserError
from nmt.model.readout import Candidates
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from nmt.store.trained_model import TrainedModel


@dataclass(frozen=True)
class Shortlist:
    """The first `frequent` of `words` target ids, and the ids of `likely`, (source vocabulary, N)."""

    likely: Tensor
    frequent: int
    words: int

    def candidates(self, source: Tensor) -> Candidates:
        """Return the target words for sentences (S, B), whose padding has the end symbol's id."""
        allowed = torch.zeros(source.shape[1], self.words, dtype=torch.bool, device=source.device)
        allowed[:, : self.frequent] = True
        allowed.scatter_(1, self.likely.to(source.device)[source.t()].flatten(1).long(), True)
        ids = allowed.any(dim=0).nonzero().squeeze(1)
        return Candidates(ids, ~allowed[:, ids])


def make(model: TrainedModel, bitext: Bitext, likely: int, frequent: int, pairs: int, output: Path) -> None:
    """Write the shortlist for a model's vocabularies, from the model's training text."""
    refuse_other_vocabularies(model, bitext)
    bitext.refuse_altered()
    words = likely_words(bitext, len(model.source), len(model.target), likely, pairs)
    save_tensors(
        output,
        {"likely": torch.from_numpy(words)},
        {"frequent": str(frequent), "vocabularies": _vocabularies(model)},
    )


def load(path: Path, models: Sequence[TrainedModel]) -> Shortlist:
    """Load a shortlist for models that share their vocabularies. Raise a UserError if it is for other vocabularies."""
    if not path.exists():
        raise UserError(f"{path}: no such file; make it with `nmt shortlist`")
    tensors, metadata = load_tensors(path), load_metadata(path)
    if set(tensors) != {"likely"} or "frequent" not in metadata:
        raise UserError(f"{path}: not a shortlist; expected a file that `nmt shortlist` wrote")
    if metadata.get("vocabularies") != _vocabularies(models[0]):
        raise UserError(f"{path}: made for other vocabularies than the model's; make it with `nmt shortlist`")
    words = len(models[0].target)
    return Shortlist(tensors["likely"], max(len(SPECIALS), min(int(metadata["frequent"]), words)), words)


def refuse_other_vocabularies(model: TrainedModel, bitext: Bitext) -> None:
    """Raise a UserError for a bitext that was made with other vocabularies than the model's."""
    for side, vocabulary in (("source", model.source), ("target", model.target)):
        if getattr(bitext.meta, f"{side}_vocabulary_sha256") != vocabulary.sha256:
            raise UserError(
                f"{bitext.folder}: made with another {side} vocabulary than the model's; "
                f"name the bitext that the model was trained on"
            )


def _vocabularies(model: TrainedModel) -> str:
    return json.dumps([model.source.sha256, model.target.sha256])
