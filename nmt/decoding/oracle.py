"""The oracle of n-best lists: the best hypotheses, chosen by the reference (Sutskever et al., 2014, Table 2)."""

from __future__ import annotations

from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

from nmt.decoding.n_best_lists import NBestList, read_lists
from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines

_SENTENCE_BLEU = BLEU(tokenize="none", lowercase=False, force=True, effective_order=True)
"""Sentence BLEU, smoothed since most hypotheses have no matching 4-gram."""


def oracle(source: Path, lists: Path, reference: Path, output: Path) -> int:
    """Write the best hypothesis of each line's list, and return the number of lines.

    Raises:
        UserError: source, lists and reference do not fit together, or a line is malformed.
    """
    lines = sum(1 for _ in read_lines(source))
    references = sum(1 for _ in read_lines(reference))
    if references != lines:
        raise UserError(f"{reference}: {references} lines, expected {lines} as in {source}")
    with Progress(lines, "sentences", "oracle") as progress, write_lines(output) as writer:
        for sentence, wanted in zip(read_lists(lists, source, progress), read_lines(reference), strict=True):
            writer.write(best_by_bleu(sentence, wanted))
    return lines


def best_by_bleu(sentence: NBestList, reference: str) -> str:
    """Return the hypothesis with the best smoothed sentence BLEU on tokens, cased; the first one of equals."""
    texts = sentence.distinct
    if len(texts) == 1:
        return texts[0]
    return max(texts, key=lambda text: _SENTENCE_BLEU.sentence_score(text, [reference]).score)
