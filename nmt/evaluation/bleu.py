"""BLEU as in multi-bleu, for a test set and for each sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_base import BaseTokenizer

from nmt.data.characters import UNSPACED_LETTER, compile_pattern
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.errors import UserError
from nmt.evaluation.translations import (
    TranslationRecord,
    read_translations,
    split_words,
)
from nmt.io.text_files import read_lines, read_pairs

_DIGITS = 6
"""Decimals of a score. Further ones depend on the order in which a machine adds numbers."""

TestSet = tuple[Path, Path]
"""Source and reference, as token files."""

_LETTER, _CHINESE, _KANA = (
    compile_pattern(pattern)
    for pattern in (r"\p{L}", r"\p{Script=Han}", r"[\p{Script=Hiragana}\p{Script=Katakana}]")
)


class _ScoredWords(BaseTokenizer):
    """The words that BLEU counts: tokens, and single letters of scripts without spaces, where a token may be a clause.

    sacrebleu's tokenizers for Chinese (`zh`) and for any script (`char`) cut such text in the same way.
    """

    def signature(self) -> str:
        return "none"

    def __call__(self, line: str) -> str:
        return line if line.isascii() else UNSPACED_LETTER.sub(r" \1 ", line)


def choose_tokenizer(references: Iterable[str]) -> str:
    """Return sacrebleu's tokenizer for some lines: 13a, zh for Chinese, or char for other scripts without spaces."""
    letters = Counter[str]()
    for line in references:
        if not line.isascii():
            letters["unspaced"] += len(UNSPACED_LETTER.findall(line))
            letters["kana"] += len(_KANA.findall(line))
            letters["chinese"] += len(_CHINESE.findall(line))
        letters["all"] += len(_LETTER.findall(line))
    if 2 * letters["unspaced"] <= letters["all"]:
        return "13a"
    # Japanese has Chinese characters, too, but also many kana
    is_chinese = letters["chinese"] > 20 * letters["kana"] and 2 * letters["chinese"] > letters["unspaced"]
    return "zh" if is_chinese else "char"


@cache
def multi_bleu() -> BLEU:
    """Return sacrebleu's metric with the choices of Moses' multi-bleu.perl: given tokens, cased, without smoothing.

    In scripts without spaces, each letter is a word. The paper's scores are computed in this way (Sutskever et al.,
    2014, Sec. 3.6). sacrebleu also splits at white space beyond ASCII (no-break spaces). Tokens never contain it, so
    only untokenized text may have a different score.
    """
    metric = BLEU(tokenize="none", lowercase=False, smooth_method="none", force=True)
    metric.tokenizer = _ScoredWords()
    return metric


@cache
def bleu_signature(**bootstrap: int) -> str:
    """Return sacrebleu's signature of the scores of `multi_bleu` against one reference.

    `bootstrap` adds the seed (`seed`) and the number of samples (`bs`) of a bootstrap.
    """
    metric = multi_bleu()
    metric.corpus_score([""], [[""]])  # the number of references is unknown before a first score
    signature = metric.get_signature()
    for name, value in bootstrap.items():
        signature.update(name, value)
    return str(signature.format())


def compute_bleu(row: Sequence[int], smooth_method: str = "none", effective_order: bool = False) -> float:
    """Return BLEU, from 0 to 100, of ten counts in the order of `list_counts`. The options are sacrebleu's."""
    score = BLEU.compute_bleu(
        correct=list(row[:4]),
        total=list(row[4:8]),
        sys_len=row[8],
        ref_len=row[9],
        smooth_method=smooth_method,
        effective_order=effective_order,
    )
    return float(score.score)


def list_counts(sentence: Mapping[str, Any]) -> list[int]:
    """Return ten counts, given those of `count_matches`: correct (4), total (4), words of translation and reference."""
    word_counts = sentence["hypothesis_words"], sentence["reference_words"]
    return [*sentence["correct"], *sentence["total"], *word_counts]


def compute_sentence_bleu(sentence: Mapping[str, Any]) -> float:
    """Return sacrebleu's sentence BLEU, from 0 to 100. It is smoothed, since most sentences have no matching 4-gram."""
    return compute_bleu(list_counts(sentence), smooth_method="exp", effective_order=True)


def corpus_bleu(sentences: Iterable[Mapping[str, Any]]) -> float:
    """Return BLEU, from 0 to 100, of at least one sentence, given the counts of `count_matches` for each."""
    columns = zip(*map(list_counts, sentences), strict=True)  # one for each of the ten counts
    return round(compute_bleu([sum(column) for column in columns]), _DIGITS)


@lru_cache(maxsize=2**16)
def count_matches(hypothesis: str, reference: str) -> dict[str, Any]:
    """Return the counts of a sentence from which BLEU is computed, as a score file has them.

    They are cached, since scores, intervals and figures need the same counts.

    Returns:
        correct: n-grams of the translation that match the reference (clipped), for n = 1, 2, 3, 4.
        total: all n-grams of the translation, for n = 1, 2, 3, 4.
        hypothesis_words: words of the translation.
        reference_words: words of the reference.
    """
    score = multi_bleu().corpus_score([hypothesis], [[reference]])
    return {
        "correct": score.counts,
        "total": score.totals,
        "hypothesis_words": score.sys_len,
        "reference_words": score.ref_len,
    }


# --- scores of a test set ---------------------------------------------------------------------------------------------


def score_model(model: str, all_path: Path, no_unk_path: Path, test: TestSet) -> dict[str, Any]:
    """Compute BLEU of all sentences and of those without unknown words (the paper's Table 1), for one model.

    The lengths, unknown words and BLEU counts of each sentence come with it, for other tables and figures.

    Args:
        all_path: translations of all sentences of the test set. `[UNK]` is allowed, and scores as a wrong word.
        no_unk_path: translations of the sentences without unknown words in source and reference.
        test: source and reference.

    Raises:
        UserError: a translation is missing or belongs to a different text.
    """
    pairs = list(read_pairs(*test))
    translations = _read_translations_of_test_set(all_path, pairs)
    if len(translations) != len(pairs):
        raise UserError(
            f"{all_path} has {len(translations)} translations, the test set {len(pairs)} lines; translate again"
        )
    translations_no_unk = _read_translations_of_test_set(no_unk_path, pairs)
    return _describe_scores(model, pairs, translations, translations_no_unk)


def score_plain_text(system: str, path: Path, no_unk_path: Path, test: TestSet) -> dict[str, Any]:
    """Compute the same as `score_model` for a system of which only the text is known.

    Args:
        path: a tokenized translation of each line of the test set.
        no_unk_path: translations by a model, whose line numbers say which sentences have no unknown words.
        test: source and reference.
    """
    pairs = list(read_pairs(*test))
    texts = list(read_lines(path))
    if len(texts) != len(pairs):
        raise UserError(
            f"{path} has {len(texts)} lines, the test set {len(pairs)}: expected one translation per line, tokenized"
        )
    translations = [
        TranslationRecord(line=line, source=split_words(source), target=split_words(text))
        for line, (text, (source, _)) in enumerate(zip(texts, pairs, strict=True))
    ]

    # A plain text does not tell which sentences have no unknown words, but a model's file does.
    lines_no_unk = [translation.line for translation in _read_translations_of_test_set(no_unk_path, pairs)]
    return _describe_scores(system, pairs, translations, [translations[line] for line in lines_no_unk])


def _read_translations_of_test_set(path: Path, pairs: Sequence[tuple[str, str]]) -> list[TranslationRecord]:
    """Return the translations of a file, given the lines of the test set: source and reference.

    Raises:
        UserError: line numbers do not increase, or a source differs from that of the test set.
    """
    translations = []
    previous_line = -1
    for translation in read_translations(path):
        # Some lines of the test set may be left out, so line numbers need only increase.
        line = translation.line
        is_next = previous_line < line < len(pairs)
        if not is_next or translation.source != split_words(pairs[line][0]):
            raise UserError(f"{path}: line {line} is not the next of this test set; translate again")
        translations.append(translation)
        previous_line = line
    return translations


def _describe_scores(
    system: str,
    pairs: Sequence[tuple[str, str]],
    translations: Sequence[TranslationRecord],
    translations_no_unk: Sequence[TranslationRecord],
) -> dict[str, Any]:
    """Return the scores of a system as they are written to its JSON file.

    Args:
        pairs: source and reference of each line of the test set.
        translations_no_unk: those translations whose sentences have no unknown words.
    """
    by_sentence = _describe_sentences(translations, pairs)
    by_sentence_no_unk = _describe_sentences(translations_no_unk, pairs)
    return {
        "model": system,
        "bleu_all": _bleu_or_none(by_sentence),
        "bleu_no_unk": _bleu_or_none(by_sentence_no_unk),
        "signature": bleu_signature() if translations else "",
        "sentences_all": len(translations),
        "sentences_no_unk": len(translations_no_unk),
        "unfinished_all": sum(not translation.finished for translation in translations),
        "unknown_words_written": sum(translation.target.count(UNKNOWN_WORD) for translation in translations),
        "by_sentence": by_sentence,
        "by_sentence_no_unk": by_sentence_no_unk,
    }


def _describe_sentences(
    translations: Sequence[TranslationRecord], pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Return for each sentence its lengths in words, without end symbols, its unknown source words, and BLEU counts."""
    descriptions = []
    for translation in translations:
        _, reference = pairs[translation.line]
        description = {
            "source_length": len(translation.source),
            "reference_length": len(split_words(reference)),
            "source_unknown": translation.source_unknown,
            **count_matches(" ".join(translation.target), reference),
        }
        descriptions.append(description)
    return descriptions


def _bleu_or_none(by_sentence: Sequence[Mapping[str, Any]]) -> float | None:
    """Return corpus BLEU, given the result of `_describe_sentences`; None if there are none."""
    return corpus_bleu(by_sentence) if by_sentence else None
