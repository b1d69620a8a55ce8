"""BLEU as in multi-bleu, for a test set and for each sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


_LETTER, _CHINESE, _KANA = (
    compile_pattern(pattern)
    for pattern in (r"\p{L}", r"\p{Script=Han}", r"[\p{Script=Hiragana}\p{Script=Katakana}]")
)


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
    """Return BLEU, from 0 to 100, of ten counts in the order of `BleuCounts.row`. The options are sacrebleu's."""
    score = BLEU.compute_bleu(
        correct=list(row[:4]),
        total=list(row[4:8]),
        sys_len=row[8],
        ref_len=row[9],
        smooth_method=smooth_method,
        effective_order=effective_order,
    )
    return float(score.score)


@dataclass(frozen=True)
class BleuCounts:
    """The counts of a sentence from which BLEU is computed.

    Attributes:
        correct: n-grams of the translation that match the reference (clipped), for n = 1, 2, 3, 4.
        total: all n-grams of the translation, for n = 1, 2, 3, 4.
        hypothesis_words: words of the translation.
        reference_words: words of the reference.
    """

    correct: list[int]
    total: list[int]
    hypothesis_words: int
    reference_words: int

    @property
    def sentence_bleu(self) -> float:
        """sacrebleu's sentence BLEU, from 0 to 100. It is smoothed, since most sentences have no matching 4-gram."""
        return compute_bleu(self.row, smooth_method="exp", effective_order=True)

    @property
    def row(self) -> list[int]:
        """The counts as ten numbers: correct (4), total (4), words of translation and reference."""
        return [*self.correct, *self.total, self.hypothesis_words, self.reference_words]

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> BleuCounts:
        """Return the counts in an entry of the list `by_sentence` of a score."""
        return cls(value["correct"], value["total"], value["hypothesis_words"], value["reference_words"])


def corpus_bleu(counts: Iterable[BleuCounts]) -> float:
    """Return BLEU, from 0 to 100, of at least one sentence."""
    columns = zip(*(sentence.row for sentence in counts), strict=True)  # one for each of the ten counts
    return round(compute_bleu([sum(column) for column in columns]), _DIGITS)


@lru_cache(maxsize=2**16)
def count_matches(hypothesis: str, reference: str) -> BleuCounts:
    """Return the counts of one sentence. They are cached, since scores, intervals and figures need the same counts."""
    score = multi_bleu().corpus_score([hypothesis], [[reference]])
    return BleuCounts(
        correct=score.counts,
        total=score.totals,
        hypothesis_words=score.sys_len,
        reference_words=score.ref_len,
    )


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
    """Compute the same as `score_model` for a system whose translations are a plain text, one per line (`path`).

    Only the line numbers of the sentences in `no_unk_path` are used.
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
            **vars(count_matches(" ".join(translation.target), reference)),
        }
        descriptions.append(description)
    return descriptions


def _bleu_or_none(by_sentence: Sequence[Mapping[str, Any]]) -> float | None:
    """Return corpus BLEU, given the result of `_describe_sentences`; None if there are none."""
    return corpus_bleu(map(BleuCounts.from_dict, by_sentence)) if by_sentence else None
