"""Example sentences of the test set: the paper's own if the set has them, others drawn with a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt.evaluation.translations import TranslationRecord
from pipeline.preparation import matching_key


def papers_own(records: Sequence[TranslationRecord], openings: Sequence[str]) -> list[TranslationRecord]:
    """Return the sentences whose source begins with one of `openings`, in the order of these.

    Letters and digits decide, so that it does not matter how a text was tokenized.
    """
    found = []
    for opening in map(matching_key, openings):
        matching = (record for record in records if matching_key(" ".join(record.source)).startswith(opening))
        found += list(matching)[:1]
    return found


def draw(
    records: Sequence[TranslationRecord], count: int, seed: int, taken: Sequence[TranslationRecord] = ()
) -> list[TranslationRecord]:
    """Return so many records at random, none of them among the lines `taken`; fewer where there are no more."""
    lines = {record.line for record in taken}
    rest = [record for record in records if record.line not in lines]
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(rest))
    return [rest[index] for index in order[:count]]
