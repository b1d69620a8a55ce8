"""The verdict of a run on each claim of its papers: holds, fails, undecided or not measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nmt.evaluation.bleu import BleuCounts
from pipeline.results.bootstrap import (
    SIGNIFICANCE_LEVEL,
    Bootstrap,
    SampledBleu,
    compute_interval,
    compute_p_value,
)
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
from pipeline.results.sentence_groups import (
    MIN_SENTENCES,
    ScoredSentence,
    ScoredSentences,
    count_words,
    is_in_column,
)
from pipeline.results.welch import run_welch_test

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"
"""The verdicts on a claim."""
_NO_COUNTS = BleuCounts([0] * 4, [0] * 4, 0, 0)
"""The n-gram counts of a sentence that does not count."""


class NotMeasuredError(Exception):
    """The run says nothing about a claim. The text says why."""


@dataclass(frozen=True)
class Measurement:
    """What a run says about a claim.

    text: the numbers of the systems, for readers. effect: a difference in the claim's direction, or a fraction.
    advantage: how far the effect supports the claim; negative if it contradicts it. interval: 95%. p: two-sided.
    interval and p are None if nothing is known about chance.
    """

    text: str
    effect: float
    advantage: float
    interval: tuple[float, float] | None = None
    p: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the claim holds. Without p, the sign of the advantage decides."""
        if self.p is not None and self.p >= SIGNIFICANCE_LEVEL:
            return UNDECIDED
        return HOLDS if self.advantage > 0 else FAILS


@dataclass(frozen=True)
class Decision:
    """A claim of a paper, with its measurement in the run, or the reason why there is none."""

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
                decisions.append(Decision(name, paper, claim, measurement=None, reason=str(error)))
    return decisions


# --- what the paper reports -------------------------------------------------------------------------------------------


def find_reported_effect(paper: Paper, claim: Claim) -> float | None:
    """Return the effect of a claim in the paper's numbers; None if the paper does not report all of them."""
    try:
        match claim:
            case HigherScore(sentences="all"):
                return _find_reported_lead(paper, claim.systems, claim.column)
            case WiderGap(sentences="all"):
                lead = _find_reported_lead(paper, claim.systems, claim.column)
                return lead - _find_reported_lead(paper, claim.systems, claim.than_column)
            case KeptScore(sentences="all", of_sentences="all"):
                score = _find_reported_score(paper, claim.system, claim.column)
                return score / _find_reported_score(paper, claim.system, claim.of_column)
            case AscendingNumbers():
                numbers = [_find_reported_number(paper, name, claim.table) for name in claim.systems]
                return min(number - previous_number for previous_number, number in pairwise(numbers))
    except KeyError:
        pass  # the paper has no such row, or no score in this column
    return None


def _find_reported_lead(paper: Paper, systems: tuple[str, str], column_path: str) -> float:
    """Return the first system's score minus the second's, or raise `KeyError`."""
    first, second = systems
    return _find_reported_score(paper, first, column_path) - _find_reported_score(paper, second, column_path)


def _find_reported_score(paper: Paper, system: str, column_path: str) -> float:
    """Return a system's score in the paper, or raise `KeyError`. column_path: such as table1.all."""
    table_name, column = column_path.split(".")
    table = paper.tables[table_name]
    assert isinstance(table, ScoreTable)
    role = paper.systems[system]
    row_name = role.reported_as if isinstance(role, ListsRole) else system
    return float(table.reported[row_name].scores[column])


def _find_reported_number(paper: Paper, system: str, table_name: str) -> float:
    """Return a system's development NLL or perplexity in the paper, or raise `KeyError`."""
    table = paper.tables[table_name]
    if isinstance(table, PerplexityTable):
        return table.reported[system]
    assert isinstance(table, TrainingTable)
    dev_nll = table.reported[system].dev_nll
    if dev_nll is None:
        raise KeyError(system)
    return dev_nll


# --- what the run measured --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judge:
    """Measures the claims of a paper in a run."""

    inputs: Inputs
    paper: Paper
    _bleu_cache: dict[tuple[str, str, Sentences], SampledBleu] = field(default_factory=dict)
    """BLEU by system, column and group of sentences."""

    def measure(self, claim: Claim) -> Measurement:
        """Return the measurement of a claim, or raise `NotMeasuredError`."""
        systems = [self._find_system(role_name) for role_name in claim.systems]
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
        """Return the name of the system that has a role in the run."""
        system = find_system(self.paper.systems[role_name], self.paper.systems, self.inputs.config)
        if system is None or system not in self.inputs.scores():
            raise NotMeasuredError(f"the run has no {self.paper.label_system(role_name)}")
        return system

    def _label(self, system: str) -> str:
        return self.inputs.settings.label(system)

    def _measure_higher_score(self, claim: HigherScore, first: str, second: str) -> Measurement:
        first_bleu = self._sample_bleu(first, claim.column, claim.sentences)
        second_bleu = self._sample_bleu(second, claim.column, claim.sentences)
        lead, lead_samples = _compute_lead(first_bleu, second_bleu)
        text = f"{self._label(first)} {first_bleu.bleu:.2f}, {self._label(second)} {second_bleu.bleu:.2f}"
        return _judge_samples(text, effect=lead, advantage=lead, samples=lead_samples)

    def _measure_wider_gap(self, claim: WiderGap, first: str, second: str) -> Measurement:
        """Compare the first system's lead on two groups of sentences. Each column has samples of its own."""
        lead, lead_samples = _compute_lead(
            self._sample_bleu(first, claim.column, claim.sentences),
            self._sample_bleu(second, claim.column, claim.sentences),
        )
        than_lead, than_lead_samples = _compute_lead(
            self._sample_bleu(first, claim.than_column, "all"),
            self._sample_bleu(second, claim.than_column, "all"),
        )
        gap = lead - than_lead
        text = f"{self._label(first)} leads {self._label(second)} by {lead:.2f} and {than_lead:.2f}"
        return _judge_samples(text, effect=gap, advantage=gap, samples=lead_samples - than_lead_samples)

    def _measure_kept_score(self, claim: KeptScore, system: str) -> Measurement:
        bleu = self._sample_bleu(system, claim.column, claim.sentences)
        base_bleu = self._sample_bleu(system, claim.of_column, claim.of_sentences)
        if base_bleu.bleu == 0:
            raise NotMeasuredError(f"the BLEU of {self._label(system)} is 0")
        fraction = bleu.bleu / base_bleu.bleu
        if claim.at_least is not None:
            advantage = fraction - claim.at_least
        else:
            assert claim.at_most is not None
            advantage = claim.at_most - fraction
        text = f"{self._label(system)} {bleu.bleu:.2f} and {base_bleu.bleu:.2f}"
        fractions = bleu.resample() / np.maximum(base_bleu.resample(), 1e-6)  # BLEU on a sample may be 0
        return _judge_samples(text, effect=fraction, advantage=advantage, samples=fractions)

    def _measure_ascending_numbers(self, claim: AscendingNumbers, systems: Sequence[str]) -> Measurement:
        """Compare each system with the next. The effect is the smallest increase, negative for a decrease."""
        # 1. the mean number of each system
        means = []
        deviations = []
        run_counts = []
        for system in systems:
            numbers = self._read_numbers(claim, system)
            mean = Mean.from_values(numbers)
            if mean.value is None:
                raise NotMeasuredError(f"{self._label(system)} has no such number")
            means.append(mean.value)
            deviations.append(mean.std)
            run_counts.append(len(numbers))

        # 2. the smallest increase, and its p if both systems have several runs
        increases = [mean - previous_mean for previous_mean, mean in pairwise(means)]
        effect = min(increases)
        index = increases.index(effect)
        previous_std, std = deviations[index : index + 2]
        p = None
        if previous_std is not None and std is not None:
            _, p = run_welch_test(effect, (previous_std, std), run_counts[index : index + 2])

        texts = [f"{self._label(system)} {mean:.2f}" for system, mean in zip(systems, means, strict=True)]
        return Measurement(", ".join(texts), effect=effect, advantage=effect, p=p)

    def _read_numbers(self, claim: AscendingNumbers, system: str) -> list[float | None]:
        """Return the development NLL or the perplexity of a system's runs."""
        if isinstance(self.paper.tables[claim.table], PerplexityTable):
            return [run["perplexity"] for run in self.inputs.perplexities().get(system, [])]

        # NLL is comparable only on the same sentences: on all (None), or within the same limit of length
        limits = set()
        for role_name in claim.systems:
            summary = self.inputs.summaries()[self._find_system(role_name)][0]
            limits.add(summary["max_words"] if summary["dev_sentences"] == "within_limit" else None)
        if len(limits) > 1:
            raise NotMeasuredError("the models have different development sentences")
        return [summary["dev_nll"] for summary in self.inputs.summaries()[system]]

    def _sample_bleu(self, system: str, column_path: str, group: Sentences) -> SampledBleu:
        """Return the BLEU of a system on a group of a column's sentences, also on samples of the column."""
        key = (system, column_path, group)
        if key not in self._bleu_cache:
            column = self.paper.find_column(column_path)
            runs = [
                get_scored_sentences(run, column.mode)
                for run in self.inputs.scores(column.set).get(system, [])
            ]
            if not runs:
                raise NotMeasuredError(f"{self._label(system)} has not translated the {column.set} set")

            # sentences outside of the group get no n-grams, so that all groups of a column have the same samples
            marks = self._mark_sentences(runs[0], column, group)
            counts = []
            for run in runs:
                run_counts = []
                for sentence, is_counted in zip(run, marks, strict=True):
                    run_counts.append(BleuCounts.from_dict(sentence) if is_counted else _NO_COUNTS)
                counts.append(run_counts)
            self._bleu_cache[key] = SampledBleu(counts, Bootstrap.from_settings(self.inputs.settings))
        return self._bleu_cache[key]

    def _mark_sentences(
        self, sentences: ScoredSentences, column: ScoreColumn, group: Sentences
    ) -> list[bool]:
        """Return for each sentence of a run whether it is in a column and in a group of the column's sentences."""
        settings = self.inputs.settings
        lengths = [count_words(sentence, settings.figure2_length) for sentence in sentences]
        longest_bounds = find_longest_lengths(lengths, settings)

        def is_in_group(sentence: ScoredSentence) -> bool:
            match group:
                case "all":
                    return True
                case "longest":
                    length = count_words(sentence, settings.figure2_length)
                    return longest_bounds is not None and longest_bounds[0] <= length <= longest_bounds[1]
                case "known_words":
                    return bool(sentence["source_unknown"] == 0)
                case "unknown_words":
                    return bool(sentence["source_unknown"] > 0)

        marks = [is_in_column(sentence, column, settings) and is_in_group(sentence) for sentence in sentences]
        if marks.count(True) < MIN_SENTENCES:
            raise NotMeasuredError(f"there are {marks.count(True)} such sentences")
        if group != "all" and all(marks):
            raise NotMeasuredError("all sentences are such sentences")
        return marks


def _compute_lead(first_bleu: SampledBleu, second_bleu: SampledBleu) -> tuple[float, NDArray[np.float64]]:
    """Return the first system's BLEU minus the second's, and this difference on samples."""
    return first_bleu.bleu - second_bleu.bleu, first_bleu.resample_difference(second_bleu)


def _judge_samples(text: str, effect: float, advantage: float, samples: NDArray[np.float64]) -> Measurement:
    """Return the measurement of an effect. Its values on samples, if there are any, give the interval and p."""
    if len(samples) == 0:
        return Measurement(text, effect, advantage)
    return Measurement(
        text, effect, advantage, compute_interval(samples), compute_p_value(samples, advantage)
    )
