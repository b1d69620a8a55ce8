"""Confidence intervals and significance of the scores of Table 1, and further metrics of the same translations.

Scores of a model with several runs are means. Intervals and p-values are those of `bootstrap`, over sentences and runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.evaluation.bleu import BleuCounts, bleu_signature
from pipeline.results.bootstrap import Bootstrap, SampledBleu
from pipeline.results.seeds import mean, standard_deviation

_DIGITS = 6


@dataclass(frozen=True)
class Column:
    """The same sentences, translated by each run of each system: a column of Table 1.

    counts: of each sentence, for BLEU on tokens. texts: the detokenized translations. references: as they came.
    """

    counts: Mapping[str, Sequence[Sequence[BleuCounts]]]
    texts: Mapping[str, Sequence[Sequence[str]]]
    references: Sequence[str]


def compare(column: Column, bootstrap: Bootstrap) -> dict[str, Any]:
    """Compare the systems of a column; without samples there are neither intervals nor p-values.

    Returns:
        The number of sentences; the scores of each system; the difference in BLEU and the p-value of each pair of
        systems; signatures. If a system has several runs, its scores are means, `<name>_std` holds sample standard
        deviations, and `runs` the number of runs.
    """
    if not column.references:
        return {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}
    # today's metrics; given the references at once, they count these once for all systems
    references = [column.references]
    today: dict[str, BLEU | CHRF] = {
        "sacrebleu": BLEU(references=references),
        "chrf": CHRF(references=references),
    }
    sampled = {name: SampledBleu(runs, bootstrap) for name, runs in column.counts.items()}
    systems = {}
    for name, system in sampled.items():
        low, high = system.interval() or (None, None)
        systems[name] = {
            **_scores("bleu", system.runs),
            "low": _rounded(low),
            "high": _rounded(high),
            **({"runs": len(system.runs)} if len(system.runs) > 1 else {}),
        }
        for key, metric in today.items():
            scores = [float(metric.corpus_score(run, None).score) for run in column.texts[name]]
            systems[name] |= _scores(key, scores)
    pairs = [
        {
            "first": first,
            "second": second,
            "difference": _rounded(sampled[second].bleu - sampled[first].bleu),
            "p": _rounded(sampled[second].p_value(sampled[first])),
        }
        for first, second in combinations(sampled, 2)
    ]
    of_samples = {"seed": bootstrap.sacrebleu_seed, "bs": bootstrap.samples} if bootstrap.samples else {}
    signatures = {key: metric.get_signature().format() for key, metric in today.items()}
    return {
        "sentences": len(column.references),
        "systems": systems,
        "pairs": pairs,
        "signatures": {"bleu": bleu_signature(**of_samples), **signatures},
    }


def _scores(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean over runs and, if there are several runs, the deviation."""
    scores = {name: _rounded(mean(values))}
    return scores if len(values) == 1 else {**scores, f"{name}_std": _rounded(standard_deviation(values))}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
