"""Bootstrap of corpus BLEU over sentences and seeds: 95% intervals, and p-values of differences.

Each sample has as many sentences as there are, with replacement (Koehn, 2004), and the same sentences for all
systems. If a model has several runs with different seeds, the sample also draws as many runs as there are, with
replacement; the model's BLEU is then the mean of the sampled runs on the sampled sentences. With one run per model,
these are the samples of sacrebleu's paired bootstrap.

A p-value is two-sided: the fraction of samples whose difference d deviates from the mean of all samples'
differences by at least the observed difference, |d - mean(d)| >= |observed|. If two systems' translations are
exchanged at random, p < 0.05 occurs in about 5% of cases. sacrebleu's rule, |d| - mean(|d|) > |observed|, counts
one side, so its p is about half as large: p < 0.05 occurs in about 10% of cases.

The number of seeds limits the result. The mean of sampled runs varies less than the mean of new runs would, by a
factor of sqrt((R - 1) / R) for R runs, and is never beyond the lowest and the highest run. If seeds matter far more
than sentences, the interval contains the mean of all possible runs in 50% of cases with two runs, in 75% with
three, and in 83% with five, not in 95%. Then p < 0.05 occurs by chance in 33% of cases with two runs per model, in
20% with three, and in 13% with five. So tables also show the deviation over seeds. With one run, nothing is known
about other seeds: interval and p-value belong to that run alone.

Runs of different models are sampled independently of each other. If the runs of a model continue those of another
model, seed by seed, they are correlated, which makes the p-value of these two models too large, not too small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nmt.evaluation.bleu import compute_bleu, list_counts
from pipeline.results.seeds import Mean, ScoredSentences

SIGNIFICANCE_LEVEL = 0.05
"""A difference is significant if its p-value is smaller."""


@dataclass(frozen=True)
class Bootstrap:
    """Number of bootstrap samples, and their seed. Without samples, there is no interval."""

    sample_count: int
    seed: int


NO_SAMPLES = Bootstrap(sample_count=0, seed=0)


class SampledBleu:
    """BLEU of the runs of one system on some sentences, and on samples of these sentences.

    run_scores: BLEU of each run on all sentences, (runs,). bleu: their mean. sample_scores: BLEU of each run on each
    sample of sentences, (runs, samples).
    """

    def __init__(self, runs: Sequence[ScoredSentences], bootstrap: Bootstrap) -> None:
        """Draw the samples. `runs` has for each run the same sentences, at least one."""
        self.bootstrap = bootstrap
        rows = [[list_counts(sentence) for sentence in run] for run in runs]
        counts = np.array(rows, dtype=np.int64)  # (runs, sentences, 10)
        self.run_scores = [compute_bleu(row) for row in counts.sum(axis=1).tolist()]

        # how often each sample contains each sentence; one sample at a time, since all of them may need gigabytes
        sentence_count = counts.shape[1]
        generator = np.random.default_rng(bootstrap.seed)
        self.sample_scores = np.empty((len(runs), bootstrap.sample_count))
        for sample_index in range(bootstrap.sample_count):
            sample = generator.choice(sentence_count, size=sentence_count)
            occurrences = np.bincount(sample, minlength=sentence_count)
            sample_counts = occurrences @ counts  # (runs, 10)
            self.sample_scores[:, sample_index] = [compute_bleu(row) for row in sample_counts.tolist()]
        self.bleu = Mean.from_values(self.run_scores).value or 0.0

    def compute_interval(self) -> tuple[float, float] | None:
        """Return the 2.5th and 97.5th percentile of the mean over runs; None without samples."""
        return compute_interval(self.resample())

    def compute_p_value(self, other_system: Self) -> float | None:
        """Return the two-sided p-value of the difference between the means of two systems; None without samples."""
        return compute_p_value(self.resample_difference(other_system), self.bleu - other_system.bleu)

    def resample_difference(self, other_system: Self) -> NDArray[np.float64]:
        """Return the difference between the means of two systems on each sample, (samples,)."""
        # two streams of random numbers, so that the runs of the two systems are drawn independently
        return self.resample() - other_system.resample(stream=1)

    def resample(self, stream: int = 0) -> NDArray[np.float64]:
        """Return the mean score of runs drawn with replacement, for each sample, (samples,).

        On each sample, the scores of the runs are sorted before some are drawn, so that the order of the runs does not
        matter. A different stream of random numbers draws different runs.
        """
        generator = np.random.default_rng([self.bootstrap.seed, stream])
        ranks = generator.integers(len(self.sample_scores), size=self.sample_scores.shape)
        resampled_scores = np.take_along_axis(np.sort(self.sample_scores, axis=0), ranks, axis=0)
        means: NDArray[np.float64] = resampled_scores.mean(axis=0)
        return means


def compute_interval(samples: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of a number over samples; None without samples."""
    if not len(samples):
        return None
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


def compute_p_value(samples: NDArray[np.float64], deviation: float) -> float | None:
    """Return the two-sided p-value of the deviation of a number from the value that would mean no effect.

    samples: the number on each sample; without samples there is no p-value. The observed number counts as one more
    sample, so that p is never 0.
    """
    if not len(samples):
        return None
    extreme_count = int(np.sum(np.abs(samples - samples.mean()) >= abs(deviation)))
    return (extreme_count + 1) / (len(samples) + 1)
