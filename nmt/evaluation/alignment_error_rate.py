"""Alignment error rate of a model's attention against gold word alignments (Och and Ney, 2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.evaluation.gold_alignments import Gold, Link, read_gold
from nmt.evaluation.translations import read_alignments
from nmt.io.text_files import read_lines

_DIGITS = 6


def attended_links(alignment: Sequence[Sequence[float]], source_words: int, target_words: int) -> set[Link]:
    """Link each target word to its most attended source word. Row and column of the end symbol give no links.

    `alignment` is T' x S'; see `translations.Record`. Of equal weights, the first wins.
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
    """Sums over sentences for the alignment error rate, with found links A, sure links S and possible links P."""

    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def add(self, found: set[Link], gold: Gold) -> None:
        """Count one sentence."""
        self.found += len(found)
        self.sure += len(gold.sure)
        self.found_sure += len(found & gold.sure)
        self.found_possible += len(found & gold.possible)

    def as_dict(self) -> dict[str, Any]:
        """Return precision |A and P| / |A|, recall |A and S| / |S|, AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        right = self.found_sure + self.found_possible
        return {
            "alignment_error_rate": round(1 - _ratio(right, self.found + self.sure), _DIGITS),
            "precision": round(_ratio(self.found_possible, self.found), _DIGITS),
            "recall": round(_ratio(self.found_sure, self.sure), _DIGITS),
            "links": self.found,
        }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def alignment_error_rate(model: str, alignments: Path, gold: Sequence[Path]) -> dict[str, Any]:
    """Compute the alignment error rate of a model's attention on the test set, and of two baselines by position.

    `alignments` holds the attention under teacher forcing with the reference; `gold` holds the gold links of the test
    set (see `gold_alignments`). Raises a `UserError` for a link outside its sentence, and if there are no sure gold
    links.
    """
    names = {"attention": LinkCounts(), "diagonal": LinkCounts(), "same_position": LinkCounts()}
    links = read_gold(gold, sentences=sum(1 for _ in read_lines(alignments)))
    sentences = 0
    for record in read_alignments(alignments):
        if record.alignment is None:
            raise UserError(
                f"{alignments}: line {record.line} has no attention; only an RNNsearch model has one"
            )
        if record.line not in links:
            continue
        size = (len(record.source), len(record.target))
        true = links[record.line]
        true.check(*size)
        names["attention"].add(attended_links(record.alignment, *size), true)
        names["diagonal"].add(diagonal_links(*size), true)
        names["same_position"].add(same_position_links(*size), true)
        sentences += 1
    if not sentences:
        raise UserError(
            f"{alignments}: no line has gold links in {', '.join(map(str, gold))}; give those of this text"
        )
    attention = names.pop("attention")
    if not attention.sure:
        raise UserError(f"{', '.join(map(str, gold))}: no sure links in it; expected those of this text")
    return {
        "model": model,
        "sentences": sentences,
        "gold_links": attention.sure,
        **attention.as_dict(),
        "baselines": {name: counts.as_dict() for name, counts in names.items()},
    }


def in_words(result: Mapping[str, Any]) -> str:
    """Return the result of `alignment_error_rate` as one line of text."""
    names = {"diagonal": "a plain diagonal", "same_position": "the same position"}
    baselines = ", ".join(
        f"{names[name]} {100 * values['alignment_error_rate']:.1f}%"
        for name, values in result["baselines"].items()
    )
    own = f"{100 * result['alignment_error_rate']:.1f}% on {result['sentences']:,} sentences"
    return f"Alignment error rate of {result['model']}: {own} ({baselines})."
