"""Bootstrap of corpus BLEU over sentences and seeds: 95% intervals, and p-values of differences.

Each sample draws as many sentences as there are, with replacement (Koehn, 2004), and the same sentences for all
systems. If a model has several runs with different seeds, the sample also draws as many runs as there are, with
replacement; the model's BLEU is then the mean of the drawn runs on the drawn sentences. With one run per model, these
are the samples of sacrebleu's paired bootstrap.

A p-value is two-sided: the share of samples whose difference d deviates from the mean of all samples' differences by at
least the observed difference, |d - mean(d)| >= |observed|. If two systems' translations are exchanged at random, p <
0.05 occurs in about 5% of cases. sacrebleu's rule, |d| - mean(|d|) > |observed|, counts one side, so its p is about
half as large: p < 0.05 occurs in about 10% of cases.

The number of seeds limits the result. The mean of drawn runs varies less than the mean of new runs would, by a factor
of sqrt((R - 1) / R) for R runs, and is never beyond the lowest and the highest run. If seeds matter far more than
sentences, the interval contains the mean of all possible runs in 50% of cases with two runs, in 75% with three, and in
83% with five, not in 95%. Then p < 0.05 occurs by chance in 33% of cases with two runs per model, in 20% with three,
and in 13% with five. So tables show the deviation over seeds beside the interval. With one run, nothing is known about
other seeds: interval and p-value belong to that run alone.

Runs of different models are drawn independently of each other. If the runs of a model continue those of another model,
seed by seed, they are correlated, which makes the p-value of these two models too large, not too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nmt.evaluation.bleu import BleuCounts, compute_bleu
from pipeline.results.seeds import mean


@dataclass(frozen=True)
class Bootstrap:
    """Number of bootstrap samples, and their seed. Without samples, there is no interval."""

    samples: int
    seed: int

    @property
    def sacrebleu_seed(self) -> int:
        """The seed for sacrebleu. sacrebleu takes 0 as no seed, so its default seed replaces 0."""
        return self.seed % 2**32 or 12345


class SampledBleu:
    """BLEU of the runs of one system on some sentences, and on samples of these sentences.

    runs: BLEU of each run on all sentences, (R,); bleu: their mean; samples: BLEU of each run on each sample of
    sentences, (R, samples).
    """

    def __init__(self, runs: Sequence[Sequence[BleuCounts]], bootstrap: Bootstrap) -> None:
        """Draw the samples. `runs` holds the counts of the same sentences (at least one) for each run."""
        counts = [np.array([count.row for count in run], dtype=np.int64) for run in runs]
        drawn = _drawn_sentences(len(counts[0]), bootstrap)
        self.bootstrap = bootstrap
        self.runs = [compute_bleu(rows.sum(axis=0).tolist()) for rows in counts]
        self.samples = np.array([[compute_bleu(sums) for sums in (drawn @ rows).tolist()] for rows in counts])

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
        """Return the two-sided p-value of the difference between the means of two systems; None without samples.

        The observed difference counts as one more sample, so that p is never 0.
        """
        if not self.bootstrap.samples:
            return None
        ours, theirs = (
            _mean_of_drawn(system.samples, self.bootstrap, place)
            for place, system in enumerate((self, other))
        )
        differences = ours - theirs
        as_far = int(np.sum(np.abs(differences - differences.mean()) >= abs(self.bleu - other.bleu)))
        return (as_far + 1) / (self.bootstrap.samples + 1)


def interval(runs: Sequence[Sequence[BleuCounts]], bootstrap: Bootstrap) -> tuple[float, float] | None:
    """Return the 95% interval of the mean BLEU of some runs; None without samples."""
    return SampledBleu(runs, bootstrap).interval() if bootstrap.samples else None


def _mean_of_drawn(values: NDArray[np.float64], bootstrap: Bootstrap, place: int = 0) -> NDArray[np.float64]:
    """Return the mean of R runs drawn with replacement, for each sample; `values` is (R, samples).

    Runs are drawn by rank, so that their order does not matter. Two systems must have different values of `place`.
    """
    generator = np.random.default_rng([bootstrap.sacrebleu_seed, place])
    drawn = generator.integers(len(values), size=values.shape)
    found: NDArray[np.float64] = np.take_along_axis(np.sort(values, axis=0), drawn, axis=0).mean(axis=0)
    return found


@lru_cache(maxsize=1)  # systems are compared on the same sentences
def _drawn_sentences(sentences: int, bootstrap: Bootstrap) -> NDArray[np.int64]:
    """Return how often each sample contains each sentence, (samples, sentences)."""
    generator = np.random.default_rng(bootstrap.sacrebleu_seed)
    lines = generator.choice(sentences, size=(bootstrap.samples, sentences), replace=True)
    drawn = np.zeros((bootstrap.samples, sentences), dtype=np.int64)
    for times, sample in zip(drawn, lines, strict=True):
        times += np.bincount(sample, minlength=sentences)
    return drawn
