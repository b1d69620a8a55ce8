"""What translations are written as: text, n-best lists and alignments as in Moses and Marian, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nmt.decoding.n_best_lists import in_fields
from nmt.decoding.translation import Translation

if TYPE_CHECKING:
    from nmt.decoding.translation import Weights

AlignmentForm = Literal["pharaoh", "weights"]
DIGITS = 5
"""Decimals of attention and of log-probabilities of words."""
_LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""JSON escapes for characters that some programs take for the end of a line."""


def as_text(best: Translation, alignment: AlignmentForm | None) -> str:
    """Return a translation in one line, followed by its alignment if requested."""
    return in_fields(best.text, aligned(best, alignment)) if alignment else best.text


def as_n_best(number: int, n_best: Sequence[Translation], alignment: AlignmentForm | None) -> str:
    """Return a line of an n-best list for each translation, with the alignment after the score if requested."""
    rows = []
    for translation in n_best:
        score, last = f"{translation.score:.4f}", [aligned(translation, alignment)] if alignment else []
        rows.append(in_fields(str(number), translation.text, f"NMT0= {score}", score, *last))
    return "\n".join(rows)


def aligned(translation: Translation, form: AlignmentForm) -> str:
    """Return the alignment of a translation's tokens, in either format."""
    assert translation.piece_attention is not None
    return pharaoh(translation.piece_attention) if form == "pharaoh" else soft(translation.piece_attention)


def pharaoh(pieces: Sequence[Weights]) -> str:
    """Return links `i-j` from 0: source token i has most attention for target token j."""
    links = []
    source = target = 0
    for weights in pieces:
        best = weights.argmax(axis=1) if weights.size else []
        links += [f"{source + int(i)}-{j}" for j, i in enumerate(best, start=target)]
        source, target = source + weights.shape[1], target + len(weights)
    return " ".join(links)


def soft(pieces: Sequence[Weights]) -> str:
    """Return a group for each target token, with a number for each source token of its piece: 0.9,0.1 0.2,0.8."""
    return " ".join(
        ",".join(f"{weight:.{DIGITS}f}" for weight in row) for weights in pieces for row in weights
    )


def as_json(number: int, n_best: Sequence[Translation]) -> str:
    """Return all details as one JSON object in one line, with the keys of the records of `nmt test-set decode`."""
    best = n_best[0]
    record = {
        "line": number,
        "source": best.source.encode("utf-8", "replace").decode(),
        "source_tokens": best.source_tokens,
        "pieces": best.pieces,
        **details(best),
        "n_best": [details(translation) for translation in n_best],
    }
    return json.dumps(record, ensure_ascii=False).translate(_LINE_ENDS)


def details(translation: Translation) -> dict[str, Any]:
    """Return what a record says of one translation. The alignment has a row for each target token."""
    weights = translation.piece_attention
    return {
        "text": translation.text,
        "tokens": translation.tokens,
        "log_probability": translation.score,
        "word_log_probabilities": [round(value, DIGITS) for value in translation.token_scores],
        "finished": translation.finished,
        "alignment": None if weights is None else [row for piece in weights for row in rounded(piece)],
    }


def rounded(weights: Weights) -> list[list[float]]:
    """Return attention as it is written."""
    matrix: list[list[float]] = weights.astype(np.float64).round(DIGITS).tolist()
    return matrix
