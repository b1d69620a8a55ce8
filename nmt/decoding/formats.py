"""The formats in which translations are written: text, n-best lists and alignments as in Moses and Marian, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.decoding.n_best_lists import join_fields
from nmt.decoding.translation import Translation

DIGITS = 5
"""Decimals of attention and of log-probabilities of words."""
_UNSAFE_CHARACTERS = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""JSON escapes for control characters, on which a terminal would act, and for those that some programs take for the end
of a line."""


def format_text(number: int, translations: Sequence[Translation], with_alignment: bool) -> str:
    """Return the best translation in one line, followed by its alignment if requested."""
    best_translation = translations[0]
    if not with_alignment:
        return best_translation.text
    return join_fields(best_translation.text, format_alignment(best_translation))


def format_n_best(number: int, translations: Sequence[Translation], with_alignment: bool) -> str:
    """Return a line of an n-best list for each translation of the sentence with this number.

    The alignment comes after the score if requested.
    """
    lines = []
    for translation in translations:
        score = f"{translation.score:.4f}"
        fields = [str(number), translation.text, f"NMT0= {score}", score]
        if with_alignment:
            fields.append(format_alignment(translation))
        lines.append(join_fields(*fields))
    return "\n".join(lines)


def format_alignment(translation: Translation) -> str:
    """Return the alignment of a translation in Pharaoh's format: a link `i-j`, from 0, for each target token j.

    Target token j has most attention to source token i. A long line is translated in pieces (`--max-words`), and a
    target token has attention only to the source tokens of its piece.
    """
    assert translation.piece_attention is not None
    links: list[str] = []  # one for each target token so far
    source_start = 0  # index of the first source token of the current piece
    for attention in translation.piece_attention:
        for source_index in attention.argmax(axis=1).tolist():
            links.append(f"{source_start + source_index}-{len(links)}")
        source_start += attention.shape[1]
    return " ".join(links)


def format_json_line(number: int, translations: Sequence[Translation], with_alignment: bool) -> str:
    """Return the translations of the sentence with this number as a JSON object in one line, best first.

    It has the attention that the translations have. Files of `nmt test-set decode` have the same keys.
    """
    best_translation = translations[0]
    entry = {
        "line": number,
        # a surrogate, which UTF-8 cannot represent, becomes a question mark
        "source": best_translation.source.encode("utf-8", "replace").decode(),
        "source_tokens": best_translation.source_tokens,
        "unknown_words": best_translation.unknown_words,
        "pieces": best_translation.piece_lengths,
        **describe_translation(best_translation),
        "n_best": [describe_translation(translation) for translation in translations],
    }
    return json.dumps(entry, ensure_ascii=False).translate(_UNSAFE_CHARACTERS)


def describe_translation(translation: Translation) -> dict[str, Any]:
    """Return a translation as it is written to JSON. The alignment has a row for each target token."""
    alignment = None
    if translation.piece_attention is not None:
        alignment = [row for attention in translation.piece_attention for row in round_attention(attention)]
    return {
        "text": translation.text,
        "tokens": translation.tokens,
        "log_probability": translation.score,
        "word_log_probabilities": [round(value, DIGITS) for value in translation.token_scores],
        "finished": translation.finished,
        "alignment": alignment,
    }


def round_attention(attention: NDArray[np.floating]) -> list[list[float]]:
    """Return attention as it is written to JSON, in rows."""
    rows: list[list[float]] = attention.astype(np.float64).round(DIGITS).tolist()
    return rows
