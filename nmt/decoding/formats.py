"""What translations are written as: text, n-best lists and alignments as in Moses and Marian, or JSON. Reads lists.

Moses' n-best lists stand one after the other: `id ||| hypothesis ||| features ||| score`, best first. Fields after the
score (phrases, alignment) are kept. A hypothesis that has `|||` in it is written with Moses' escape of that character,
`&#124;`. Records written by `nmt test-set decode` can also be read as lists.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nmt.decoding.translation import Translation
from nmt.errors import UserError
from nmt.evaluation.translations import read_translations, split_words
from nmt.io.compression import name_without_compression
from nmt.io.text_files import read_lines

if TYPE_CHECKING:
    from nmt.decoding.translation import Weights

AlignmentForm = Literal["pharaoh", "weights"]
DIGITS = 5
"""Decimals of attention and of log-probabilities of words."""
_LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""JSON escapes for characters that some programs take for the end of a line."""


def format_text(best: Translation, alignment: AlignmentForm | None) -> str:
    """Return a translation in one line, followed by its alignment if requested."""
    return in_fields(best.text, aligned(best, alignment)) if alignment else best.text


def format_n_best(number: int, n_best: Sequence[Translation], alignment: AlignmentForm | None) -> str:
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


def format_json_line(number: int, n_best: Sequence[Translation]) -> str:
    """Return all details as one JSON object in one line, with the keys of the records of `nmt test-set decode`."""
    best = n_best[0]
    record = {
        "line": number,
        "source": best.source.encode("utf-8", "replace").decode(),
        "source_tokens": best.source_tokens,
        "unknown_words": best.unknown_words,
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


# --- n-best lists -----------------------------------------------------------------------------------------------------

SEPARATOR = "|||"
_ESCAPED = "&#124;" * 3
"""Moses' tokenizer, which escapes each `|` by itself, never writes this without spaces."""


@dataclass(frozen=True)
class Entry:
    """A line of a list. features: unchanged text; score: the total score; rest: the fields after the score."""

    text: str
    score: float
    features: str = ""
    rest: tuple[str, ...] = ()

    def rescored(self, score: float, log_probability: float) -> Entry:
        """Return the entry with another total score, and the models' log-probability as one more feature."""
        features = f"{self.features} NMT0= {log_probability:.4f}".strip()
        return replace(self, score=score, features=features)

    def line(self, number: int) -> str:
        """Return the entry as a line of an n-best list."""
        return in_fields(str(number), self.text, self.features, f"{self.score:.4f}", *self.rest)


def in_fields(*fields: str) -> str:
    """Return fields as one line, with the separator between them and escaped in them."""
    return f" {SEPARATOR} ".join(field.replace(SEPARATOR, _ESCAPED) for field in fields)


@dataclass(frozen=True)
class NBestList:
    """The entries of the sentence at a line of the source, counted from 0."""

    line: int
    source: list[str]
    entries: Sequence[Entry]


def read_lists(path: Path, source: Path) -> Iterator[NBestList]:
    """Yield a list for each line of the source, in its order. Only one list is in memory at a time.

    A source line without words may have no list; its only entry is then empty.

    Raises:
        UserError: a line of the file is malformed, or lists are missing, out of order, or of other sentences.
    """
    is_records = name_without_compression(path).endswith(".jsonl")
    lists = _of_records(path) if is_records else _of_lines(path)
    current, line = next(lists, None), -1
    for line, text in enumerate(read_lines(source)):
        tokens = split_words(text)
        if current and current.line == line and current.source in ([], tokens):
            yield replace(current, source=tokens)
            current = next(lists, None)
        elif tokens:
            raise _misfit(path, source, f"of sentence {line}", current)
        else:
            yield NBestList(line, [], [Entry("", 0.0)])
    if current:
        raise _misfit(path, source, f"for its {line + 1} lines alone", current)


def _misfit(path: Path, source: Path, expected: str, current: NBestList | None) -> UserError:
    next_list = f"one of sentence {current.line}: {' '.join(current.source)[:60]}" if current else "the end"
    return UserError(f"{path}: expected a list {expected} of {source}, counted from 0; found {next_list}")


def _of_records(path: Path) -> Iterator[NBestList]:
    """Yield the lists in records written by `nmt test-set decode`."""
    for record in read_translations(path):
        if not record.n_best:
            missing = "no n-best list that `nmt test-set decode` writes (results keep none)"
            raise UserError(f"{path}: sentence {record.line} has {missing}")
        yield NBestList(
            record.line,
            record.source,
            [Entry(" ".join(one.target), one.log_probability) for one in record.n_best],
        )


def _of_lines(path: Path) -> Iterator[NBestList]:
    """Yield the lists in lines of Moses' format."""
    for number, group in groupby(_parsed(path), key=lambda numbered: numbered[0]):
        yield NBestList(number, [], [entry for _, entry in group])


def _parsed(path: Path) -> Iterable[tuple[int, Entry]]:
    """Yield each line's number of a sentence and its entry."""
    for place, line in enumerate(read_lines(path), start=1):
        fields = [field.strip(" ") for field in line.split(SEPARATOR)]
        try:
            number, text, features, score, *rest = fields
            if not number.isdecimal() or not math.isfinite(float(score)):
                raise ValueError
            tokens = split_words(text.replace(_ESCAPED, SEPARATOR))
            yield int(number), Entry(" ".join(tokens), float(score), features, tuple(rest))
        except ValueError:
            raise UserError(
                f"{path}, line {place}: found {line[:60]!r}, expected `id ||| hypothesis ||| features ||| score` with "
                f"the number of a sentence, from 0, and a number as score"
            ) from None
