"""BLEU as multi-bleu computes it, BLEU against sentence length, and the alignment error rate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from nmt.errors import UserError
from nmt.records import Record, read_alignments, read_translations, words
from nmt.text import read_lines, read_pairs

UNKNOWN_WORD = "[UNK]"
# more digits than anyone reads, and none that depend on the order of a sum
_DIGITS = 6

Link = tuple[int, int]
"""Position of a source word, position of a target word, both from 0."""

_PathsOfSides = Sequence[tuple[str | Path, str | Path]]


def multi_bleu(effective_order: bool = False) -> BLEU:
    """sacrebleu with the choices of Moses' multi-bleu.perl: tokens as they are, cased, without smoothing.

    The paper's scores are such scores (Sutskever et al., 2014, Sec. 3.6). `effective_order` touches only the
    score of a single sentence, never its counts.
    """
    return BLEU(
        tokenize="none", lowercase=False, smooth_method="none", force=True, effective_order=effective_order
    )


@dataclass(frozen=True)
class BleuCounts:
    """What corpus BLEU is computed from. Counts of disjoint sets of sentences add up to those of their union.

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
        """Corpus BLEU, 0 to 100."""
        score = BLEU.compute_bleu(
            list(self.correct),
            list(self.total),
            self.hypothesis_words,
            self.reference_words,
            smooth_method="none",
        )
        return round(score.score, _DIGITS)

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON keeps them."""
        return {
            "sentences": self.sentences,
            "correct": list(self.correct),
            "total": list(self.total),
            "hypothesis_words": self.hypothesis_words,
            "reference_words": self.reference_words,
        }

    @property
    def row(self) -> list[int]:
        """What sums over sentences need, in one row: correct, total, words of translation and reference."""
        return [*self.correct, *self.total, self.hypothesis_words, self.reference_words]

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> BleuCounts:
        """The inverse of `as_dict`; other keys are ignored."""
        return cls(
            value["sentences"],
            tuple(value["correct"]),
            tuple(value["total"]),
            value["hypothesis_words"],
            value["reference_words"],
        )


def sentence_counts(hypothesis: str, reference: str, metric: BLEU) -> BleuCounts:
    """Counts of one sentence."""
    score = metric.sentence_score(hypothesis, [reference])
    return BleuCounts(1, tuple(score.counts), tuple(score.totals), score.sys_len, score.ref_len)


@dataclass(frozen=True)
class Scored:
    """A translation beside its reference."""

    record: Record
    reference: str

    @property
    def hypothesis(self) -> str:
        """The generated words as multi-bleu reads them."""
        return " ".join(self.record.target)


def score(model: str, all_path: Path, no_unk_path: Path, test: _PathsOfSides) -> dict[str, Any]:
    """Both BLEU scores of Table 1 for one model, with what Figure 2 needs.

    `all_path` holds a translation of every sentence of the test set (`[UNK]` allowed: it scores as a wrong
    word), `no_unk_path` those of the sentences without unknown words in source and reference. `test` names
    source and reference of each test corpus, in the order in which they were translated. Raises a `UserError`
    when a translation is missing or belongs to another text.
    """
    pairs = [pair for source, reference in test for pair in read_pairs(source, reference)]
    everything = _match(all_path, pairs)
    if len(everything) != len(pairs):
        raise UserError(
            f"{all_path} has {len(everything)} translations, the test set {len(pairs)} lines; translate again"
        )
    known = _match(no_unk_path, pairs)
    bleu_all, signature = _corpus_bleu(everything)
    bleu_no_unk, _ = _corpus_bleu(known)
    return {
        "model": model,
        "bleu_all": bleu_all,
        "bleu_no_unk": bleu_no_unk,
        "signature": signature,
        "sentences_all": len(everything),
        "sentences_no_unk": len(known),
        "unfinished_all": sum(not item.record.finished for item in everything),
        "unknown_words_written": sum(item.record.target.count(UNKNOWN_WORD) for item in everything),
        "by_sentence": [_sentence(item) for item in everything],
    }


def _match(path: Path, pairs: Sequence[tuple[str, str]]) -> list[Scored]:
    """Put each translation beside its reference; line numbers rise, and the sources agree."""
    matched: list[Scored] = []
    for record in read_translations(path):
        if not 0 <= record.line < len(pairs):
            raise UserError(
                f"{path}: line {record.line} is outside the test set of {len(pairs)} lines; translate again"
            )
        if matched and record.line <= matched[-1].record.line:
            raise UserError(
                f"{path}: line {record.line} comes after {matched[-1].record.line}; translate again"
            )
        source, reference = pairs[record.line]
        if record.source != words(source):
            raise UserError(
                f"{path}: line {record.line} translates another sentence than the source; translate again"
            )
        matched.append(Scored(record, reference))
    return matched


def _corpus_bleu(items: Sequence[Scored]) -> tuple[float | None, str]:
    """Corpus BLEU and its signature; no score for no sentences."""
    if not items:
        return None, ""
    metric = multi_bleu()
    result = metric.corpus_score([item.hypothesis for item in items], [[item.reference for item in items]])
    return round(result.score, _DIGITS), metric.get_signature().format()


def _sentence(item: Scored) -> dict[str, Any]:
    """What figures need of a sentence: lengths in words, without end symbols, unknown words of the source, counts."""
    return {
        "source_length": len(item.record.source),
        "reference_length": len(words(item.reference)),
        "source_unknown": item.record.source_unknown,
        **sentence_counts(item.hypothesis, item.reference, multi_bleu(effective_order=True)).as_dict(),
    }


def attended_links(alignment: Sequence[Sequence[float]], source_words: int, target_words: int) -> set[Link]:
    """Link each target word to its most attended source word; the end symbol's row and column make no links.

    `alignment` is T' x S' as in `records.Record`. The first of equal weights wins.
    """
    rows = enumerate(alignment[:target_words])
    best = {(max(range(len(row)), key=row.__getitem__), target) for target, row in rows if row}
    return {link for link in best if link[0] < source_words}


def diagonal_links(source_words: int, target_words: int) -> set[Link]:
    """The matrix' diagonal, stretched over both sides: each target word and the source word at its height."""
    return {(int((j + 0.5) * source_words / target_words), j) for j in range(target_words) if source_words}


def same_position_links(source_words: int, target_words: int) -> set[Link]:
    """Each target word and the source word of the same number."""
    return {(j, j) for j in range(min(source_words, target_words))}


@dataclass
class LinkCounts:
    """Sums over sentences from which the alignment error rate follows."""

    found: int = 0
    gold: int = 0
    right: int = 0

    def add(self, found: set[Link], gold: set[Link]) -> None:
        """Count one sentence."""
        self.found += len(found)
        self.gold += len(gold)
        self.right += len(found & gold)

    def as_dict(self) -> dict[str, Any]:
        """Precision, recall and AER = 1 - 2 |A and S| / (|A| + |S|): Och and Ney (2003), all links sure."""
        return {
            "alignment_error_rate": _rounded(1 - _ratio(2 * self.right, self.found + self.gold)),
            "precision": _rounded(_ratio(self.right, self.found)),
            "recall": _rounded(_ratio(self.right, self.gold)),
            "links": self.found,
        }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


def alignment_error_rate(model: str, alignments: Path, gold: Sequence[Path]) -> dict[str, Any]:
    """Alignment error rate of a model's attention on the test set, beside two that know only the positions.

    `alignments` holds teacher-forced attention (the reference's words were fed), `gold` the known links of
    each test corpus, a line a sentence, in the order in which they were aligned. Raises a `UserError` for a
    link outside its sentence or a record without gold line.
    """
    names = {"attention": LinkCounts(), "diagonal": LinkCounts(), "same_position": LinkCounts()}
    known = list(_gold_lines(gold))
    sentences = 0
    for record in read_alignments(alignments):
        if record.alignment is None:
            raise UserError(
                f"{alignments}: line {record.line} has no attention; only an RNNsearch model has one"
            )
        size = (len(record.source), len(record.target))
        true = _gold_links(known, record.line, size, alignments)
        names["attention"].add(attended_links(record.alignment, *size), true)
        names["diagonal"].add(diagonal_links(*size), true)
        names["same_position"].add(same_position_links(*size), true)
        sentences += 1
    attention = names.pop("attention")
    baselines = {name: counts.as_dict() for name, counts in names.items()}
    return {
        "model": model,
        "sentences": sentences,
        "gold_links": attention.gold,
        **attention.as_dict(),
        "baselines": baselines,
    }


def _gold_lines(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield where a line stands, and the line."""
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            yield f"{path}, line {number}", line


def _gold_links(
    known: Sequence[tuple[str, str]], line: int, size: tuple[int, int], alignments: Path
) -> set[Link]:
    if not 0 <= line < len(known):
        raise UserError(
            f"{alignments}: line {line} has no gold links, there are {len(known)} lines of them; align again"
        )
    where, text = known[line]
    links = set()
    for item in text.split():
        match = re.fullmatch(r"(\d+)-(\d+)", item)
        if not match:
            raise UserError(f"{where}: found {item!r}, expected links such as 0-0; make the file again")
        link = (int(match[1]), int(match[2]))
        if link[0] >= size[0] or link[1] >= size[1]:
            raise UserError(
                f"{where}: link {item} is outside a pair of {size[0]} and {size[1]} words; make it again"
            )
        links.add(link)
    return links
