"""n-best lists in Moses' format: `id ||| hypothesis ||| features ||| score`, one list after the other, best first.

Fields after the score (phrases, alignment) are kept. A hypothesis that has `|||` in it is written with Moses' escape of
that character, `&#124;`. Translations written by `nmt test-set decode` can also be read as n-best lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from nmt.errors import UserError
from nmt.evaluation.translations import read_translations, split_words
from nmt.io.compression import name_without_compression
from nmt.io.text_files import read_lines

SEPARATOR = "|||"
_ESCAPED_SEPARATOR = "&#124;" * 3
"""Moses' tokenizer, which escapes each `|` by itself, never writes this without spaces."""


@dataclass(frozen=True)
class NBestEntry:
    """A line of an n-best list.

    Attributes:
        text: the hypothesis.
        score: its total score.
        features: the scores that it is computed from, as they stand in the file.
        extra_fields: the fields after the score.
    """

    text: str
    score: float
    features: str = ""
    extra_fields: tuple[str, ...] = ()

    def format(self, number: int) -> str:
        """Return the entry as a line of the n-best list of the sentence with this number."""
        return join_fields(str(number), self.text, self.features, f"{self.score:.4f}", *self.extra_fields)


def join_fields(*fields: str) -> str:
    """Join fields to a line, with the separator between them. A separator within a field is escaped."""
    return f" {SEPARATOR} ".join(field.replace(SEPARATOR, _ESCAPED_SEPARATOR) for field in fields)


@dataclass(frozen=True)
class NBestList:
    """The n-best list of a sentence, with its source tokens. Sentences are numbered from 0, as lines of the source."""

    number: int
    source: list[str]
    entries: Sequence[NBestEntry]

    @property
    def texts(self) -> list[str]:
        """The hypotheses."""
        return [entry.text for entry in self.entries]


def read_n_best_lists(path: Path, source: Path) -> Iterator[NBestList]:
    """Yield an n-best list for each line of the source, in its order. Only one list is in memory at a time.

    A source line without words needs no list in the file. Its list then has one empty hypothesis.

    Raises:
        UserError: a line of the file is malformed, or a list is missing, out of order, or belongs to another sentence.
    """
    is_json = name_without_compression(path).endswith(".jsonl")
    lists = _read_json_lists(path) if is_json else _read_moses_lists(path)
    next_list = next(lists, None)
    expectation = f"{path}: expected a list for each line of {source}, in order"
    for number, text in enumerate(read_lines(source)):
        tokens = split_words(text)
        # The source of a list in Moses' format is empty.
        if next_list and next_list.number == number and next_list.source in ([], tokens):
            yield replace(next_list, source=tokens)
            next_list = next(lists, None)
        elif tokens:
            raise UserError(f"{expectation}; it has none for line {number} (from 0)")
        else:
            yield NBestList(number, [], [NBestEntry("", 0.0)])
    if next_list:
        raise UserError(f"{expectation}; it has one more, for sentence {next_list.number}")


def _read_json_lists(path: Path) -> Iterator[NBestList]:
    """Yield the n-best lists of translations written by `nmt test-set decode`."""
    for sentence in read_translations(path):
        if not sentence.n_best:
            raise UserError(
                f"{path}: sentence {sentence.line} has no n-best list; expected what `nmt test-set decode` writes"
            )
        entries = []
        for hypothesis in sentence.n_best:
            entries.append(NBestEntry(" ".join(hypothesis.tokens), hypothesis.log_probability))
        yield NBestList(sentence.line, sentence.source, entries)


def _read_moses_lists(path: Path) -> Iterator[NBestList]:
    """Yield the n-best lists of a file in Moses' format. Their sources are empty."""
    for number, group in groupby(_read_moses_entries(path), key=itemgetter(0)):  # by the sentence's number
        yield NBestList(number, [], [entry for _, entry in group])


def _read_moses_entries(path: Path) -> Iterator[tuple[int, NBestEntry]]:
    """Yield the number of the sentence and the entry of each line."""
    for line_number, line in enumerate(read_lines(path), start=1):
        fields = [field.strip(" ") for field in line.split(SEPARATOR)]
        try:
            number, text, features, score, *extra_fields = fields
            if not number.isdecimal() or not math.isfinite(float(score)):
                raise ValueError  # the handler below reports the line
            tokens = split_words(text.replace(_ESCAPED_SEPARATOR, SEPARATOR))
            entry = NBestEntry(" ".join(tokens), float(score), features, tuple(extra_fields))
            yield int(number), entry
        except ValueError:
            raise UserError(
                f"{path}, line {line_number}: found {line[:60]!r}, expected `id ||| hypothesis ||| features ||| score` "
                f"with the number of a sentence, from 0, and a number as score"
            ) from None
