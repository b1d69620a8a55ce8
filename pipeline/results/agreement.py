"""The agreement of two packages of results: claim by claim, and cell by cell of the papers' tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt.errors import UserError
from pipeline.results.bootstrap import SIGNIFICANCE_LEVEL, SampledBleu, compute_interval
from pipeline.results.claims import NOT_MEASURED, UNDECIDED, decide_claims
from pipeline.results.inputs import Inputs
from pipeline.results.papers import ScoreColumn, ScoreTable
from pipeline.results.seeds import Mean, Result, ScoredSentences
from pipeline.results.tables.scores import select_sentences
from pipeline.results.tables.writer import make_pipe_table
from pipeline.results.welch import compare_means

EQUAL, WITHIN, UNKNOWN, DIFFERENT = "equal bits", "equal within the interval", "other bits", "different"
"""How two cells agree. UNKNOWN: they differ, but with a single run nobody knows whether by chance."""
SAME_VERDICT, NOT_CONTRADICTED = "same verdict", "undecided in one"
"""How two verdicts on a claim agree, if they are not `DIFFERENT`."""


class Comparison(NamedTuple):
    """A row of the comparison: the name of a claim or cell, and its text in both packages."""

    name: str
    my_text: str
    their_text: str
    agreement: str


def compare_packages(my_inputs: Inputs, their_inputs: Inputs) -> list[Comparison]:
    """Compare the claims and cells that two packages have in common.

    Raises:
        UserError: they have nothing in common.
    """
    comparisons = [
        *_compare_claims(my_inputs, their_inputs),
        *_compare_scores(my_inputs, their_inputs),
        *_compare_trainings(my_inputs, their_inputs),
        *_compare_perplexities(my_inputs, their_inputs),
    ]
    if not comparisons:
        raise UserError(
            f"{my_inputs.folder} and {their_inputs.folder} have no claim and no model in common; "
            "name two packages with tables of the same paper"
        )
    return comparisons


def format_comparisons(comparisons: Sequence[Comparison]) -> str:
    """Return the table, and a line that counts the rows by their agreement: "12 equal bits, 3 different"."""
    headers = ["Claim or cell", "Mine", "Theirs", "Agreement"]
    table = make_pipe_table(headers, comparisons, text_columns=headers)
    counts = Counter(row.agreement for row in comparisons)
    summary = ", ".join(f"{count} {agreement}" for agreement, count in counts.items())
    return f"{table}\n\n{summary}"


# --- claims -----------------------------------------------------------------------------------------------------------


def _compare_claims(my_inputs: Inputs, their_inputs: Inputs) -> Iterator[Comparison]:
    """Yield a row for each claim that both packages have measured."""
    decisions = decide_claims(their_inputs)
    their_verdicts = {(paper.name, name): measurement.verdict for name, paper, _, measurement in decisions}
    for name, paper, claim, measurement in decide_claims(my_inputs):
        my_verdict = measurement.verdict
        their_verdict = their_verdicts.get((paper.name, name), NOT_MEASURED)
        if NOT_MEASURED in (my_verdict, their_verdict):
            continue
        if my_verdict == their_verdict:
            agreement = SAME_VERDICT
        elif UNDECIDED in (my_verdict, their_verdict):
            agreement = NOT_CONTRADICTED
        else:
            agreement = DIFFERENT
        yield Comparison(claim.says, my_verdict, their_verdict, agreement)


# --- scores -----------------------------------------------------------------------------------------------------------


def _compare_scores(my_inputs: Inputs, their_inputs: Inputs) -> Iterator[Comparison]:
    """Yield a row for each cell of BLEU that both packages have, on the same text."""
    for name, paper in my_inputs.papers.items():
        if name not in their_inputs.papers:
            continue
        for table in paper.tables.values():
            if isinstance(table, ScoreTable):
                for column in table.columns.values():
                    if _have_same_text(my_inputs, their_inputs, column.set):
                        yield from _compare_column(my_inputs, their_inputs, table, column)


def _have_same_text(my_inputs: Inputs, their_inputs: Inputs, set_name: str) -> bool:
    """Return whether source and reference of a set are equal in both packages."""
    return all(
        my_inputs.read_text(side, set_name) == their_inputs.read_text(side, set_name)
        for side in ("source", "reference")
    )


def _compare_column(
    my_inputs: Inputs, their_inputs: Inputs, table: ScoreTable, column: ScoreColumn
) -> Iterator[Comparison]:
    """Yield a row for each system of a column."""
    their_scores = their_inputs.scores(column.set)
    settings = my_inputs.settings
    for system, my_runs in my_inputs.scores(column.set).items():
        if system not in their_scores or table.find_row(system) is None:
            continue

        # skip a system with other sentences: the vocabularies decide which sentences have no unknown words
        my_sentences = [select_sentences(run, column, settings) for run in my_runs]
        their_sentences = [select_sentences(run, column, settings) for run in their_scores[system]]
        if not my_sentences[0] or _list_lengths(my_sentences[0]) != _list_lengths(their_sentences[0]):
            continue

        my_bleu = SampledBleu(my_sentences, my_inputs.bootstrap)
        their_bleu = SampledBleu(their_sentences, my_inputs.bootstrap)
        interval = compute_interval(my_bleu.resample_difference(their_bleu))
        if _read_translations(my_inputs, system, column) == _read_translations(their_inputs, system, column):
            agreement = EQUAL
        elif interval is None:
            agreement = UNKNOWN
        else:
            agreement = WITHIN if interval[0] <= 0 <= interval[1] else DIFFERENT
        name = f"{table.title}, {column.header}: {settings.label(system)}"
        yield Comparison(name, f"{my_bleu.bleu:.2f}", f"{their_bleu.bleu:.2f}", agreement)


def _list_lengths(sentences: ScoredSentences) -> list[tuple[int, int]]:
    """Return the lengths of each sentence and its reference, by which the sentences of two runs are compared."""
    return [(sentence["source_length"], sentence["reference_length"]) for sentence in sentences]


def _read_translations(inputs: Inputs, system: str, column: ScoreColumn) -> list[list[list[str]]]:
    """Return the translations of a column as lists of tokens, for each run of a system."""
    runs = [name for name, run in inputs.systems.items() if run.model == system] or [system]
    records_by_run = [inputs.system_translations(run, column.mode, column.set) for run in runs]
    return [[record.target for record in records] for records in records_by_run]


# --- trainings --------------------------------------------------------------------------------------------------------


def _compare_trainings(my_inputs: Inputs, their_inputs: Inputs) -> Iterator[Comparison]:
    """Yield two rows for each model: its weights at every seed that both packages have, and its development NLL.

    NLL is compared only if both packages validated the model on the same sentences.
    """
    their_summaries = their_inputs.summaries()
    for model, my_runs in my_inputs.summaries().items():
        if model not in their_summaries:
            continue
        label = my_inputs.settings.label(model)
        their_runs = their_summaries[model]
        their_weights = {run["seed"]: run["weights"] for run in their_runs}
        my_weights = {run["seed"]: run["weights"] for run in my_runs if run["seed"] in their_weights}
        if my_weights:
            agreement = EQUAL if my_weights.items() <= their_weights.items() else UNKNOWN
            seed, checksum = next(iter(my_weights.items()))
            yield Comparison(f"Weights: {label}", checksum[:12], their_weights[seed][:12], agreement)

        dev_texts = []
        for run in (my_runs[0], their_runs[0]):
            dev_texts.append((run["data"]["dev"], run["dev_sentences"], run["max_words"]))
        if dev_texts[0] == dev_texts[1]:
            yield _compare_numbers(f"Development NLL: {label}", "dev_nll", my_runs, their_runs)


def _compare_perplexities(my_inputs: Inputs, their_inputs: Inputs) -> Iterator[Comparison]:
    """Yield a row for each system whose perplexity both packages have, on the same test set."""
    their_perplexities = their_inputs.perplexities()
    for system, my_runs in my_inputs.perplexities().items():
        if system in their_perplexities and _have_same_text(my_inputs, their_inputs, "test"):
            name = f"Perplexity: {my_inputs.settings.label(system)}"
            yield _compare_numbers(name, "perplexity", my_runs, their_perplexities[system])


def _compare_numbers(
    name: str, key: str, my_runs: Sequence[Result], their_runs: Sequence[Result]
) -> Comparison:
    """Return a row that compares the means of a number over runs."""
    my_numbers = [run[key] for run in my_runs]
    their_numbers = [run[key] for run in their_runs]
    my_mean, their_mean = Mean.from_values(my_numbers), Mean.from_values(their_numbers)
    difference = compare_means(my_mean, their_mean)
    if my_numbers == their_numbers:
        agreement = EQUAL
    elif difference.p is None:
        agreement = UNKNOWN
    else:
        agreement = WITHIN if difference.p >= SIGNIFICANCE_LEVEL else DIFFERENT
    return Comparison(name, my_mean.format(2), their_mean.format(2), agreement)
