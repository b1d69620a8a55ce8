"""Bootstrap intervals of corpus BLEU over sentences (Koehn, 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from nmt.evaluation.bleu import BleuCounts


@dataclass(frozen=True)
class Bootstrap:
    """How often sentences are drawn anew, and the seed of it; no samples, no interval."""

    samples: int
    seed: int


def interval(counts: Sequence[BleuCounts], bootstrap: Bootstrap) -> tuple[float, float] | None:
    """The 2.5th and 97.5th percentile of corpus BLEU over bootstrap samples of sentences (Koehn, 2004)."""
    if not bootstrap.samples:
        return None
    generator = np.random.Generator(np.random.PCG64(bootstrap.seed))
    size = len(counts)
    return percentiles(counts, generator.multinomial(size, np.full(size, 1 / size), size=bootstrap.samples))


def percentiles(counts: Sequence[BleuCounts], drawn: NDArray[np.int64]) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of corpus BLEU over samples.

    `drawn`: how often each sample holds each sentence, (samples, sentences).
    """
    rows = np.array([count.row for count in counts], dtype=np.int64)
    scores = [_bleu(sums) for sums in (drawn @ rows).tolist()]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def _bleu(sums: list[int]) -> float:
    found = BLEU.compute_bleu(sums[:4], sums[4:8], sums[8], sums[9], smooth_method="none")
    return float(found.score)
