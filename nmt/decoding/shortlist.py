"""A shortlist of target words for each sentence, so that the output layer is not computed for all target words.

As in Jean et al. (2015, Sec. 3.3), it has the most frequent words, and the likely translations of each source word.
Probabilities are normalised over the shortlist of a sentence, so that they do not depend on the batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.bitext import Bitext, Ids, concatenate_ranges
from nmt.data.vocabulary import END, SPECIALS, Vocabulary
from nmt.errors import UserError
from nmt.model.output_layer import Candidates
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


def make_shortlist(
    vocabularies: tuple[Vocabulary, Vocabulary], bitext: Bitext, likely: int, frequent: int, output: Path
) -> None:
    """Write the shortlist for a model's vocabularies, from the model's training text."""
    source, target = vocabularies
    bitext.check(source, target)
    words = likely_words(bitext, len(source), len(target), likely)
    save_tensors(
        output,
        {"likely": torch.from_numpy(words)},
        {"frequent": str(frequent), "vocabularies": _checksums(source, target)},
    )


def load_shortlist(path: Path, models: Sequence[TrainedModel]) -> Shortlist:
    """Load a shortlist for models that share their vocabularies. Raise a UserError if it is another file."""
    tensors, metadata = load_tensors(path), load_metadata(path)
    if set(tensors) != {"likely"} or metadata.get("vocabularies") != _checksums(
        models[0].source, models[0].target
    ):
        raise UserError(f"{path}: no shortlist for the model's vocabularies; make it with `nmt shortlist`")
    words = len(models[0].target)
    return Shortlist(tensors["likely"], max(len(SPECIALS), min(int(metadata["frequent"]), words)), words)


def _checksums(source: Vocabulary, target: Vocabulary) -> str:
    return json.dumps([source.sha256, target.sha256])


# --- likely translations, from the co-occurrence of words in pairs of sentences ---------------------------------------

Numbers = NDArray[np.int64]


MOST_PAIRS = 1_000_000
"""Number of pairs to count, from the first; each of their words takes 45 bytes of memory."""


def likely_words(bitext: Bitext, source_words: int, target_words: int, each: int) -> NDArray[np.int32]:
    """Return the `each` most associated target ids of each source id, best first.

    The association of words s and t is Dice's coefficient, 2 c(s, t) / (c(s) + c(t)), where a count is the number of
    pairs that contain the word, or both, at least once. Of equal associations, the more frequent word comes first. The
    shape is (`source_words`, `each`); rows with fewer words are filled with the end symbol. The first pairs of a
    shuffled bitext are a sample of all pairs.
    """
    pairs = min(MOST_PAIRS, len(bitext))
    containing, first_pair = _distinct(_words_of(bitext, "source", pairs), source_words, by_word=True)
    inside, first_word = _distinct(_words_of(bitext, "target", pairs), pairs, by_word=False)
    frequencies = np.bincount(inside, minlength=target_words)
    likely = np.full((source_words, each), END, np.int32)
    for word in range(source_words):
        own = containing[first_pair[word] : first_pair[word + 1]]
        together = np.bincount(
            inside[concatenate_ranges(first_word[own], first_word[own + 1])], minlength=target_words
        )
        seen = together.nonzero()[0]
        dice = 2 * together[seen] / (len(own) + frequencies[seen])
        best = seen[np.argsort(-dice, kind="stable")[:each]]
        likely[word, : len(best)] = best
    return likely


def _words_of(bitext: Bitext, side: str, pairs: int) -> tuple[Ids, Numbers]:
    """Return the ids of the first sentences of a side, and the number of the pair of each id."""
    ids, offsets = bitext.sides[side]
    numbers = np.repeat(np.arange(pairs), np.diff(offsets[: pairs + 1]))
    return ids[: offsets[pairs]], numbers


def _distinct(words: tuple[Ids, Numbers], groups: int, by_word: bool) -> tuple[Numbers, Numbers]:
    """Return pairs grouped by words, or words grouped by pairs, without duplicates, and the groups' beginnings."""
    ids, numbers = words
    outer, inner = (ids.astype(np.int64), numbers) if by_word else (numbers, ids.astype(np.int64))
    base = int(inner.max(initial=0)) + 1
    outer, inner = np.divmod(np.unique(outer * base + inner), base)
    return inner, np.searchsorted(outer, np.arange(groups + 1))
