"""The agreement of two packages of results: claim by claim, and cell by cell of the papers' tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from nmt.errors import UserError
from nmt.io.text_files import read_lines
from pipeline.results.bootstrap import Bootstrap, SampledBleu, compute_interval
from pipeline.results.claims import NOT_MEASURED, SIGNIFICANCE_LEVEL, decide_claims
from pipeline.results.inputs import Inputs
from pipeline.results.papers import PerplexityTable, ScoreColumn, ScoreTable
from pipeline.results.seeds import Mean, Result
from pipeline.results.tables.scores import select_counts
from pipeline.results.tables.writer import make_pipe_table
from pipeline.results.welch import run_welch_test

EQUAL, WITHIN, UNKNOWN, DIFFERENT = "equal bits", "equal within the interval", "other bits", "different"
"""How two cells agree. UNKNOWN: they differ, but one run alone does not say whether by chance."""
SAME_VERDICT, NOT_CONTRADICTED = "same verdict", "undecided in one"
"""How the verdicts on a claim agree, unless they are different."""


@dataclass(frozen=True)
class Comparison:
    """A claim or a cell in both packages: a row of the table."""

    name: str
    mine: str
    theirs: str
    agreement: str


def compare_packages(mine: Inputs, theirs: Inputs) -> list[Comparison]:
    """Compare the claims and cells that two packages have in common.

    Raises:
        UserError: they have nothing in common.
    """
    comparisons = [
        *_compare_claims(mine, theirs),
        *_compare_scores(mine, theirs),
        *_compare_runs(mine, theirs),
    ]
    if not comparisons:
        raise UserError(
            f"{mine.package.folder} and {theirs.package.folder} have no claim and no model in common; name two packages"
            " with tables of the same paper"
        )
    return comparisons


def format_comparisons(comparisons: Sequence[Comparison]) -> str:
    """Return the table, and a line that counts how many rows agree in which way."""
    rows = [(item.name, item.mine, item.theirs, item.agreement) for item in comparisons]
    headers = ["Claim or cell", "Mine", "Theirs", "Agreement"]
    counts = pd.Series([item.agreement for item in comparisons]).value_counts(sort=False)
    summary = ", ".join(f"{count} {agreement}" for agreement, count in counts.items())
    return f"{make_pipe_table(pd.DataFrame(rows, columns=headers), headers)}\n\n{summary}"


# --- claims -----------------------------------------------------------------------------------------------------------


def _compare_claims(mine: Inputs, theirs: Inputs) -> Iterator[Comparison]:
    """Yield a row for each claim that both packages have measured."""
    their_decisions = {(item.paper.name, item.name): item for item in decide_claims(theirs)}
    for decision in decide_claims(mine):
        other_decision = their_decisions.get((decision.paper.name, decision.name))
        verdicts = {decision.verdict, other_decision.verdict if other_decision else NOT_MEASURED}
        if NOT_MEASURED in verdicts or other_decision is None:
            continue
        if len(verdicts) == 1:
            agreement = SAME_VERDICT
        else:
            agreement = DIFFERENT if verdicts == {"holds", "fails"} else NOT_CONTRADICTED
        yield Comparison(decision.claim.says, decision.verdict, other_decision.verdict, agreement)


# --- scores -----------------------------------------------------------------------------------------------------------


def _compare_scores(mine: Inputs, theirs: Inputs) -> Iterator[Comparison]:
    """Yield a row for each cell of BLEU that both packages have, on the same text."""
    for name, paper in mine.papers.items():
        if name not in theirs.papers:
            continue
        for spec in paper.tables.values():
            if isinstance(spec, ScoreTable):
                for column in spec.columns.values():
                    if _have_same_text(mine, theirs, column.set):
                        title = f"{spec.title}, {column.header}"
                        yield from _compare_column(mine, theirs, spec, column, title)


def _have_same_text(mine: Inputs, theirs: Inputs, set_name: str) -> bool:
    """Return whether both packages have translated the same source, and compare with the same reference."""
    return all(
        mine.read_text(side, set_name) == theirs.read_text(side, set_name) for side in ("source", "reference")
    )


def _compare_column(
    mine: Inputs, theirs: Inputs, spec: ScoreTable, column: ScoreColumn, title: str
) -> Iterator[Comparison]:
    """Yield a row for each system of a column. title: of the table and the column."""
    their_scores = theirs.scores(column.set)
    for system, runs in mine.scores(column.set).items():
        if system not in their_scores or spec.find_row(system) is None:
            continue
        # the same sentences: vocabularies may differ, and with them the sentences without unknown words
        counts = [select_counts(run, column, mine.settings) for run in runs]
        their_counts = [select_counts(run, column, mine.settings) for run in their_scores[system]]
        if not counts[0] or len(counts[0]) != len(their_counts[0]):
            continue
        bootstrap = Bootstrap.from_settings(mine.settings)
        bleu, their_bleu = SampledBleu(counts, bootstrap), SampledBleu(their_counts, bootstrap)
        if _read_translations(mine, system, column) == _read_translations(theirs, system, column):
            agreement = EQUAL
        elif not bootstrap.sample_count:
            agreement = UNKNOWN
        else:
            low, high = compute_interval(bleu.resample() - their_bleu.resample(stream=1))
            agreement = WITHIN if low <= 0 <= high else DIFFERENT
        label = mine.settings.label(system)
        yield Comparison(f"{title}: {label}", f"{bleu.bleu:.2f}", f"{their_bleu.bleu:.2f}", agreement)


def _read_translations(inputs: Inputs, system: str, column: ScoreColumn) -> list[list[list[str]]]:
    """Return the tokens of each translation of each run of a system, in the order of the runs."""
    names = [name for name, item in inputs.systems.items() if item.model == system]
    if names:
        return [
            [record.target for record in inputs.system_translations(name, column.mode, column.set)]
            for name in names
        ]
    path = inputs.plain_text_files(column.set)[system]
    return [[line.split(" ") for line in read_lines(path)]]


# --- trainings --------------------------------------------------------------------------------------------------------


def _compare_runs(mine: Inputs, theirs: Inputs) -> Iterator[Comparison]:
    """Yield rows on each model of both packages: weights, and development NLL and perplexity on the same text."""
    summaries, their_summaries = mine.summaries(), theirs.summaries()
    models = [model for model in summaries if model in their_summaries]
    for model in models:
        # of the seeds that both have
        weights = {run["seed"]: run["weights"] for run in summaries[model]}
        their_weights = {run["seed"]: run["weights"] for run in their_summaries[model]}
        seeds = [seed for seed in weights if seed in their_weights]
        if not seeds:
            continue
        agreement = EQUAL if all(weights[seed] == their_weights[seed] for seed in seeds) else UNKNOWN
        name = f"Weights: {mine.settings.label(model)}"
        yield Comparison(name, weights[seeds[0]][:12], their_weights[seeds[0]][:12], agreement)

    for model in models:
        runs, their_runs = summaries[model], their_summaries[model]
        texts = [
            (run["data"]["dev"], run["dev_sentences"], run["max_words"]) for run in (runs[0], their_runs[0])
        ]
        if texts[0] == texts[1]:
            name = f"Development NLL: {mine.settings.label(model)}"
            yield from _compare_numbers(name, "dev_nll", runs, their_runs)

    has_perplexities = all(
        any(
            isinstance(spec, PerplexityTable)
            for paper in inputs.papers.values()
            for spec in paper.tables.values()
        )
        for inputs in (mine, theirs)
    )
    if has_perplexities and _have_same_text(mine, theirs, "test"):
        their_perplexities = theirs.perplexities()
        for system, runs in mine.perplexities().items():
            name = f"Perplexity: {mine.settings.label(system)}"
            yield from _compare_numbers(name, "perplexity", runs, their_perplexities.get(system, []))


def _compare_numbers(
    name: str, key: str, runs: Sequence[Result], their_runs: Sequence[Result]
) -> Iterator[Comparison]:
    """Yield the row of a number that each run has, unless one run lacks it."""
    numbers, their_numbers = [run[key] for run in runs], [run[key] for run in their_runs]
    mean, their_mean = Mean.from_values(numbers), Mean.from_values(their_numbers)
    if mean.value is None or their_mean.value is None:
        return
    agreement = UNKNOWN
    if numbers == their_numbers:
        agreement = EQUAL
    elif mean.std is not None and their_mean.std is not None:
        counts = len(numbers), len(their_numbers)
        _, p = run_welch_test(mean.value - their_mean.value, (mean.std, their_mean.std), counts)
        agreement = WITHIN if p >= SIGNIFICANCE_LEVEL else DIFFERENT
    yield Comparison(name, mean.format(2), their_mean.format(2), agreement)
