"""A user's parallel text as the training, development and test text of an experiment.

A development or test set that is not given is drawn from the training text: the pairs with the smallest checksums of
their letters and digits, so that the order of the lines does not matter. No two of them share a side, and training
pairs that share a side with them are left out. Memory holds the drawn pairs and the sample for the choice of sizes.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import contains
from pathlib import Path

from nmt.data.preparation import letters
from nmt.data.tokenization import RawText, TokenText
from nmt.errors import UserError
from nmt.io.files import replaceable
from nmt.io.progress import Progress
from nmt.io.text_files import LineWriter, read_lines, read_pairs, write_lines
from nmt.settings.text import Languages, Tokenization

Pair = tuple[str, str]
PARTS = ("train", "dev", "test")
LEAST_PAIRS = 1000
"""Least pairs of training text. No model learns anything from fewer."""
SHARE, FEWEST, MOST = 20, 100, 2000
"""A drawn set has one pair in SHARE, but at least FEWEST and at most MOST."""
SPARE = 2
"""Candidates per wanted pair. More are needed, since some share a side with others."""
SAMPLE = 200_000
"""Size of the evenly spread sample of training pairs for the counts of lengths and words."""
PERCENTILE = 0.98
TOKENIZATION = Tokenization(tokenizer="moses", escape=True, split_hyphens=False)


@dataclass(frozen=True)
class Given:
    """Files of parallel text: two with a sentence per line, or one with both sides and a tab between."""

    source: Path
    target: Path | None = None

    def __str__(self) -> str:
        return f"{self.source} and {self.target}" if self.target else str(self.source)

    @property
    def files(self) -> list[Path]:
        """Return one or two."""
        return [file for file in (self.source, self.target) if file]

    def pairs(self, progress: Progress | None = None) -> Iterator[Pair]:
        """Yield both sides line by line, without byte order mark and carriage return.

        Raises:
            UserError: a missing or damaged file, other text than UTF-8, unequal numbers of lines, a missing tab.
        """
        for file in self.files:
            if not replaceable(file):
                raise UserError(f"{file}: a pipe or device, expected a file, since it is read more than once")
        if self.target and self.target.resolve() == self.source.resolve():
            raise UserError(f"{self.source}: given as both sides; expected two files, or one with tabs")
        pairs = read_pairs(self.source, self.target, progress) if self.target else self._columns(progress)
        for source, target in pairs:
            yield _clean(source), _clean(target)

    def _columns(self, progress: Progress | None) -> Iterator[Pair]:
        for number, line in enumerate(read_lines(self.source, progress), 1):
            source, *targets = line.split("\t")
            if len(targets) != 1:
                found = f"found {len(targets)} tabs, expected source, tab, target"
                raise UserError(
                    f"{self.source}, line {number}: {found}; name both files, or cut it (cut -f 1,2)"
                )
            yield source, targets[0]


@dataclass
class Statistics:
    """Pairs of each part, training pairs left out for a sentence of a drawn set, and counts of a sample.

    lengths: tokens of the longer side of each pair. words: tokens of source and target. counts: of each token of source
    and target. dev: the same of the development text.
    """

    pairs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    left_out: int = 0
    lengths: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=lambda: [0, 0])
    counts: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    dev: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))

    @property
    def mean_length(self) -> float:
        """Return tokens of a sentence, both sides."""
        return sum(self.words) / max(1, 2 * len(self.lengths))

    @property
    def longest(self) -> int:
        """Return tokens of the longer side that 98 of 100 pairs do not exceed."""
        return sorted(self.lengths)[int(PERCENTILE * (len(self.lengths) - 1))] if self.lengths else 0

    @property
    def repeated_words(self) -> tuple[int, int]:
        """Return different words of each side that stand in the sample more than once."""
        source, target = (sum(count > 1 for count in side.values()) for side in self.counts)
        return source, target

    def unknown_share(self, vocabulary: tuple[int, int]) -> tuple[float, float]:
        """Return the share of the development text's words that vocabularies of so many words lack, of each side."""
        source, target = map(_unknown_share, self.counts, self.dev, vocabulary)
        return source, target


def _unknown_share(train: Counter[str], dev: Counter[str], words: int) -> float:
    known = sum(dev[word] for word, _ in train.most_common(words))
    return 1 - known / dev.total() if dev.total() else 0.0


def write_parts(
    given: Mapping[str, Given],
    languages: Languages,
    outputs: Mapping[str, tuple[Path, Path]],
    tokenized: bool = False,
) -> Statistics:
    """Write both sides of all parts. Given parts stay as they are.

    Args:
        given: the training text, and of dev and test what there is.
        languages: of both sides.
        outputs: both files of each part.
        tokenized: whether the text is tokens already.

    Raises:
        UserError: text that cannot be used, in one line.
    """
    _refuse_overwriting(given, outputs)
    held_out: list[set[str]] = [set(), set()]
    for part in ("dev", "test"):
        if part in given:
            _remember(given[part], held_out)
    drawn = _draw(given["train"], [part for part in ("dev", "test") if part not in given], held_out)
    found = Statistics()
    with ExitStack() as stack:
        writers = {
            part: [stack.enter_context(write_lines(path)) for path in paths]
            for part, paths in outputs.items()
        }
        sides = _tokens(languages, tokenized)
        for part in ("dev", "test"):
            for pair in given[part].pairs() if part in given else ():
                found.pairs[part] += _write(pair, writers[part])
                if part == "dev":
                    _count_dev(pair, found, sides)
        _divide(given["train"], drawn, writers, found, sides)
        if found.pairs["train"] < LEAST_PAIRS:
            raise _too_few(given["train"], found.pairs["train"])
    return found


def _refuse_overwriting(given: Mapping[str, Given], outputs: Mapping[str, tuple[Path, Path]]) -> None:
    """Raise a UserError if a file of the user's has the name of a set that would be written."""
    written = {path.resolve() for paths in outputs.values() for path in paths}
    for file in (file for text in given.values() for file in text.files):
        if file.resolve() in written:
            raise UserError(f"{file}: would be overwritten by a set of the experiment; move it elsewhere")


@dataclass(frozen=True)
class _Drawn:
    """The number of lines of the text, the part of each drawn line (from 1), the letters of the drawn sides."""

    total: int
    lines: dict[int, str] = field(default_factory=dict)
    sides: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))


def _clean(line: str) -> str:
    return line.removeprefix("\ufeff").rstrip("\r")


def _write(pair: Pair, writers: list[LineWriter]) -> int:
    for writer, line in zip(writers, pair, strict=True):
        writer.write(line)
    return 1


def _remember(text: Given, held_out: list[set[str]]) -> None:
    """Add the sentences of a set. A UserError says that it has none."""
    empty = True
    for pair in text.pairs():
        empty = False
        for side, line in zip(held_out, pair, strict=True):
            side.add(letters(line))
    if empty:
        raise UserError(f"{text}: no sentences; expected one per line")


def _draw(train: Given, parts: list[str], held_out: list[set[str]]) -> _Drawn:
    """Return lines for the parts that nobody gave, none of which shares a sentence with another or with `held_out`."""
    best: dict[int, tuple[int, str, str]] = {}
    heap: list[int] = []
    room = SPARE * MOST * len(parts)
    line = pairs = same = 0
    with _progress(train, "read") as progress:
        for line, pair in enumerate(train.pairs(progress), 1):
            pairs, same = pairs + all(side.strip() for side in pair), same + (pair[0] == pair[1])
            keys = [letters(side) for side in pair] if parts else [""]
            if not all(keys) or any(map(contains, held_out, keys)):
                continue
            number = int.from_bytes(hashlib.blake2b("\n".join(keys).encode(), digest_size=8).digest())
            if number in best or (len(heap) == room and number > -heap[0]):
                continue
            best[number] = (line, keys[0], keys[1])
            if len(heap) < room:
                heapq.heappush(heap, -number)
            else:
                del best[-heapq.heapreplace(heap, -number)]
    if pairs < LEAST_PAIRS:
        raise _too_few(train, pairs)
    if 2 * same > line:
        found = f"{same:,} of {line:,} pairs are the same on both sides"
        raise UserError(f"{train}: {found}; expected a translation")
    candidates = [best[number] for number in sorted(best)]
    drawn = _chosen(candidates, parts, min(MOST, max(FEWEST, pairs // SHARE)), line)
    if len(drawn.lines) < len(parts) * FEWEST:
        found = f"{len(drawn.lines):,} pairs whose sentences occur once and in no other set"
        raise UserError(
            f"{train}: {found}, expected {FEWEST} for each of {' and '.join(parts)}; give these sets"
        )
    return drawn


def _chosen(candidates: list[tuple[int, str, str]], parts: list[str], size: int, total: int) -> _Drawn:
    """Return so many pairs for each part of `parts`, without those that share a side with one before, dealt in turn."""
    drawn = _Drawn(total)
    for line, *keys in candidates:
        if len(drawn.lines) < size * len(parts) and not any(map(contains, drawn.sides, keys)):
            drawn.lines[line] = parts[len(drawn.lines) % len(parts)]
            for side, key in zip(drawn.sides, keys, strict=True):
                side.add(key)
    return drawn


def _divide(
    train: Given,
    drawn: _Drawn,
    writers: Mapping[str, list[LineWriter]],
    found: Statistics,
    sides: tuple[RawText | TokenText, RawText | TokenText],
) -> None:
    """Write each pair of the training text where it belongs, and look at a sample of what stays training text."""
    step = 1 + drawn.total // SAMPLE
    with _progress(train, "divide") as progress:
        for line, pair in enumerate(train.pairs(progress), 1):
            part = drawn.lines.get(line, "train")
            if part == "train" and drawn.lines and any(map(contains, drawn.sides, map(letters, pair))):
                found.left_out += 1
                continue
            found.pairs[part] += _write(pair, writers[part])
            if part == "dev":
                _count_dev(pair, found, sides)
            if part == "train" and line % step == 0:
                _look(pair, found, sides)


def _count_dev(pair: Pair, found: Statistics, sides: tuple[RawText | TokenText, RawText | TokenText]) -> None:
    for counts, side, line in zip(found.dev, sides, pair, strict=True):
        counts.update(side.tokens(line))


def _look(pair: Pair, found: Statistics, sides: tuple[RawText | TokenText, RawText | TokenText]) -> None:
    tokens = [side.tokens(line) for side, line in zip(sides, pair, strict=True)]
    if not all(tokens):
        return
    found.lengths.append(max(map(len, tokens)))
    for side, words in enumerate(tokens):
        found.words[side] += len(words)
        found.counts[side].update(words)


def _tokens(languages: Languages, tokenized: bool) -> tuple[RawText | TokenText, RawText | TokenText]:
    if tokenized:
        return TokenText(), TokenText()
    return RawText(languages.source, TOKENIZATION), RawText(languages.target, TOKENIZATION)


def _progress(text: Given, label: str) -> Progress:
    return Progress.over_files(text.files, f"{label} {text}")


def _too_few(text: Given, pairs: int) -> UserError:
    return UserError(f"{text}: {pairs:,} pairs to train on; expected at least {LEAST_PAIRS:,}")
