"""n-best lists in Moses' format, one after the other: `id ||| hypothesis ||| features ||| score`, best first.

Fields after the score (phrases, alignment) are kept. A hypothesis that has `|||` in it is written with Moses' escape of
that character, `&#124;`. Records written by `nmt test-set decode` can also be read as lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.evaluation.translations import read_records, words
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines

SEPARATOR = "|||"
_ESCAPED = "&#124;" * 3
"""Moses' tokenizer, which escapes each `|` by itself, never writes this without spaces."""
LONGEST = 20_000
"""Maximum number of words in a hypothesis. At the paper's sizes, its scoring takes 2 GB; memory grows with it."""
MOST = 1_000_000
"""Maximum number of hypotheses of one sentence, which are in memory together."""


@dataclass(frozen=True)
class Hypothesis:
    """A line of a list. features: unchanged text; score: the total score; rest: the fields after the score."""

    text: str
    score: float
    features: str = ""
    rest: tuple[str, ...] = ()

    def rescored(self, score: float, log_probability: float) -> Hypothesis:
        """Return the hypothesis with another total score, and the models' log-probability as one more feature."""
        added = f"{self.features} NMT0= {log_probability:.4f}".strip()
        return replace(self, score=score, features=added)

    def line(self, number: int) -> str:
        """Return the entry as a line of an n-best list."""
        return in_fields(str(number), self.text, self.features, f"{self.score:.4f}", *self.rest)


def in_fields(*fields: str) -> str:
    """Return fields as one line, with the separator between them and escaped in them."""
    return f" {SEPARATOR} ".join(field.replace(SEPARATOR, _ESCAPED) for field in fields)


@dataclass(frozen=True)
class NBestList:
    """The hypotheses of the sentence at a line of the source, counted from 0."""

    line: int
    source: list[str]
    hypotheses: Sequence[Hypothesis]

    @property
    def distinct(self) -> list[str]:
        """Return the distinct texts. Moses lists a translation once for each of its derivations."""
        return list(dict.fromkeys(hypothesis.text for hypothesis in self.hypotheses))


_Found = tuple[int | None, list[Hypothesis], list[str] | None]
"""A sentence's number, its hypotheses, and its source if the file contains it."""
_END: _Found = (None, [], None)


def read_lists(path: Path, source: Path, progress: Progress | None = None) -> Iterator[NBestList]:
    """Yield a list for each line of the source, in its order. Only one list is in memory at a time.

    A source line without words may have no list; its only hypothesis is then empty.

    Raises:
        UserError: a line of the file is malformed, or lists are missing, out of order, or of other sentences.
    """
    found = _of_records(path) if _is_records(path) else _of_lines(path)
    number, current, own = next(found, _END)
    line = -1
    for line, text in enumerate(read_lines(source)):
        if number == line:
            if own is not None and own != words(text):
                raise UserError(
                    f"{path}: sentence {line} is of another text than {source}; expected its translations"
                )
            yield NBestList(line, words(text), current)
            number, current, own = next(found, _END)
        elif words(text):
            had = "the file ends there" if number is None else f"the next list is of sentence {number}"
            expected = f"expected a list for each line of {source}, counted from 0"
            raise UserError(f"{path}: no hypothesis of sentence {line} ({had}); {expected}")
        else:
            yield NBestList(line, [], [Hypothesis("", 0.0)])
        if progress is not None:
            progress.update()
    if number is not None:
        raise UserError(f"{path}: has a list of sentence {number}, but {source} has {line + 1} lines")


def _is_records(path: Path) -> bool:
    return path.name.removesuffix(".gz").removesuffix(".zst").endswith(".jsonl")


def _of_records(path: Path) -> Iterator[_Found]:
    """Yield the lists in records written by `nmt test-set decode`."""
    for record, values in read_records(path):
        try:
            found = [_recorded(entry) for entry in values["n_best"]]
        except (TypeError, KeyError, OverflowError):
            found = []
        if not found:
            text = "no n-best list that `nmt test-set decode` writes (results keep none)"
            raise UserError(f"{path}: sentence {record.line} has {text}")
        yield record.line, found, record.source


def _recorded(entry: dict[str, Any]) -> Hypothesis:
    text, value = entry["text"], entry["log_probability"]
    if not isinstance(text, str) or not isinstance(value, float | int) or not math.isfinite(value):
        raise TypeError
    return Hypothesis(" ".join(words(text)), float(value))


def _of_lines(path: Path) -> Iterator[_Found]:
    """Yield the lists in lines of Moses' format."""
    number, current = -1, list[Hypothesis]()
    for place, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {place}"
        own, hypothesis = _parsed(line, where)
        if own != number:
            if own < number:
                raise UserError(
                    f"{where}: sentence {own} comes after {number}; expected lists in the source's order"
                )
            if current:
                yield number, current, None
            number, current = own, []
        current.append(hypothesis)
        if len(current) > MOST:
            raise UserError(f"{where}: more than {MOST:,} hypotheses of sentence {own}; cut the lists")
    if current:
        yield number, current, None


def _parsed(line: str, where: str) -> tuple[int, Hypothesis]:
    fields = [field.strip(" ") for field in line.split(SEPARATOR)]
    if len(fields) < 4:
        found = f"found {len(fields)} field{'s' * (len(fields) > 1)}"
        raise UserError(f"{where}: {found}, expected `id ||| hypothesis ||| features ||| score`")
    number, text, features, score, *rest = fields
    if not number.isascii() or not number.isdecimal() or len(number) > 12:
        raise UserError(f"{where}: the id is {number[:60]!r}, expected the number of a line, counted from 0")
    tokens = words(text.replace(_ESCAPED, SEPARATOR))
    if len(tokens) > LONGEST:
        raise UserError(
            f"{where}: {len(tokens):,} words, expected at most {LONGEST:,} to score; cut the lists"
        )
    return int(number), Hypothesis(" ".join(tokens), _number(score, where), features, tuple(rest))


def _number(text: str, where: str) -> float:
    try:
        # 1_000 and digits of other scripts are numbers in Python alone
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{where}: the score is {text[:60]!r}, expected a number")
    return value
