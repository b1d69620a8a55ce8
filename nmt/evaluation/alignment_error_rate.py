"""Alignment error rate of a model's attention against gold word alignments (Och and Ney, 2003).

Gold alignments come in two formats:

    Pharaoh: one sentence per line. `i-j` is a sure link between source word i and target word j, `i?j` (or `ipj`) a
    possible link, both counted from 0. A number before the links is that of the sentence.

    WPT (Mihalcea and Pedersen, 2003): one link per line, `sentence i j [S|P]`, with words counted from 1. A sentence
    without a line has no gold links.

Sentences are numbered from 1 or 0; if the numbers do not tell, WPT's are from 1. If these numbers would reach beyond
the test set, the smallest number is its first sentence.
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
_NUMBERED_PHARAOH = re.compile(r"(?P<sentence>\d{1,9})(?:\s+(?P<links>.*))?")
_WPT = re.compile(
    r"(?P<sentence>\d{1,9})\s+(?P<source>0*[1-9]\d{0,8})\s+(?P<target>0*[1-9]\d{0,8})(?:\s+(?P<kind>[SP]))?(?:\s.*)?"
)


@dataclass
class GoldLinks:
    """The links of a sentence, and their location in the file. Every sure link is also a possible link."""

    location: str
    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    def add(self, link: Link, is_sure: bool) -> None:
        """Add a link."""
        self.possible.add(link)
        if is_sure:
            self.sure.add(link)

    def add_pharaoh(self, links: str) -> None:
        """Add links in Pharaoh's format, such as `0-0 1?2`."""
        for item in links.split():
            match = _PHARAOH_LINK.fullmatch(item)
            if not match:
                raise UserError(f"{self.location}: found {item[:40]!r}, expected links such as 0-0")
            self.add((int(match["source"]), int(match["target"])), is_sure=match["kind"] == "-")

    def check(self, source_words: int, target_words: int) -> None:
        """Raise a UserError for a link outside a pair with these numbers of words."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise UserError(
                    f"{self.location}: link {source}-{target} (from 0) is outside a pair of {source_words} and "
                    f"{target_words} words; it belongs to another text or tokenization"
                )


def read_gold_alignments(path: Path, sentence_count: int) -> dict[int, GoldLinks]:
    """Return the gold links of a test set with this number of sentences, by line of the test set, from 0."""
    lines = [line.strip() for line in read_lines(path)]

    # 1. the first line with text tells the format; Pharaoh's without sentence numbers has one line per sentence
    first_line = next(filter(None, lines), "")
    line_format = None
    if _WPT.fullmatch(first_line):
        line_format = _WPT
    elif _NUMBERED_PHARAOH.fullmatch(first_line):
        line_format = _NUMBERED_PHARAOH

    # 2. links by number of the sentence
    links_by_number: dict[int, GoldLinks] = {}
    for index, line in enumerate(lines):
        location = f"{path}, line {index + 1}"
        if line_format is None:
            links_by_number[index] = GoldLinks(location)
            links_by_number[index].add_pharaoh(line)
        elif line:
            match = line_format.fullmatch(line)
            if not match:
                raise UserError(
                    f"{location}: found {line[:40]!r}, expected the form of the line {first_line[:40]!r}"
                )
            links = links_by_number.setdefault(int(match["sentence"]), GoldLinks(location))
            if line_format is _WPT:
                link = int(match["source"]) - 1, int(match["target"]) - 1
                links.add(link, is_sure=match["kind"] != "P")
            else:
                links.add_pharaoh(match["links"] or "")

    # 3. by line of the test set
    if not links_by_number:
        return {}
    return _number_from_zero(links_by_number, sentence_count, is_wpt=line_format is _WPT)


def _number_from_zero(
    links_by_number: dict[int, GoldLinks], sentence_count: int, is_wpt: bool
) -> dict[int, GoldLinks]:
    """Return the links by line of the test set, from 0, given the links by sentence number.

    Raises:
        UserError: it is unclear whether Pharaoh's numbers begin at 0 or 1, or a number is outside the test set.
    """
    min_number, max_number = min(links_by_number), max(links_by_number)
    if 0 < min_number <= max_number < sentence_count and not is_wpt:
        raise UserError(
            f"{links_by_number[min_number].location}: sentences {min_number} to {max_number} of {sentence_count} may "
            "be counted from 0 or from 1; add a line with the number of the first or last sentence alone: 0 or "
            f"{sentence_count}"
        )

    # Sentences before the smallest number have no links. But numbers beyond the size of the test set cannot begin at 0
    # or 1: then the smallest number is its first sentence.
    base = min_number if max_number > sentence_count else min(min_number, 1)
    if max_number - base >= sentence_count:
        raise UserError(
            f"{links_by_number[max_number].location}: sentence {max_number}, counted from {base}, is outside a test "
            f"set of {sentence_count} sentences; it belongs to another text"
        )
    return {number - base: links for number, links in links_by_number.items()}


# --- predicted links --------------------------------------------------------------------------------------------------


def link_by_attention(
    alignment: Sequence[Sequence[float]], source_words: int, target_words: int
) -> set[Link]:
    """Link each target word to its most attended source word, or to the first such word if weights are equal.

    `alignment` is a matrix of attention (T, S), perhaps with a row and a column for the end symbols, which give no
    links.
    """
    links = set()
    for target, weights in enumerate(alignment[:target_words]):
        if weights:
            source = max(range(len(weights)), key=weights.__getitem__)
            if source < source_words:
                links.add((source, target))
    return links


def link_diagonal(source_words: int, target_words: int) -> set[Link]:
    """Link each target word to the source word on the diagonal of the matrix."""
    return {(int((j + 0.5) * source_words / target_words), j) for j in range(target_words) if source_words}


def link_same_position(source_words: int, target_words: int) -> set[Link]:
    """Link each target word to the source word at the same position."""
    return {(j, j) for j in range(min(source_words, target_words))}


# --- the rate ---------------------------------------------------------------------------------------------------------

_DIGITS = 6


@dataclass
class LinkCounts:
    """Sums over sentences for the alignment error rate, with predicted links A, sure links S and possible links P."""

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
            "alignment_error_rate": round(1 - _ratio(correct, self.predicted + self.sure), _DIGITS),
            "precision": round(_ratio(self.predicted_possible, self.predicted), _DIGITS),
            "recall": round(_ratio(self.predicted_sure, self.sure), _DIGITS),
            "links": self.predicted,
        }


def _ratio(count: int, total: int) -> float:
    return count / total if total else 0.0


def compute_alignment_error_rate(model: str, alignments: Path, gold: Path) -> dict[str, Any]:
    """Compute the alignment error rate of a model's attention on the test set, and of two baselines by position.

    Args:
        model: name of the model.
        alignments: the model's attention under teacher forcing with the reference.
        gold: the gold links of the test set.

    Raises:
        UserError: a link is outside its sentence, the model has no attention, or there are no sure gold links.
    """
    attention_counts = LinkCounts()
    diagonal_counts = LinkCounts()
    same_position_counts = LinkCounts()
    gold_links = read_gold_alignments(gold, sentence_count=sum(1 for _ in read_lines(alignments)))
    sentence_count = 0
    for record in read_translations(alignments):
        if record.line not in gold_links:  # nobody has aligned this sentence
            continue
        if record.alignment is None:
            raise UserError(
                f"{alignments}: no attention in it; expected the output of a model with attention"
            )
        links = gold_links[record.line]
        source_words, target_words = len(record.source), len(record.target)
        links.check(source_words, target_words)
        attention_counts.add(link_by_attention(record.alignment, source_words, target_words), links)
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
