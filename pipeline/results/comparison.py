"""Confidence intervals and significance of the scores of Table 1, and further metrics of the same translations.

Scores of a model with several runs are means. Intervals and p-values are those of `bootstrap`, over sentences and runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.data.tokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.bleu import match, sentence_counts, signature
from nmt.evaluation.translations import read_given
from nmt.io.text_files import read_lines, read_pairs
from pipeline.results.bootstrap import Bootstrap, SampledBleu
from pipeline.results.seeds import mean, standard_deviation

COLUMNS = ("all", "no_unk")
"""The columns of Table 1: all sentences, and those without an unknown word."""

_DIGITS = 6


@dataclass(frozen=True)
class EvaluatedText:
    """The test set: tokens of both sides, and the raw reference; if this is None, the tokens are detokenized."""

    source: Path
    reference: Path
    raw_reference: Path | None
    detokenize: Detokenizer
    """The detokenizer of the reference's language, with the settings of its tokenization."""


@dataclass(frozen=True)
class _Column:
    """Translations of the sentences of one column by all systems."""

    lines: list[int]
    hypotheses: dict[str, list[list[str]]]
    """The translations of each run of a system, by the system's name."""


def compare(
    translations: Mapping[str, Sequence[Sequence[Path]]],
    given: Mapping[str, Path],
    test: EvaluatedText,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Compare systems on both columns of Table 1.

    Args:
        translations: by model, for each of its runs the files with translations of all sentences and of the sentences
            without unknown words.
        given: by system (such as Moses), a file with tokenized translations of all sentences, one per line.
        test: the sentences.
        samples: bootstrap samples; 0 gives neither intervals nor p-values.
        seed: seed of the samples.

    Returns:
        For each column: the number of sentences; the scores of each system; the difference in BLEU and the p-value of
        each pair of systems; signatures. If a system has several runs, its scores are means, `<name>_std` holds sample
        standard deviations, and `runs` the number of runs.

    Raises:
        UserError: a translation is missing, or runs translated different sentences.
    """
    pairs = [*read_pairs(test.source, test.reference)]
    tokens = [reference for _, reference in pairs]
    raw = _raw_reference(test, tokens)
    found: dict[str, Any] = {}
    for index, column in enumerate(COLUMNS):
        paths = {model: [run[index] for run in runs] for model, runs in translations.items()}
        texts = _column(paths, given, pairs)
        as_tokens, as_text = ([lines[line] for line in texts.lines] for lines in (tokens, raw))
        found[column] = _compared(texts, as_tokens, as_text, test.detokenize, Bootstrap(samples, seed))
    return found


def _raw_reference(test: EvaluatedText, tokens: Sequence[str]) -> list[str]:
    if test.raw_reference is None:
        return [test.detokenize(line.split()) for line in tokens]
    raw = [*read_lines(test.raw_reference)]
    if len(raw) != len(tokens):
        raise UserError(
            f"{test.raw_reference} has {len(raw)} lines, {test.reference} {len(tokens)}: not the same text"
        )
    return raw


def _column(
    paths: Mapping[str, Sequence[Path]], given: Mapping[str, Path], pairs: Sequence[tuple[str, str]]
) -> _Column:
    """Return the translations of one column by system. All systems must have translated the same sentences."""
    scored = {path: match(path, pairs) for runs in paths.values() for path in runs}
    lines = {path: [item.record.line for item in items] for path, items in scored.items()}
    for (first, ours), (second, theirs) in pairwise(lines.items()):
        if ours != theirs:
            raise UserError(f"{second}: translates other sentences than {first}; decode both again")
    wanted = next(iter(lines.values()), [])
    hypotheses = {
        model: [[item.hypothesis for item in scored[path]] for path in runs] for model, runs in paths.items()
    }
    for name, path in given.items():
        texts = read_given(path, len(pairs))
        hypotheses[name] = [[" ".join(texts[line]) for line in wanted]]
    return _Column(wanted, hypotheses)


def _compared(
    texts: _Column, tokens: list[str], raw: list[str], detokenize: Detokenizer, bootstrap: Bootstrap
) -> dict[str, Any]:
    if not texts.lines:
        return {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}
    # given the references at once, they count these once for all systems
    metrics: dict[str, BLEU | CHRF] = {"sacrebleu": BLEU(references=[raw]), "chrf": CHRF(references=[raw])}
    sampled = {name: _sampled(runs, tokens, bootstrap) for name, runs in texts.hypotheses.items()}
    systems = {}
    for name, runs in texts.hypotheses.items():
        # today's metrics see detokenized text, against the reference as it came
        detokenized = [[detokenize(text.split()) for text in run] for run in runs]
        low, high = sampled[name].interval() or (None, None)
        systems[name] = {
            **_scores("bleu", sampled[name].runs),
            "low": _rounded(low),
            "high": _rounded(high),
            **_scores("sacrebleu", [_corpus_score(metrics["sacrebleu"], run) for run in detokenized]),
            **_scores("chrf", [_corpus_score(metrics["chrf"], run) for run in detokenized]),
            **({"runs": len(runs)} if len(runs) > 1 else {}),
        }
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
    signatures = {key: metric.get_signature().format() for key, metric in metrics.items()}
    return {
        "sentences": len(texts.lines),
        "systems": systems,
        "pairs": pairs,
        "signatures": {"bleu": signature(**of_samples), **signatures},
    }


def _sampled(runs: Sequence[Sequence[str]], references: Sequence[str], bootstrap: Bootstrap) -> SampledBleu:
    counts = [[*map(sentence_counts, run, references)] for run in runs]
    return SampledBleu(counts, bootstrap)


def _corpus_score(metric: BLEU | CHRF, hypotheses: Sequence[str]) -> float:
    return float(metric.corpus_score(hypotheses, None).score)


def _scores(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean over runs and, if there are several runs, the deviation."""
    scores = {name: _rounded(mean(values))}
    return scores if len(values) == 1 else {**scores, f"{name}_std": _rounded(standard_deviation(values))}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
