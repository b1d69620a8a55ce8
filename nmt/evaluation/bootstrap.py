"""Bootstrap of corpus BLEU over sentences and seeds: 95% intervals, and p-values of differences.

Each sample draws as many sentences as there are, with replacement (Koehn, 2004), the same ones for all systems. Of a
model with several runs, which differ in their seeds, it draws as many runs, with replacement, and its BLEU is the mean
of the drawn runs on the drawn sentences. With one run each these are the samples and p-values of sacrebleu's paired
bootstrap.

What few seeds can tell: means of drawn runs vary less than means of new runs would, by a factor of sqrt((R - 1) / R)
for R runs, and never lie beyond the lowest and the highest run. Where seeds matter far more than sentences, the
interval of two runs holds the mean of all possible runs in 50% of cases, that of three in 75%, that of five in 83%, not
in 95%. There p < 0.05 comes by chance in 34% of cases with two runs of each model, in 27% with three, in 20% with five.
So show the deviation over seeds beside the interval. With one run nothing is known of other seeds: interval and p are
of that run alone.

Runs of different models are drawn independently of one another. Those of a model that goes on from another's, seed by
seed, are alike, which makes the p of these two models too large, not too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from nmt.evaluation.bleu import BleuCounts
from nmt.evaluation.seeds import mean


@dataclass(frozen=True)
class Bootstrap:
    """How often sentences and runs are drawn anew, and the seed of it; no samples, no interval."""

    samples: int
    seed: int

    @property
    def sacrebleu_seed(self) -> int:
        """The seed that sacrebleu is given; 0 would mean none to it, so that its default takes that place."""
        return self.seed % 2**32 or 12345


class SampledBleu:
    """BLEU of the runs of one system on some sentences, and on samples of them.

    runs: BLEU of each run on all sentences, (R,); bleu: their mean; samples: BLEU of each run on each sample of
    sentences, (R, samples).
    """

    def __init__(self, runs: Sequence[Sequence[BleuCounts]], bootstrap: Bootstrap) -> None:
        """Draw the samples; `runs` holds for each run the counts of the same sentences, of at least one."""
        counts = [np.array([count.row for count in run], dtype=np.int64) for run in runs]
        drawn = _drawn_sentences(len(counts[0]), bootstrap)
        self.bootstrap = bootstrap
        self.runs = [_bleu(rows.sum(axis=0).tolist()) for rows in counts]
        self.samples = np.array([[_bleu(sums) for sums in (drawn @ rows).tolist()] for rows in counts])

    @property
    def bleu(self) -> float:
        """The mean over runs."""
        return mean(self.runs) or 0.0

    def interval(self) -> tuple[float, float] | None:
        """The 2.5th and 97.5th percentile of the mean; None without samples."""
        if not self.bootstrap.samples:
            return None
        low, high = np.percentile(_mean_of_drawn(self.samples, self.bootstrap), [2.5, 97.5])
        return float(low), float(high)

    def p_value(self, other: SampledBleu) -> float | None:
        """How likely chance alone makes a difference of the means as large as this one; None without samples.

        The share of samples whose difference is that much larger than differences are on average, as sacrebleu has it.
        Equal means are never a difference, though sacrebleu gives systems that are alike the least p.
        """
        if not self.bootstrap.samples:
            return None
        difference = abs(self.bleu - other.bleu)
        if not difference:
            return 1.0
        ours, theirs = (
            _mean_of_drawn(system.samples, self.bootstrap, place)
            for place, system in enumerate((self, other))
        )
        sizes = np.abs(ours - theirs)
        larger = int(np.sum(sizes - sizes.mean() > difference))
        return (larger + 1) / (self.bootstrap.samples + 1)


def interval(runs: Sequence[Sequence[BleuCounts]], bootstrap: Bootstrap) -> tuple[float, float] | None:
    """The 95% interval of the mean BLEU of some runs; None without samples."""
    return SampledBleu(runs, bootstrap).interval() if bootstrap.samples else None


def _mean_of_drawn(values: NDArray[np.float64], bootstrap: Bootstrap, place: int = 0) -> NDArray[np.float64]:
    """In each sample the mean of as many runs as there are, drawn with replacement; values: (R, samples).

    Runs are drawn by rank, so that their order does not matter; `place` is another for each of two systems.
    """
    generator = np.random.default_rng([bootstrap.sacrebleu_seed, place])
    drawn = generator.integers(len(values), size=values.shape)
    found: NDArray[np.float64] = np.take_along_axis(np.sort(values, axis=0), drawn, axis=0).mean(axis=0)
    return found


@lru_cache(maxsize=1)  # systems are compared on the same sentences
def _drawn_sentences(sentences: int, bootstrap: Bootstrap) -> NDArray[np.int64]:
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
