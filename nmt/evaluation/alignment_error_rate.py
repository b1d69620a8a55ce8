"""Alignment error rate of a model's attention against gold word alignments (Och and Ney, 2003).

Gold alignments are in Pharaoh's format, one sentence per line: `i-j` is a sure link between source word i and target
word j, `i?j` (or `ipj`) a possible link, both counted from 0.
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

# --- gold links -------------------------------------------------------------------------------------------------------

_PHARAOH_LINK = re.compile(r"(?P<source>\d{1,9})(?P<kind>[-?p])(?P<target>\d{1,9})")


@dataclass
class GoldLinks:
    """The links of a sentence, and their location in the file. Every sure link is also a possible link."""

    location: str
    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    def check(self, source_words: int, target_words: int) -> None:
        """Raise a UserError for a link outside a pair with these numbers of words."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise UserError(
                    f"{self.location}: link {source}-{target} (from 0) is outside a pair of {source_words} and "
                    f"{target_words} words; it belongs to a different text or tokenization"
                )


def read_gold_alignments(path: Path, sentence_count: int) -> list[GoldLinks]:
    """Return the gold links of the sentences of a test set, in order. A file may end before the last sentences."""
    gold_links = []
    for number, line in enumerate(read_lines(path), start=1):
        gold_links.append(_parse_pharaoh(f"{path}, line {number}", line))
    if len(gold_links) > sentence_count:
        raise UserError(
            f"{path}: has {len(gold_links)} lines, but the test set has {sentence_count} sentences; "
            "it belongs to a different text"
        )
    return gold_links


def _parse_pharaoh(location: str, line: str) -> GoldLinks:
    """Return the links in a line of Pharaoh's format, such as `0-0 1?2`."""
    links = GoldLinks(location)
    for item in line.split():
        match = _PHARAOH_LINK.fullmatch(item)
        if not match:
            raise UserError(f"{location}: found {item[:40]!r}, expected links such as 0-0")
        link = int(match["source"]), int(match["target"])
        links.possible.add(link)
        if match["kind"] == "-":
            links.sure.add(link)
    return links


# --- predicted links --------------------------------------------------------------------------------------------------


def link_by_attention(alignment: Sequence[list[float]], source_words: int, target_words: int) -> set[Link]:
    """Return the links of each target word to its most attended source word, or to the first of several.

    `alignment` is the attention (T, S). It may have a row and a column for the end symbols, which give no links.
    """
    links = set()
    for target, weights in enumerate(alignment[:target_words]):
        if weights:  # a sentence without source words has empty rows
            source = weights.index(max(weights))
            if source < source_words:
                links.add((source, target))
    return links


def link_diagonal(source_words: int, target_words: int) -> set[Link]:
    """Return the links of each target word to the source word on the diagonal of the matrix."""
    if not source_words:
        return set()
    # the middle of target word j, scaled to the length of the source
    return {(int((j + 0.5) * source_words / target_words), j) for j in range(target_words)}


def link_same_position(source_words: int, target_words: int) -> set[Link]:
    """Return the links of each target word to the source word at the same position."""
    return {(j, j) for j in range(min(source_words, target_words))}


# --- the rate ---------------------------------------------------------------------------------------------------------

_DIGITS = 6


@dataclass
class LinkCounts:
    """Sums over sentences for the alignment error rate, with predicted links A, sure links S and possible links P.

    Without sure links there is no rate.
    """

    predicted: int = 0
    sure: int = 0
    predicted_sure: int = 0
    predicted_possible: int = 0

    def add(self, predicted: set[Link], gold: GoldLinks) -> None:
        """Count one sentence."""
        self.predicted += len(predicted)
        self.sure += len(gold.sure)
        self.predicted_sure += len(predicted & gold.sure)
        self.predicted_possible += len(predicted & gold.possible)

    def as_dict(self) -> dict[str, Any]:
        """Return precision |A and P| / |A|, recall |A and S| / |S|, AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        correct = self.predicted_sure + self.predicted_possible
        return {
            "alignment_error_rate": round(1 - correct / (self.predicted + self.sure), _DIGITS),
            "precision": round(self.predicted_possible / max(1, self.predicted), _DIGITS),
            "recall": round(self.predicted_sure / self.sure, _DIGITS),
            "links": self.predicted,
        }


def compute_alignment_error_rate(model: str, alignments: Path, gold: Path) -> dict[str, Any]:
    """Compute the alignment error rate of a model's attention on the test set, and of two baselines by position.

    alignments: the attention of the model that reads the reference (teacher forcing). gold: the file of gold links.

    Raises:
        UserError: a link is outside its sentence, the model has no attention, or there are no sure gold links.
    """
    attention_counts = LinkCounts()
    diagonal_counts = LinkCounts()
    same_position_counts = LinkCounts()
    gold_links = read_gold_alignments(gold, sentence_count=sum(1 for _ in read_lines(alignments)))
    sentence_count = 0
    for sentence in read_translations(alignments):
        if sentence.line >= len(gold_links):  # nobody has aligned this sentence
            continue
        if sentence.alignment is None:
            raise UserError(
                f"{alignments}: no attention in it; expected the output of a model with attention"
            )
        links = gold_links[sentence.line]
        source_words, target_words = len(sentence.source), len(sentence.target)
        links.check(source_words, target_words)
        attention_counts.add(link_by_attention(sentence.alignment, source_words, target_words), links)
        diagonal_counts.add(link_diagonal(source_words, target_words), links)
        same_position_counts.add(link_same_position(source_words, target_words), links)
        sentence_count += 1
    if not attention_counts.sure:
        raise UserError(f"{gold}: no sure links of the sentences of {alignments}")
    return {
        "model": model,
        "sentences": sentence_count,
        "gold_links": attention_counts.sure,
        **attention_counts.as_dict(),
        "baselines": {
            "diagonal": diagonal_counts.as_dict(),
            "same_position": same_position_counts.as_dict(),
        },
    }
