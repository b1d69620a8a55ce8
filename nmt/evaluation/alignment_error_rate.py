"""Alignment error rate of a model's attention against gold word alignments (Och and Ney, 2003).

Gold alignments come in the two usual formats. Pharaoh: one sentence per line; `i-j` is a sure link between source word
i and target word j, `i?j` (or `ipj`) a possible link, both counted from 0. A number before the links is that of the
sentence. WPT (Mihalcea and Pedersen, 2003): one link per line, `sentence i j [S|P]`, with words counted from 1. A
sentence without a line has no gold links. Sentences are numbered from 1 or 0; where neither shows, WPT's are from 1.
If these numbers would reach beyond the test set, the smallest number is its first sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.evaluation.translations import read_translations
from nmt.io.text_files import read_lines

Link = tuple[int, int]
"""Position of a source word, position of a target word, both from 0."""

_PHARAOH = re.compile(r"(\d{1,9})([-?p])(\d{1,9})")
_NUMBERED = re.compile(r"(\d{1,9})(?:\s+(.*))?")
_WPT = re.compile(r"(\d{1,9})\s+(0*[1-9]\d{0,8})\s+(0*[1-9]\d{0,8})(?:\s+([SP]))?(?:\s.*)?")


@dataclass
class Gold:
    """The links of a sentence, and their place in the file. Every sure link is also a possible link."""

    where: str
    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    def add(self, link: Link, sure: bool) -> None:
        """Add a link."""
        self.possible.add(link)
        if sure:
            self.sure.add(link)

    def check(self, source_words: int, target_words: int) -> None:
        """Raise a UserError for a link outside a pair with these numbers of words."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise UserError(
                    f"{self.where}: link {source}-{target} (from 0) is outside a pair of {source_words} and "
                    f"{target_words} words; it belongs to another text or tokenization"
                )


def read_gold_alignments(path: Path, sentences: int) -> dict[int, Gold]:
    """Read the links of a test set with this number of sentences, by line from 0."""
    lines = [(f"{path}, line {number}", line.strip()) for number, line in enumerate(read_lines(path), 1)]
    first = next((line for _, line in lines if line), "")
    form = next((form for form in (_WPT, _NUMBERED) if form.fullmatch(first)), None)
    by_sentence: dict[int, Gold] = {}
    for number, (where, line) in enumerate(lines):
        if form is None:
            by_sentence[number] = Gold(where)
            _add_pharaoh(by_sentence[number], line)
        elif line:
            match = form.fullmatch(line)
            if not match:
                raise UserError(f"{where}: found {line[:40]!r}, expected the form of the line {first[:40]!r}")
            gold = by_sentence.setdefault(int(match[1]), Gold(where))
            if form is _WPT:
                gold.add((int(match[2]) - 1, int(match[3]) - 1), sure=match[4] != "P")
            else:
                _add_pharaoh(gold, match[2] or "")
    return _by_line(by_sentence, sentences, is_wpt=form is _WPT) if by_sentence else {}


def _add_pharaoh(gold: Gold, links: str) -> None:
    for item in links.split():
        match = _PHARAOH.fullmatch(item)
        if not match:
            raise UserError(f"{gold.where}: found {item[:40]!r}, expected links such as 0-0")
        gold.add((int(match[1]), int(match[3])), sure=match[2] == "-")


def _by_line(numbered: dict[int, Gold], sentences: int, is_wpt: bool) -> dict[int, Gold]:
    """Convert links by sentence number into links by line of the test set, from 0."""
    first, last = min(numbered), max(numbered)
    if 0 < first <= last < sentences and not is_wpt:
        raise UserError(
            f"{numbered[first].where}: sentences {first} to {last} of {sentences} may be counted from 0 or from 1; "
            f"add a line with the number of the first or last sentence alone: 0 or {sentences}"
        )
    base = first if last > sentences else min(first, 1)
    if last - base >= sentences:
        raise UserError(
            f"{numbered[last].where}: sentence {last}, counted from {base}, is outside a test set of {sentences} "
            "sentences; it belongs to another text"
        )
    return {number - base: gold for number, gold in numbered.items()}


_DIGITS = 6


def attended_links(alignment: Sequence[Sequence[float]], source_words: int, target_words: int) -> set[Link]:
    """Link each target word to its most attended source word. Row and column of the end symbol give no links.

    `alignment` is T' x S'; see `translations.TranslationRecord`. Of equal weights, the first wins.
    """
    rows = enumerate(alignment[:target_words])
    best = {(max(range(len(row)), key=row.__getitem__), target) for target, row in rows if row}
    return {link for link in best if link[0] < source_words}


def diagonal_links(source_words: int, target_words: int) -> set[Link]:
    """Link each target word to the source word on the diagonal of the matrix."""
    return {(int((j + 0.5) * source_words / target_words), j) for j in range(target_words) if source_words}


def same_position_links(source_words: int, target_words: int) -> set[Link]:
    """Link each target word to the source word at the same position."""
    return {(j, j) for j in range(min(source_words, target_words))}


@dataclass
class LinkCounts:
    """Sums over sentences for the alignment error rate, with predicted links A, sure links S and possible links P."""

    predicted: int = 0
    sure: int = 0
    predicted_sure: int = 0
    predicted_possible: int = 0

    def add(self, predicted: set[Link], gold: Gold) -> None:
        """Count one sentence."""
        self.predicted += len(predicted)
        self.sure += len(gold.sure)
        self.predicted_sure += len(predicted & gold.sure)
        self.predicted_possible += len(predicted & gold.possible)

    def as_dict(self) -> dict[str, Any]:
        """Return precision |A and P| / |A|, recall |A and S| / |S|, AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        right = self.predicted_sure + self.predicted_possible
        return {
            "alignment_error_rate": round(1 - _ratio(right, self.predicted + self.sure), _DIGITS),
            "precision": round(_ratio(self.predicted_possible, self.predicted), _DIGITS),
            "recall": round(_ratio(self.predicted_sure, self.sure), _DIGITS),
            "links": self.predicted,
        }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def compute_alignment_error_rate(model: str, alignments: Path, gold: Path) -> dict[str, Any]:
    """Compute the alignment error rate of a model's attention on the test set, and of two baselines by position.

    `alignments` holds the attention under teacher forcing with the reference; `gold` holds the gold links of the test
    set. Raises a `UserError` for a link outside its sentence, and if there are no sure gold
    links.
    """
    names = {"attention": LinkCounts(), "diagonal": LinkCounts(), "same_position": LinkCounts()}
    links = read_gold_alignments(gold, sentences=sum(1 for _ in read_lines(alignments)))
    sentences = 0
    for record in read_translations(alignments):
        if record.line not in links:
            continue
        if record.alignment is None:
            raise UserError(f"{alignments}: no attention in it; expected that of a model that aligns")
        size = (len(record.source), len(record.target))
        true = links[record.line]
        true.check(*size)
        names["attention"].add(attended_links(record.alignment, *size), true)
        names["diagonal"].add(diagonal_links(*size), true)
        names["same_position"].add(same_position_links(*size), true)
        sentences += 1
    attention = names.pop("attention")
    if not attention.sure:
        raise UserError(f"{gold}: no sure links of the sentences of {alignments}")
    return {
        "model": model,
        "sentences": sentences,
        "gold_links": attention.sure,
        **attention.as_dict(),
        "baselines": {name: counts.as_dict() for name, counts in names.items()},
    }
