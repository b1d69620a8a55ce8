"""How sure the scores of Table 1 are, and what today's metrics say of the same translations.

Intervals are the middle 95% of BLEU over bootstrap samples of sentences (Koehn, 2004), those of `bootstrap` as in the
figures; p-values are those of sacrebleu's paired bootstrap, which draws the same samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.bleu import match, multi_bleu, sentence_counts
from nmt.evaluation.bootstrap import Bootstrap, interval
from nmt.evaluation.seeds import mean, standard_deviation
from nmt.evaluation.translations import read_given
from nmt.io.text_files import read_lines, read_pairs

COLUMNS = ("all", "no_unk")
"""Table 1's columns: every sentence, and those without an unknown word."""

_DIGITS = 6


@dataclass(frozen=True)
class EvaluatedText:
    """The test set: tokens of both sides, and the reference as it came, which None takes from its tokens."""

    source: Path
    reference: Path
    raw_reference: Path | None
    detokenize: Detokenizer
    """The detokenizer of the reference's language, with the settings of its tokenization."""


@dataclass(frozen=True)
class _Column:
    """What all systems made of the sentences of one column."""

    lines: list[int]
    hypotheses: dict[str, list[str]]


def compare(
    translations: Mapping[str, Sequence[Path]],
    given: Mapping[str, Path],
    test: EvaluatedText,
    samples: int,
    seed: int,
    others: Mapping[str, Sequence[Sequence[Path]]] | None = None,
) -> dict[str, Any]:
    """Compare systems on both columns of Table 1.

    Args:
        translations: by model, those of all sentences and those of sentences without unknown words.
        given: by system, a file with a tokenized translation a line of every sentence (Moses').
        test: the sentences.
        samples: bootstrap samples; 0 gives neither intervals nor p-values.
        seed: of the samples.
        others: by model, the translations by its runs with other seeds, whose scores by today's metrics are averaged
            with the first one's; intervals and p-values are of the first.

    Raises:
        UserError: a translation is missing, or models translated different sentences.
    """
    pairs = [*read_pairs(test.source, test.reference)]
    tokens = [reference for _, reference in pairs]
    raw = _raw_reference(test, tokens)
    found: dict[str, Any] = {}
    for index, column in enumerate(COLUMNS):
        texts = _column({model: paths[index] for model, paths in translations.items()}, given, pairs)
        again = {
            model: [_same_lines(paths[index], texts.lines, pairs) for paths in runs]
            for model, runs in (others or {}).items()
        }
        as_tokens, as_text = ([lines[line] for line in texts.lines] for lines in (tokens, raw))
        found[column] = _compared(texts, again, as_tokens, as_text, test.detokenize, samples, seed)
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
    paths: Mapping[str, Path], given: Mapping[str, Path], pairs: Sequence[tuple[str, str]]
) -> _Column:
    """The translations of one column by system; all must be of the same sentences."""
    scored = {model: match(path, pairs) for model, path in paths.items()}
    lines = {model: [item.record.line for item in items] for model, items in scored.items()}
    for (first, ours), (second, theirs) in pairwise(lines.items()):
        if ours != theirs:
            raise UserError(
                f"{paths[second]}: translates other sentences than {paths[first]}; decode both again"
            )
    wanted = next(iter(lines.values()), [])
    hypotheses = {model: [item.hypothesis for item in items] for model, items in scored.items()}
    for name, path in given.items():
        texts = read_given(path, len(pairs))
        hypotheses[name] = [" ".join(texts[line]) for line in wanted]
    return _Column(wanted, hypotheses)


def _same_lines(path: Path, wanted: Sequence[int], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Translations of these lines and no others."""
    items = match(path, pairs)
    if [item.record.line for item in items] != list(wanted):
        raise UserError(f"{path}: translates other sentences than the model's first run; decode both again")
    return [item.hypothesis for item in items]


def _compared(
    texts: _Column,
    again: Mapping[str, Sequence[list[str]]],
    tokens: list[str],
    raw: list[str],
    detokenize: Detokenizer,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    if not texts.lines:
        return {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}
    systems, signatures = _todays_scores(texts, again, raw, detokenize)
    results, pairs, signature = _significance(texts.hypotheses, tokens, samples, seed)
    return {
        "sentences": len(texts.lines),
        "systems": {name: {**results[name], **systems[name]} for name in systems},
        "pairs": pairs,
        "signatures": {"bleu": signature, **signatures},
    }


def _todays_scores(
    texts: _Column, again: Mapping[str, Sequence[list[str]]], raw: list[str], detokenize: Detokenizer
) -> tuple[dict[str, dict[str, float | None]], dict[str, str]]:
    """BLEU with sacrebleu's own tokenization (13a) and chrF, of detokenized text against the reference as it came.

    Of a model with several runs the means, and their standard deviations under `<name>_std`.
    """
    metrics = {"sacrebleu": BLEU(), "chrf": CHRF()}
    found = {}
    for name, hypotheses in texts.hypotheses.items():
        runs = [
            [detokenize(hypothesis.split()) for hypothesis in run]
            for run in (hypotheses, *again.get(name, ()))
        ]
        scores: dict[str, float | None] = {}
        for key, metric in metrics.items():
            values = [float(metric.corpus_score(text, [raw]).score) for text in runs]
            scores[key] = _rounded(mean(values))
            if len(runs) > 1:
                scores[f"{key}_std"] = _rounded(standard_deviation(values))
        found[name] = scores
    return found, {key: metric.get_signature().format() for key, metric in metrics.items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _significance(
    hypotheses: Mapping[str, list[str]], references: list[str], samples: int, seed: int
) -> tuple[dict[str, dict[str, float | None]], list[dict[str, Any]], str]:
    """BLEU on tokens with its interval, by system; p-values of all pairs; the signature."""
    named = [*hypotheses.items()]
    results: dict[str, dict[str, float | None]] = {}
    pairs = []
    signature = ""
    for index, (name, texts) in enumerate(named):
        # the first of the list is what the others are compared with
        first, others, signature = _paired(named[index:], references, samples, seed)
        results[name] = {
            "bleu": round(first.score, _DIGITS),
            **_interval(texts, references, Bootstrap(samples, seed)),
        }
        pairs += [
            {
                "first": name,
                "second": other,
                "difference": round(result.score - first.score, _DIGITS),
                "p": _p(result, first),
            }
            for (other, _), result in zip(named[index + 1 :], others, strict=True)
        ]
    return results, pairs, signature


def _p(result: Result, first: Result) -> float | None:
    """sacrebleu's p-value; equal scores are never a difference, though sacrebleu gives systems that are alike p = 0."""
    if result.p_value is None:
        return None
    return 1.0 if result.score == first.score else round(result.p_value, _DIGITS)


def _interval(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: Bootstrap
) -> dict[str, float | None]:
    """Bounds of the interval; none without samples."""
    metric = multi_bleu(effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    low, high = interval([sentence_counts(*pair, metric) for pair in pairs], bootstrap) or (None, None)
    return {"low": _rounded(low), "high": _rounded(high)}


def _paired(
    named: Sequence[tuple[str, list[str]]], references: list[str], samples: int, seed: int
) -> tuple[Result, list[Result], str]:
    metric = multi_bleu()
    if not samples:
        scores = [metric.corpus_score(texts, [references]).score for _, texts in named]
        first, *others = map(Result, scores)
        return first, others, metric.get_signature().format()
    with _sacrebleu_environment(seed):
        test = PairedTest([*named], {"BLEU": metric}, [references], test_type="bs", n_samples=samples)
        signatures, scores_by_name = test()
    first, *others = cast("list[Result]", scores_by_name["BLEU"])
    return first, others, signatures["BLEU"].format()


@contextmanager
def _sacrebleu_environment(seed: int) -> Iterator[None]:
    """sacrebleu takes its seed from the environment."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(Bootstrap(0, seed).sacrebleu_seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before
