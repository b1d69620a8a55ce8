"""Confidence intervals and significance of the scores of Table 1, and further metrics of the same translations.

Scores of a model with several runs are means. `bootstrap` explains intervals and p-values over sentences and runs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.evaluation.bleu import bleu_signature, choose_tokenizer
from pipeline.results.bootstrap import Bootstrap, SampledBleu
from pipeline.results.seeds import Mean, ScoredSentences

_DIGITS = 6


def compare_systems(
    sentences: Mapping[str, Sequence[ScoredSentences]],
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    bootstrap: Bootstrap,
) -> dict[str, Any]:
    """Compare the systems of a column of Table 1; without samples there are neither intervals nor p-values.

    Args:
        sentences: for each run of each system the scored sentences of the column, for BLEU on tokens.
        texts: for each run of each system the detokenized translations of the same sentences.
        references: their reference translations before tokenization.
        bootstrap: the samples for intervals and p-values.

    Returns:
        The number of sentences; the scores of each system; the difference in BLEU and the p-value of each pair of
        systems; signatures. If a system has several runs, its scores are means, `<name>_std` holds sample standard
        deviations, and `runs` the number of runs.
    """
    if not references:
        return {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}

    # 1. the scores of each system. The metrics get the references first, so that they count their n-grams only once
    bleu = BLEU(tokenize=choose_tokenizer(references), references=[references])
    sacrebleu_metrics = {"sacrebleu": bleu, "chrf": CHRF(references=[references])}
    sampled_bleu = {}
    systems = {}
    for name, runs in sentences.items():
        sampled_bleu[name] = SampledBleu(runs, bootstrap)
        systems[name] = describe_bleu(sampled_bleu[name])
        if len(runs) > 1:
            systems[name]["runs"] = len(runs)
        for key, metric in sacrebleu_metrics.items():
            scores = [float(metric.corpus_score(run, None).score) for run in texts[name]]
            systems[name] |= _average_scores(key, scores)

    # 2. the difference of each pair
    pairs = []
    for (first, first_bleu), (second, second_bleu) in combinations(sampled_bleu.items(), 2):
        pair = {
            "first": first,
            "second": second,
            "difference": _round(second_bleu.bleu - first_bleu.bleu),
            "p": _round(second_bleu.compute_p_value(first_bleu)),
        }
        pairs.append(pair)

    # 3. how the metrics were computed
    sampling = {}
    if bootstrap.sample_count:
        sampling = {"seed": bootstrap.seed, "bs": bootstrap.sample_count}
    signatures = {"bleu": bleu_signature(**sampling)}
    for key, metric in sacrebleu_metrics.items():
        signatures[key] = metric.get_signature().format()
    return {
        "sentences": len(references),
        "systems": systems,
        "pairs": pairs,
        "signatures": signatures,
    }


def describe_bleu(sampled_bleu: SampledBleu) -> dict[str, Any]:
    """Return the BLEU of a system (bleu, and bleu_std if it has several runs) and its interval (low, high)."""
    low, high = sampled_bleu.compute_interval() or (None, None)
    return _average_scores("bleu", sampled_bleu.run_scores) | {"low": _round(low), "high": _round(high)}


def _average_scores(name: str, run_scores: Sequence[float]) -> dict[str, Any]:
    """Return the mean over runs under `name` and, if there are several runs, the deviation under `<name>_std`."""
    mean = Mean.from_values(run_scores)
    scores = {name: _round(mean.value)}
    if len(run_scores) > 1:
        scores[f"{name}_std"] = _round(mean.std)
    return scores


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
