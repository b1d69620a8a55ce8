"""Bootstrap intervals of corpus BLEU over sentences (Koehn, 2004), from the samples of sacrebleu's paired bootstrap.

So intervals are of the samples from which sacrebleu's p-values of the same sentences follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from nmt.evaluation.bleu import BleuCounts


@dataclass(frozen=True)
class Bootstrap:
    """How often sentences are drawn anew, and the seed of it; no samples, no interval."""

    samples: int
    seed: int

    @property
    def sacrebleu_seed(self) -> int:
        """The seed that sacrebleu is given; 0 would mean none to it, so that its default takes that place."""
        return self.seed % 2**32 or 12345


def interval(counts: Sequence[BleuCounts], bootstrap: Bootstrap) -> tuple[float, float] | None:
    """The 2.5th and 97.5th percentile of corpus BLEU over bootstrap samples of sentences; None without samples."""
    if not bootstrap.samples:
        return None
    rows = np.array([count.row for count in counts], dtype=np.int64)
    scores = [_bleu(sums) for sums in (_drawn(len(counts), bootstrap) @ rows).tolist()]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


@lru_cache(maxsize=1)  # systems are compared on the same sentences
def _drawn(sentences: int, bootstrap: Bootstrap) -> NDArray[np.int64]:
    """How often each sample holds each sentence, (samples, sentences)."""
    generator = np.random.default_rng(bootstrap.sacrebleu_seed)
    lines = generator.choice(sentences, size=(bootstrap.samples, sentences), replace=True)
    drawn = np.zeros((bootstrap.samples, sentences), dtype=np.int64)
    for times, sample in zip(drawn, lines, strict=True):
        times += np.bincount(sample, minlength=sentences)
    return drawn


def _bleu(sums: list[int]) -> float:
    found = BLEU.compute_bleu(sums[:4], sums[4:8], sums[8], sums[9], smooth_method="none")
    return float(found.score)
