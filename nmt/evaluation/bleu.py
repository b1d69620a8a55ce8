"""BLEU as in multi-bleu, for a test set and for each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.errors import UserError
from nmt.evaluation.translations import TranslationRecord, read_plain, read_translations, split_words
from nmt.io.text_files import read_pairs

# more digits than anyone reads, and none that depend on the order of a sum
_DIGITS = 6

TestSet = tuple[Path, Path]
"""Source and reference, as token files."""


@cache
def multi_bleu() -> BLEU:
    """Return sacrebleu's metric with the choices of Moses' multi-bleu.perl: given tokens, cased, without smoothing.

    The paper's scores are computed in this way (Sutskever et al., 2014, Sec. 3.6). sacrebleu also splits at white
    space beyond ASCII (no-break spaces). Tokens never contain it, so only untokenized text may have another score.
    """
    return BLEU(tokenize="none", lowercase=False, smooth_method="none", force=True)


@cache
def bleu_signature(**bootstrap: int) -> str:
    """Return sacrebleu's signature of these scores against one reference; for a bootstrap with `seed` and `bs`."""
    metric = multi_bleu()
    metric.corpus_score([""], [[""]])  # by which it learns how many references there are
    signature = metric.get_signature()
    for name, value in bootstrap.items():
        signature.update(name, value)
    return str(signature.format())


def compute_bleu(row: Sequence[int], **options: Any) -> float:
    """Return BLEU, from 0 to 100, of counts in the order of `BleuCounts.row`; `options` as for sacrebleu."""
    options = {"smooth_method": "none", **options}
    return float(BLEU.compute_bleu([*row[:4]], [*row[4:8]], row[8], row[9], **options).score)


@dataclass(frozen=True)
class BleuCounts:
    """The counts for corpus BLEU. The counts of disjoint sets of sentences add up to those of their union.

    `correct` and `total` are the clipped matches and all n-grams of the translations, for n = 1, 2, 3, 4.
    """

    sentences: int
    correct: tuple[int, ...]
    total: tuple[int, ...]
    hypothesis_words: int
    reference_words: int

    def __add__(self, other: BleuCounts) -> BleuCounts:
        return BleuCounts(
            self.sentences + other.sentences,
            tuple(a + b for a, b in zip(self.correct, other.correct, strict=True)),
            tuple(a + b for a, b in zip(self.total, other.total, strict=True)),
            self.hypothesis_words + other.hypothesis_words,
            self.reference_words + other.reference_words,
        )

    @property
    def bleu(self) -> float:
        """Corpus BLEU, from 0 to 100."""
        return round(compute_bleu(self.row), _DIGITS)

    @property
    def smoothed(self) -> float:
        """BLEU of a sentence, smoothed, since most sentences have no matching 4-gram; sacrebleu's sentence BLEU."""
        return compute_bleu(self.row, smooth_method="exp", effective_order=True)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts in the form of the JSON files."""
        return vars(self) | {"correct": list(self.correct), "total": list(self.total)}

    @property
    def row(self) -> list[int]:
        """Return the counts in one row: correct, total, words of translation and reference."""
        return [*self.correct, *self.total, self.hypothesis_words, self.reference_words]

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> BleuCounts:
        """Read the counts from the form of `as_dict`; other keys are ignored."""
        return cls(
            value["sentences"],
            tuple(value["correct"]),
            tuple(value["total"]),
            value["hypothesis_words"],
            value["reference_words"],
        )


def sum_counts(counts: Iterable[BleuCounts]) -> BleuCounts:
    """Return the total counts of at least one sentence."""
    return reduce(BleuCounts.__add__, counts)


@lru_cache(maxsize=2**16)
def sentence_counts(hypothesis: str, reference: str) -> BleuCounts:
    """Return the counts of one sentence. Scores, intervals and figures share them, so they are made once."""
    score = multi_bleu().corpus_score([hypothesis], [[reference]])
    return BleuCounts(1, tuple(score.counts), tuple(score.totals), score.sys_len, score.ref_len)


@dataclass(frozen=True)
class Scored:
    """A translation with its reference."""

    record: TranslationRecord
    reference: str

    @property
    def hypothesis(self) -> str:
        """The generated words as one string, for multi-bleu."""
        return " ".join(self.record.target)

    @property
    def counts(self) -> BleuCounts:
        """The counts for BLEU."""
        return sentence_counts(self.hypothesis, self.reference)


def score_model(model: str, all_path: Path, no_unk_path: Path, test: TestSet) -> dict[str, Any]:
    """Compute both BLEU scores of Table 1 for one model, and the counts of each sentence for tables and figures.

    `all_path` holds the translations of all sentences of the test set; `[UNK]` is allowed and scores as a wrong word.
    `no_unk_path` holds the translations of the sentences without unknown words in source and reference. Raises a
    `UserError` if a translation is missing or belongs to another text.
    """
    pairs = list(read_pairs(*test))
    everything = match(all_path, pairs)
    if len(everything) != len(pairs):
        raise UserError(
            f"{all_path} has {len(everything)} translations, the test set {len(pairs)} lines; translate again"
        )
    return _scores(model, everything, match(no_unk_path, pairs))


def score_other_system(system: str, path: Path, no_unk_path: Path, test: TestSet) -> dict[str, Any]:
    """Compute the same as `score_model` for another system. `path` holds its translations, one per line.

    Only the line numbers of the sentences in `no_unk_path` are used.
    """
    pairs = list(read_pairs(*test))
    lines = enumerate(zip(read_plain(path, len(pairs)), pairs, strict=True))
    everything = [
        Scored(TranslationRecord(line=line, source=split_words(source), target=translation), reference)
        for line, (translation, (source, reference)) in lines
    ]
    no_unk = [everything[item.record.line] for item in match(no_unk_path, pairs)]
    return _scores(system, everything, no_unk)


def _scores(model: str, everything: Sequence[Scored], no_unk: Sequence[Scored]) -> dict[str, Any]:
    return {
        "model": model,
        "bleu_all": _corpus_bleu(everything),
        "bleu_no_unk": _corpus_bleu(no_unk),
        "signature": bleu_signature() if everything else "",
        "sentences_all": len(everything),
        "sentences_no_unk": len(no_unk),
        "unfinished_all": sum(not item.record.finished for item in everything),
        "unknown_words_written": sum(item.record.target.count(UNKNOWN_WORD) for item in everything),
        "by_sentence": [_sentence(item) for item in everything],
        "by_sentence_no_unk": [_sentence(item) for item in no_unk],
    }


def match(path: Path, pairs: Sequence[tuple[str, str]]) -> list[Scored]:
    """Pair each translation with its reference. Line numbers increase, and the sources are those of the test set."""
    matched: list[Scored] = []
    last = -1
    for record in read_translations(path):
        source, reference = pairs[record.line] if last < record.line < len(pairs) else (None, "")
        if source is None or record.source != split_words(source):
            raise UserError(f"{path}: line {record.line} is not the next of this test set; translate again")
        matched.append(Scored(record, reference))
        last = record.line
    return matched


def _corpus_bleu(items: Sequence[Scored]) -> float | None:
    """Return corpus BLEU; None if there are no sentences."""
    return sum_counts(item.counts for item in items).bleu if items else None


def _sentence(item: Scored) -> dict[str, Any]:
    """Return values of a sentence for figures: lengths in words, without end symbols; unknown source words; counts."""
    return {
        "source_length": len(item.record.source),
        "reference_length": len(split_words(item.reference)),
        "source_unknown": item.record.source_unknown,
        **item.counts.as_dict(),
    }
