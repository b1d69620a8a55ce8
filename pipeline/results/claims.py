"""The verdict of a run on each claim of its papers: holds, fails, undecided or not measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nmt.evaluation.bleu import BleuCounts
from pipeline.results.bootstrap import Bootstrap, SampledBleu, compute_interval, compute_p_value
from pipeline.results.claim_systems import find_system
from pipeline.results.headline import find_longest_lengths
from pipeline.results.inputs import Inputs
from pipeline.results.paper_claims import (
    AscendingNumbers,
    Claim,
    HigherScore,
    KeptScore,
    ListsRole,
    Sentences,
    WiderGap,
)
from pipeline.results.papers import Paper, PerplexityTable, ScoreColumn, ScoreTable, TrainingTable
from pipeline.results.seeds import Mean, get_scored_sentences
from pipeline.results.sentence_groups import MIN_SENTENCES, ScoredSentences, count_words, select_by_length
from pipeline.results.welch import run_welch_test

SIGNIFICANCE_LEVEL = 0.05
NOT_MEASURED = "not measured"
_NO_COUNTS = BleuCounts([0] * 4, [0] * 4, 0, 0)


class NotMeasuredError(Exception):
    """A claim is not decided by the run. The text says why."""


@dataclass(frozen=True)
class Measurement:
    """What a run says about a claim.

    text: the numbers of the systems, for readers. effect: a difference in the claim's direction, or a fraction.
    advantage: how far the effect is on the claim's side; negative on the other side. interval: 95%. p: two-sided.
    interval, p: None where nothing is known about chance.
    """

    text: str
    effect: float
    advantage: float
    interval: tuple[float, float] | None = None
    p: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the claim holds. Without p, the sign decides."""
        if self.p is not None and self.p >= SIGNIFICANCE_LEVEL:
            return "undecided"
        return "holds" if self.advantage > 0 else "fails"


@dataclass(frozen=True)
class Decision:
    """A claim of a paper, and what the run says about it: a measurement, or the reason why there is none."""

    name: str
    paper: Paper
    claim: Claim
    measurement: Measurement | None
    reason: str = ""

    @property
    def verdict(self) -> str:
        """Holds, fails, undecided or not measured."""
        return self.measurement.verdict if self.measurement else NOT_MEASURED


def decide_claims(inputs: Inputs) -> list[Decision]:
    """Return the verdict on each claim of the run's papers."""
    decisions = []
    for paper in inputs.papers.values():
        judge = _Judge(inputs, paper)
        for name, claim in paper.claims.items():
            try:
                decisions.append(Decision(name, paper, claim, judge.measure(claim)))
            except NotMeasuredError as error:
                decisions.append(Decision(name, paper, claim, None, str(error)))
    return decisions


# --- what the paper reports -------------------------------------------------------------------------------------------


def find_reported_effect(paper: Paper, claim: Claim) -> float | None:
    """Return the effect of a claim in the numbers that the paper reports; None if it does not report them all."""
    try:
        match claim:
            case HigherScore(sentences="all"):
                return _find_reported_lead(paper, claim.systems, claim.column)
            case WiderGap(sentences="all", than_sentences="all"):
                lead = _find_reported_lead(paper, claim.systems, claim.column)
                return lead - _find_reported_lead(paper, claim.systems, claim.than_column)
            case KeptScore(sentences="all", of_sentences="all"):
                score = _find_reported_score(paper, claim.system, claim.column)
                return score / _find_reported_score(paper, claim.system, claim.of_column)
            case AscendingNumbers():
                numbers = [_find_reported_number(paper, name, claim.table) for name in claim.systems]
                return min(number - lower_number for lower_number, number in pairwise(numbers))
    except KeyError:
        pass  # the paper has no such row, or no score in this column
    return None


def _find_reported_lead(paper: Paper, systems: tuple[str, str], column_path: str) -> float:
    first, second = (_find_reported_score(paper, system, column_path) for system in systems)
    return first - second


def _find_reported_score(paper: Paper, system: str, column_path: str) -> float:
    """Return a score of the paper, or raise `KeyError`."""
    role = paper.systems[system]
    table, column = column_path.split(".")
    spec = paper.tables[table]
    assert isinstance(spec, ScoreTable)
    row = spec.reported[role.reported_as if isinstance(role, ListsRole) else system]
    return float(row.scores[column])


def _find_reported_number(paper: Paper, system: str, table: str) -> float:
    """Return a development NLL or perplexity of the paper, or raise `KeyError`."""
    spec = paper.tables[table]
    if isinstance(spec, PerplexityTable):
        return spec.reported[system]
    assert isinstance(spec, TrainingTable)
    dev_nll = spec.reported[system].dev_nll
    if dev_nll is None:
        raise KeyError(system)
    return dev_nll


# --- what the run measured --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judge:
    """Measures the claims of a paper in a run."""

    inputs: Inputs
    paper: Paper
    _samples: dict[tuple[str, str, Sentences], SampledBleu] = field(default_factory=dict)
    """By system, column and sentences."""

    def measure(self, claim: Claim) -> Measurement:
        """Return what the run says about a claim; `NotMeasuredError` if it says nothing."""
        systems = [self._find_system(role) for role in claim.systems]
        match claim:
            case HigherScore():
                return self._measure_higher_score(claim, systems[0], systems[1])
            case WiderGap():
                return self._measure_wider_gap(claim, systems[0], systems[1])
            case KeptScore():
                return self._measure_kept_score(claim, systems[0])
            case AscendingNumbers():
                return self._measure_ascending_numbers(claim, systems)

    def _find_system(self, role_name: str) -> str:
        """Return the system of the run that has a role."""
        system = find_system(self.paper.systems[role_name], self.paper.systems, self.inputs.config)
        if system is None or system not in self.inputs.scores():
            raise NotMeasuredError(f"the run has no {self.paper.label_system(role_name)}")
        return system

    def _label(self, system: str) -> str:
        return self.inputs.settings.label(system)

    def _measure_higher_score(self, claim: HigherScore, first: str, second: str) -> Measurement:
        bleu = self._sample(first, claim.column, claim.sentences)
        other_bleu = self._sample(second, claim.column, claim.sentences)
        effect = bleu.bleu - other_bleu.bleu
        text = f"{self._label(first)} {bleu.bleu:.2f}, {self._label(second)} {other_bleu.bleu:.2f}"
        return _judge_samples(text, effect, effect, bleu.resample() - other_bleu.resample(stream=1))

    def _measure_wider_gap(self, claim: WiderGap, first: str, second: str) -> Measurement:
        """Compare the leads of the first system. Different columns have samples of their own."""
        leads = []
        lead_samples = []
        for column, group in (
            (claim.column, claim.sentences),
            (claim.than_column, claim.than_sentences),
        ):
            bleu, other_bleu = self._sample(first, column, group), self._sample(second, column, group)
            leads.append(bleu.bleu - other_bleu.bleu)
            lead_samples.append(bleu.resample() - other_bleu.resample(stream=1))
        effect = leads[0] - leads[1]
        text = f"{self._label(first)} leads {self._label(second)} by {leads[0]:.2f} and {leads[1]:.2f}"
        return _judge_samples(text, effect, effect, lead_samples[0] - lead_samples[1])

    def _measure_kept_score(self, claim: KeptScore, system: str) -> Measurement:
        bleu = self._sample(system, claim.column, claim.sentences)
        whole_bleu = self._sample(system, claim.of_column, claim.of_sentences)
        if whole_bleu.bleu == 0:
            raise NotMeasuredError(f"the BLEU of {self._label(system)} is 0")
        fraction = bleu.bleu / whole_bleu.bleu
        if claim.at_least is not None:
            advantage = fraction - claim.at_least
        else:
            assert claim.at_most is not None
            advantage = claim.at_most - fraction
        text = f"{self._label(system)} {bleu.bleu:.2f} and {whole_bleu.bleu:.2f}"
        fractions = bleu.resample() / np.maximum(whole_bleu.resample(), 1e-6)
        return _judge_samples(text, fraction, advantage, fractions)

    def _measure_ascending_numbers(self, claim: AscendingNumbers, systems: Sequence[str]) -> Measurement:
        """Compare neighbours in the claimed order. The effect is the smallest step up, negative if one goes down."""
        # 1. the number of each system
        means = []
        numbers_by_system = [self._read_numbers(claim, system) for system in systems]
        for system, numbers in zip(systems, numbers_by_system, strict=True):
            mean = Mean.from_values(numbers)
            if mean.value is None:
                raise NotMeasuredError(f"{self._label(system)} has no such number")
            means.append((mean.value, mean.std))

        # 2. the smallest step, and its p if both systems have several runs
        steps = [upper - lower for (lower, _), (upper, _) in pairwise(means)]
        effect = min(steps)
        index = steps.index(effect)
        (_, lower_std), (_, upper_std) = means[index : index + 2]
        p = None
        if lower_std is not None and upper_std is not None:
            counts = [len(numbers) for numbers in numbers_by_system[index : index + 2]]
            _, p = run_welch_test(effect, (lower_std, upper_std), counts)

        texts = [
            f"{self._label(system)} {mean:.2f}" for system, (mean, _) in zip(systems, means, strict=True)
        ]
        return Measurement(", ".join(texts), effect, effect, p=p)

    def _read_numbers(self, claim: AscendingNumbers, system: str) -> list[float | None]:
        """Return the development NLL or the perplexity of a system's runs."""
        if isinstance(self.paper.tables[claim.table], PerplexityTable):
            return [run["perplexity"] for run in self.inputs.perplexities().get(system, [])]

        # the same development sentences for all models, unless each has those within its own limit
        limits = set()
        for role in claim.systems:
            summary = self.inputs.summaries()[self._find_system(role)][0]
            limits.add(summary["max_words"] if summary["dev_sentences"] == "within_limit" else None)
        if len(limits) > 1:
            raise NotMeasuredError("the models have different development sentences")
        return [summary["dev_nll"] for summary in self.inputs.summaries()[system]]

    def _sample(self, system: str, column_path: str, group: Sentences) -> SampledBleu:
        """Return the BLEU of a system on some sentences of a column, also on samples of the column's sentences."""
        key = (system, column_path, group)
        if key not in self._samples:
            column = self.paper.find_column(column_path)
            runs = [
                get_scored_sentences(run, column.mode)
                for run in self.inputs.scores(column.set).get(system, [])
            ]
            if not runs:
                raise NotMeasuredError(f"{self._label(system)} has not translated the {column.set} set")

            # a sentence outside of the group has no n-grams, so that groups of one column have the same samples
            is_in_group = self._select_sentences(runs[0], column, group)
            counts = []
            for run in runs:
                run_counts = []
                for sentence, is_counted in zip(run, is_in_group, strict=True):
                    run_counts.append(BleuCounts.from_dict(sentence) if is_counted else _NO_COUNTS)
                counts.append(run_counts)
            self._samples[key] = SampledBleu(counts, Bootstrap.from_settings(self.inputs.settings))
        return self._samples[key]

    def _select_sentences(
        self, sentences: ScoredSentences, column: ScoreColumn, group: Sentences
    ) -> list[bool]:
        """Return for each sentence of a run whether it belongs to a group of the column's sentences."""
        length = self.inputs.settings.figure2_length
        is_in_group = []
        bounds = column.words or (0, 10**9)
        lengths = [count_words(sentence, length) for sentence in sentences]
        longest_bounds = find_longest_lengths(lengths, self.inputs.settings) or (1, 0)
        for sentence in sentences:
            is_counted = bool(select_by_length([sentence], *bounds, column.words_of or length))
            if group == "longest":
                is_counted &= bool(select_by_length([sentence], *longest_bounds, length))
            elif group != "all":
                is_counted &= (sentence["source_unknown"] > 0) == (group == "unknown_words")
            is_in_group.append(is_counted)

        if sum(is_in_group) < MIN_SENTENCES:
            raise NotMeasuredError(f"there are {sum(is_in_group)} such sentences")
        if group != "all" and all(is_in_group):
            raise NotMeasuredError("all sentences are such sentences")
        return is_in_group


def _judge_samples(text: str, effect: float, advantage: float, samples: NDArray[np.float64]) -> Measurement:
    """Return the measurement of an effect, with interval and p from its values on samples, if there are any."""
    if not len(samples):
        return Measurement(text, effect, advantage)
    return Measurement(
        text, effect, advantage, compute_interval(samples), compute_p_value(samples, advantage)
    )
