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

from nmt.data.bitext import Bitext, concatenate_ranges
from nmt.data.vocabulary import END, SPECIALS, Vocabulary
from nmt.errors import UserError
from nmt.model.output_layer import Candidates
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from nmt.store.trained_model import TrainedModel


@dataclass(frozen=True)
class Shortlist:
    """The target words that a translation may have.

    Attributes:
        likely_ids: the ids of the likely translations of each source word, (source vocabulary, likely words).
        frequent_count: number of the most frequent target ids, which all sentences may have.
        vocabulary_size: number of target ids.
    """

    likely_ids: Tensor
    frequent_count: int
    vocabulary_size: int

    def select_candidates(self, source: Tensor) -> Candidates:
        """Return the target words that translations of source sentences (S, B) may have.

        Padding has the id of the end symbol, and adds only the likely words of that.
        """
        # the ids that each sentence may have, (B, vocabulary_size)
        is_allowed = torch.zeros(
            source.shape[1], self.vocabulary_size, dtype=torch.bool, device=source.device
        )
        is_allowed[:, : self.frequent_count] = True
        likely_ids = self.likely_ids.to(source.device)[source.t()]  # (B, S, likely words)
        is_allowed.scatter_(1, likely_ids.flatten(1).long(), True)

        # the ids that any sentence of the batch may have, (W,)
        ids = is_allowed.any(dim=0).nonzero().squeeze(1)
        return Candidates(ids, ~is_allowed[:, ids])


def make_shortlist(
    vocabularies: tuple[Vocabulary, Vocabulary],
    bitext: Bitext,
    likely_count: int,
    frequent_count: int,
    output: Path,
) -> None:
    """Write the shortlist for a model's vocabularies.

    Args:
        vocabularies: the model's vocabularies of source and target.
        bitext: the model's training text.
        likely_count: number of likely translations of each source word.
        frequent_count: number of most frequent target words.
        output: the shortlist's file.
    """
    source, target = vocabularies
    bitext.check(source, target)
    likely_ids = find_likely_words(bitext, len(source), len(target), likely_count)
    metadata = {"frequent": str(frequent_count), "vocabularies": _format_checksums(source, target)}
    save_tensors(output, {"likely": torch.from_numpy(likely_ids)}, metadata)


def load_shortlist(path: Path, models: Sequence[TrainedModel]) -> Shortlist:
    """Load a shortlist for models that share their vocabularies.

    Raises:
        UserError: the file is no shortlist, or one for other vocabularies.
    """
    source, target = models[0].source_vocabulary, models[0].target_vocabulary
    tensors = load_tensors(path)
    metadata = load_metadata(path)
    if set(tensors) != {"likely"} or metadata.get("vocabularies") != _format_checksums(source, target):
        raise UserError(f"{path}: no shortlist for the model's vocabularies; make it with `nmt shortlist`")
    # the special symbols, whose ids come first, are always allowed
    frequent_count = max(len(SPECIALS), min(int(metadata["frequent"]), len(target)))
    return Shortlist(tensors["likely"], frequent_count, len(target))


def _format_checksums(source: Vocabulary, target: Vocabulary) -> str:
    """Return the checksums of two vocabularies as text, for the metadata of a file."""
    return json.dumps([source.sha256, target.sha256])


# --- likely translations, from the co-occurrence of words in pairs of sentences ---------------------------------------

Numbers = NDArray[np.int64]

MAX_PAIRS = 1_000_000
"""Number of pairs at the beginning of the bitext that are counted. Each of their words takes 45 bytes of memory."""


def find_likely_words(
    bitext: Bitext, source_size: int, target_size: int, likely_count: int
) -> NDArray[np.int32]:
    """Return the most associated target ids of each source id, best first: (source_size, likely_count).

    The association of words s and t is Dice's coefficient, 2 c(s, t) / (c(s) + c(t)), where a count is the number of
    pairs that contain the word, or both, at least once. Of equal associations, the more frequent word comes first. Rows
    with fewer words are filled with the end symbol. The first pairs of a shuffled bitext are a sample of all pairs.

    Args:
        bitext: the pairs.
        source_size: size of the source vocabulary.
        target_size: size of the target vocabulary.
        likely_count: number of target ids of each source id.
    """
    pair_count = min(MAX_PAIRS, len(bitext))

    # The pairs with source word s are pairs_of_words[pair_starts[s] : pair_starts[s + 1]], and the target words of
    # pair n are target_words[word_starts[n] : word_starts[n + 1]].
    words, pair_numbers = _list_words_with_pairs(bitext, "source", pair_count)
    pairs_of_words, pair_starts = _group_distinct(words, pair_numbers, source_size)
    words, pair_numbers = _list_words_with_pairs(bitext, "target", pair_count)
    target_words, word_starts = _group_distinct(pair_numbers, words, pair_count)
    del words, pair_numbers  # 16 bytes a word
    target_counts = np.bincount(target_words, minlength=target_size)  # c(t)

    likely_ids = np.full((source_size, likely_count), END, np.int32)
    for source_word in range(source_size):
        pairs = pairs_of_words[pair_starts[source_word] : pair_starts[source_word + 1]]
        words_of_pairs = target_words[concatenate_ranges(word_starts[pairs], word_starts[pairs + 1])]
        joint_counts = np.bincount(words_of_pairs, minlength=target_size)  # c(s, t)

        candidates = joint_counts.nonzero()[0]
        dice = 2 * joint_counts[candidates] / (len(pairs) + target_counts[candidates])
        best_words = candidates[np.argsort(-dice, kind="stable")[:likely_count]]
        likely_ids[source_word, : len(best_words)] = best_words
    return likely_ids


def _list_words_with_pairs(bitext: Bitext, side: str, pair_count: int) -> tuple[Numbers, Numbers]:
    """Return the ids of one side of the first pairs, and for each id the number of its pair."""
    ids, offsets = bitext.sides[side]
    lengths = np.diff(offsets[: pair_count + 1])
    return ids[: offsets[pair_count]].astype(np.int64), np.repeat(np.arange(pair_count), lengths)


def _group_distinct(groups: Numbers, members: Numbers, group_count: int) -> tuple[Numbers, Numbers]:
    """Return the distinct members of all groups, one group after the other, and the index at which each group begins.

    Example: the members [7, 5, 7, 2] of groups [1, 0, 1, 1] give the members [5, 2, 7] and the beginnings [0, 1, 3].
    """
    # give each pair of group and member one number, so that `unique` sorts them and leaves out duplicates
    base = int(members.max(initial=0)) + 1
    groups, members = np.divmod(np.unique(groups * base + members), base)
    return members, np.searchsorted(groups, np.arange(group_count + 1))
