"""The verdict of a run on each claim of its papers: holds, fails, undecided or not measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from pipeline.results.bootstrap import (
    SIGNIFICANCE_LEVEL,
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
    KeptScore,
    ListsRole,
    ScoreClaim,
    Sentences,
)
from pipeline.results.papers import Paper, PerplexityTable, ScoreColumn, TrainingTable
from pipeline.results.seeds import Mean, ScoredSentences, get_scored_sentences
from pipeline.results.sentence_groups import MIN_SENTENCES, count_words, is_in_column
from pipeline.results.welch import compute_order_p_value

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"
"""The verdicts on a claim."""
_NO_COUNTS: dict[str, Any] = {
    "correct": [0] * 4,
    "total": [0] * 4,
    "hypothesis_words": 0,
    "reference_words": 0,
}
"""The n-gram counts of a sentence that does not count."""


class NotMeasuredError(Exception):
    """The run says nothing about a claim. The text says why."""


@dataclass(frozen=True)
class Measurement:
    """What a run says about a claim.

    text: the numbers of the systems, for readers; or the reason why there are none. effect: a difference in the claim's
    direction, or a fraction; None if the claim is not measured. advantage: how far the effect supports the claim;
    negative if it contradicts it. interval: 95%. p: two-sided. Both are None if nothing is known about chance.
    """

    text: str
    effect: float | None = None
    advantage: float = 0.0
    interval: tuple[float, float] | None = None
    p: float | None = None

    @property
    def verdict(self) -> str:
        """Holds, fails, undecided or not measured. Without p, the sign of the advantage decides."""
        if self.effect is None:
            return NOT_MEASURED
        if self.p is not None and self.p >= SIGNIFICANCE_LEVEL:
            return UNDECIDED
        return HOLDS if self.advantage > 0 else FAILS


class Decision(NamedTuple):
    """A claim of a paper, and what the run says about it."""

    name: str
    paper: Paper
    claim: Claim
    measurement: Measurement


def decide_claims(inputs: Inputs) -> list[Decision]:
    """Return the verdict on each claim of the run's papers."""
    decisions = []
    for paper in inputs.papers.values():
        judge = _Judge(inputs, paper)
        for name, claim in paper.claims.items():
            try:
                measurement = judge.measure(claim)
            except NotMeasuredError as error:
                measurement = Measurement(str(error))
            decisions.append(Decision(name, paper, claim, measurement))
    return decisions


# --- what the paper reports -------------------------------------------------------------------------------------------


def find_reported_effect(paper: Paper, claim: Claim) -> float | None:
    """Return the effect of a claim in the paper's numbers; None if the paper does not report all of them."""
    try:
        if isinstance(claim, AscendingNumbers):
            numbers = [_find_reported_number(paper, name, claim.table) for name in claim.systems]
        else:
            numbers = [_find_reported_score(paper, *place) for place in claim.list_scores()]
    except KeyError:
        return None  # the paper has no such row, or no score in this column
    return float(claim.compute_effect(numbers))


def _find_reported_score(paper: Paper, system: str, column_path: str, sentences: Sentences) -> float:
    """Return a system's score in the paper, or raise `KeyError`. column_path: such as table1.all."""
    if sentences != "all":
        raise KeyError(sentences)
    table, column = paper.find_score_table(column_path)
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


class _Judge:
    """Measures the claims of a paper in a run."""

    def __init__(self, inputs: Inputs, paper: Paper) -> None:
        self.inputs = inputs
        self.paper = paper
        self.sample_bleu = cache(self._sample_bleu)  # several claims need the same BLEU

    def measure(self, claim: Claim) -> Measurement:
        """Return the measurement of a claim, or raise `NotMeasuredError`."""
        systems = [self._find_system(role_name) for role_name in claim.systems]
        if isinstance(claim, AscendingNumbers):
            return self._measure_numbers(claim, systems)
        return self._measure_scores(claim, [self.inputs.settings.label(system) for system in systems])

    def _find_system(self, role_name: str) -> str:
        """Return the name of the system that has a role in the run."""
        system = find_system(self.paper.systems[role_name], self.paper.systems, self.inputs.config)
        if system is None or system not in self.inputs.scores():
            raise NotMeasuredError(f"the run has no {self.paper.label_system(role_name)}")
        return system

    def _measure_scores(self, claim: ScoreClaim, labels: Sequence[str]) -> Measurement:
        """Measure a claim on scores. labels: the names of its systems for readers."""
        # 1. BLEU of each system on each group of sentences
        places = claim.list_scores()
        sampled_scores = [self.sample_bleu(*place) for place in places]
        scores = [sampled_bleu.bleu for sampled_bleu in sampled_scores]
        if isinstance(claim, KeptScore):
            if scores[1] == 0:
                raise NotMeasuredError(f"the BLEU of {labels[0]} is 0")
            text = f"{labels[0]} {scores[0]:.2f} and {scores[1]:.2f}"
        elif claim.than_column:
            lead, other_lead = scores[0] - scores[1], scores[2] - scores[3]
            text = f"{labels[0]} leads {labels[1]} by {lead:.2f} and {other_lead:.2f}"
        else:
            text = f"{labels[0]} {scores[0]:.2f}, {labels[1]} {scores[1]:.2f}"
        effect = float(claim.compute_effect(scores))
        advantage = effect
        if isinstance(claim, KeptScore):
            advantage = min(effect - claim.at_least, claim.at_most - effect)

        # 2. the same on samples, where each system has a stream of random numbers of its own
        resampled_scores = []
        for (role_name, *_), sampled_bleu in zip(places, sampled_scores, strict=True):
            resampled_scores.append(sampled_bleu.resample(stream=claim.systems.index(role_name)))
        if isinstance(claim, KeptScore) and not resampled_scores[1].all():
            raise NotMeasuredError(f"the BLEU of {labels[0]} is 0 on some samples of sentences")
        samples = claim.compute_effect(resampled_scores)
        return Measurement(
            text, effect, advantage, compute_interval(samples), compute_p_value(samples, advantage)
        )

    def _sample_bleu(self, role_name: str, column_path: str, group: Sentences) -> SampledBleu:
        """Return the BLEU of a system on a group of a column's sentences, also on samples of the column."""
        system = self._find_system(role_name)
        table, column_name = self.paper.find_score_table(column_path)
        column = table.columns[column_name]
        runs = self.inputs.scores(column.set).get(system)
        if not runs:
            raise NotMeasuredError(
                f"{self.inputs.settings.label(system)} has not translated the {column.set} set"
            )

        # sentences outside of the group get no n-grams, so that all groups of a column have the same samples
        runs_sentences = [get_scored_sentences(run, column.mode) for run in runs]
        marks = self._mark_sentences(runs_sentences[0], column, group)
        counted_sentences = []
        for sentences in runs_sentences:
            pairs = zip(sentences, marks, strict=True)
            counted_sentences.append([sentence if is_marked else _NO_COUNTS for sentence, is_marked in pairs])
        return SampledBleu(counted_sentences, self.inputs.bootstrap)

    def _mark_sentences(
        self, sentences: ScoredSentences, column: ScoreColumn, group: Sentences
    ) -> list[bool]:
        """Return for each sentence of a run whether it is in a column and in a group of the column's sentences."""
        settings = self.inputs.settings
        lengths = [count_words(sentence, settings.figure2_length) for sentence in sentences]
        longest = find_longest_lengths(lengths, settings)
        min_length = min((length for length in lengths if length), default=0)
        shortest = range(min_length, min_length + settings.figure2_window)
        marks = []
        for sentence, length in zip(sentences, lengths, strict=True):
            is_in_group = {
                "all": True,
                "longest": length in longest,
                "shortest": length in shortest,
                "known_words": sentence["source_unknown"] == 0,
                "unknown_words": sentence["source_unknown"] > 0,
            }
            marks.append(is_in_group[group] and is_in_column(sentence, column, settings))
        if marks.count(True) < MIN_SENTENCES:
            raise NotMeasuredError(f"there are {marks.count(True)} such sentences")
        if group != "all" and all(marks):
            raise NotMeasuredError("all sentences are such sentences")
        return marks

    def _measure_numbers(self, claim: AscendingNumbers, systems: Sequence[str]) -> Measurement:
        """Compare each system with the next. The effect is the smallest increase, negative for a decrease."""
        labels = [self.inputs.settings.label(system) for system in systems]
        means = [Mean.from_values(numbers) for numbers in self._read_numbers(claim, systems)]
        texts = []
        values = []
        for label, mean in zip(labels, means, strict=True):
            if mean.value is None:
                raise NotMeasuredError(f"{label} has no such number")
            texts.append(f"{label} {mean.value:.2f}")
            values.append(mean.value)

        effect = claim.compute_effect(values)
        p = compute_order_p_value(means)
        return Measurement(", ".join(texts), effect=effect, advantage=effect, p=p)

    def _read_numbers(self, claim: AscendingNumbers, systems: Sequence[str]) -> list[list[float | None]]:
        """Return the development NLL or the perplexity of each system's runs."""
        if isinstance(self.paper.tables[claim.table], PerplexityTable):
            perplexities = self.inputs.perplexities()
            return [[run["perplexity"] for run in perplexities.get(system, [])] for system in systems]

        # NLL is comparable only on the same sentences: on all (None), or within the same limit of length
        summaries = [self.inputs.summaries()[system] for system in systems]
        limits = set()
        for first_run, *_ in summaries:
            limits.add(first_run["max_words"] if first_run["dev_sentences"] == "within_limit" else None)
        if len(limits) > 1:
            raise NotMeasuredError("the models have different development sentences")
        return [[run["dev_nll"] for run in runs] for runs in summaries]
