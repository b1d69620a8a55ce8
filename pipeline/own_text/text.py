"""A user's parallel text as the training, development and test text of an experiment.

A development or test set that is not given is drawn from the training text: the pairs with the smallest checksums of
their letters and digits, so that the order of the lines does not matter. No two of them share a side, and training
pairs that share a side with them are left out. Memory holds the drawn pairs and the sample for the choice of sizes.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import contains
from pathlib import Path

from nmt.data.tokenization import RawText, TokenText
from nmt.errors import UserError
from nmt.io.files import require_regular_file
from nmt.io.progress import Progress
from nmt.io.text_files import pair_lines, read_lines, write_lines
from nmt.settings.text import Languages, Tokenization
from pipeline.own_text.shift import LengthsOfPairs, Shift
from pipeline.own_text.spreadsheet import is_spreadsheet, rows
from pipeline.preparation import matching_key

Pair = tuple[str, str]
HELD_OUT = ("dev", "test")
PARTS = ("train", *HELD_OUT)
LEAST_PAIRS = 1000
"""Least pairs of training text. No model learns anything from fewer."""
SHARE, FEWEST, MOST = 20, 100, 2000
"""A drawn set has one pair in SHARE, but at least FEWEST and at most MOST."""
SPARE = 2
"""Candidates per wanted pair. More are needed, since some share a side with others."""
SAMPLE = 200_000
"""Size of the evenly spread sample of training pairs for the counts of lengths and words."""
PERCENTILE = 0.98
TOKENIZATION = Tokenization(normalization="punctuation")
"""People's text has each apostrophe and each accent in several writings. The papers' text stays as it is."""


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
            UserError: a missing or damaged file, other text than UTF-8, unequal numbers of lines, a missing tab, or one
                of two files that has both sides itself.
        """
        for file in self.files:
            require_regular_file(file)  # it is read more than once
        pairs = self._sides(self.target, progress) if self.target else self._columns(progress)
        pair_count = 0
        lines_with_tab = [0] * len(self.files)
        for pair in pairs:
            source, target = (line.removeprefix("\ufeff").rstrip("\r") for line in pair)
            yield source, target

            pair_count += 1
            if self.target:
                lines_with_tab[0] += "\t" in source
                lines_with_tab[1] += "\t" in target
        for file, count in zip(self.files, lines_with_tab, strict=True):
            if 2 * count > pair_count:
                raise UserError(
                    f"{file}: {count:,} of {pair_count:,} lines have a tab, as in a file of both sides; name that file"
                    " alone, or cut its column (cut -f 1)"
                )

    @property
    def spreadsheets(self) -> list[Path]:
        """Return the files whose cells are in quotes, as a spreadsheet writes them."""
        return [file for file in self.files if is_spreadsheet(file, 1 if self.target else 2)]

    def _rows(self, file: Path, progress: Progress | None) -> Iterator[list[str]]:
        if file in self.spreadsheets:
            return rows(file, progress)
        lines = read_lines(file, progress)
        return ([line] for line in lines) if self.target else (line.split("\t") for line in lines)

    def _sides(self, target: Path, progress: Progress | None) -> Iterator[Pair]:
        sides = ((cell for (cell,) in self._rows(file, progress)) for file in self.files)
        return pair_lines(self.source, target, *sides)

    def _columns(self, progress: Progress | None) -> Iterator[Pair]:
        for number, (source, *targets) in enumerate(self._rows(self.source, progress), 1):
            if len(targets) != 1:
                found = f"found {len(targets)} tabs, expected source, tab, target"
                raise UserError(
                    f"{self.source}, line {number}: {found}; name both files, or cut it (cut -f 1,2)"
                )
            yield source, targets[0]


@dataclass
class Statistics:
    """Pairs of each part, training pairs left out for a sentence of a drawn set, and counts of a sample.

    lengths: tokens of the longer side of each pair. words: tokens of both sides. counts: of each token of source and
    target. held_out: the same of the whole development and test text. shifts: where sides of a part are off.
    """

    pairs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    left_out: int = 0
    lengths: list[int] = field(default_factory=list)
    words: int = 0
    counts: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    held_out: dict[str, tuple[Counter[str], Counter[str]]] = field(
        default_factory=lambda: {part: (Counter(), Counter()) for part in HELD_OUT}
    )
    shifts: dict[str, Shift] = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        """Return tokens of a sentence, both sides."""
        return self.words / max(1, 2 * len(self.lengths))

    @property
    def longest(self) -> int:
        """Return tokens of the longer side that 98 of 100 pairs do not exceed."""
        return sorted(self.lengths)[int(PERCENTILE * (len(self.lengths) - 1))] if self.lengths else 0

    @property
    def repeated_words(self) -> tuple[int, int]:
        """Return different words of each side that stand in the sample more than once."""
        source, target = (sum(count > 1 for count in side.values()) for side in self.counts)
        return source, target

    def unknown_share(self, part: str, vocabulary: tuple[int, int]) -> list[float]:
        """Return the share of a part's words that vocabularies of so many words lack, of each side."""
        sides = zip(self.counts, self.held_out.get(part, self.counts), vocabulary, strict=True)
        return [
            1 - sum(own[word] for word, _ in train.most_common(words)) / max(1, own.total())
            for train, own, words in sides
        ]

    def add(self, part: str, tokens: Sequence[Sequence[str]]) -> None:
        """Count both sides of a pair of the sample or of held-out text."""
        if not all(tokens):
            return
        for counts, words in zip(self.held_out.get(part, self.counts), tokens, strict=True):
            counts.update(words)
        if part == "train":
            self.lengths.append(max(map(len, tokens)))
            self.words += sum(map(len, tokens))


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
    written = {path.resolve() for paths in outputs.values() for path in paths}
    for file in (file for text in given.values() for file in text.files):
        if file.resolve() in written:
            raise UserError(f"{file}: would be overwritten by a set of the experiment; move it elsewhere")
    train, found = given["train"], Statistics()
    drawn = _draw(train, [part for part in PARTS if part not in given], _sentences(given))
    with ExitStack() as stack:
        writers = {
            part: [stack.enter_context(write_lines(path)) for path in paths]
            for part, paths in outputs.items()
        }
        sides = [
            TokenText() if tokenized else RawText(language, TOKENIZATION)
            for language in (languages.source, languages.target)
        ]

        def write(pair: Pair, part: str, sampled: bool = False) -> None:
            for writer, line in zip(writers[part], pair, strict=True):
                writer.write(line)
            found.pairs[part] += 1
            if part in HELD_OUT or sampled:
                tokens = [side.tokenize(text) for side, text in zip(sides, pair, strict=True)]
                found.add(part, tokens)

        lengths = {part: LengthsOfPairs() for part in given}
        for part in given.keys() - {"train"}:
            for pair in given[part].pairs():
                lengths[part].add(*pair)
                write(pair, part)
        step = 1 + drawn.total // SAMPLE
        with Progress.over_files(train.files, f"divide {train}") as progress:
            for line, pair in enumerate(train.pairs(progress), 1):
                lengths["train"].add(*pair)
                part = drawn.lines.get(line, "train")
                if (
                    part == "train"
                    and drawn.lines
                    and any(map(contains, drawn.sides, map(matching_key, pair)))
                ):
                    found.left_out += 1
                    continue
                write(pair, part, sampled=part == "train" and line % step == 0)
        if found.pairs["train"] < LEAST_PAIRS:
            raise _too_few(train, found.pairs["train"])
    shifts = {part: lengths[part].shift() for part in PARTS if part in given}
    found.shifts = {part: shift for part, shift in shifts.items() if shift}
    return found


def _sentences(given: Mapping[str, Given]) -> tuple[set[str], set[str]]:
    """Return the letters of source and target of the sets that are given. A UserError says that one has none."""
    sentences: tuple[set[str], set[str]] = (set(), set())
    for part in given.keys() - {"train"}:
        pairs = [[matching_key(line) for line in pair] for pair in given[part].pairs()]
        if not pairs:
            raise UserError(f"{given[part]}: no sentences; expected one per line")
        for side, lines in zip(sentences, zip(*pairs, strict=True), strict=True):
            side.update(lines)
    return sentences


@dataclass(frozen=True)
class _Drawn:
    """The number of lines of the text, the part of each drawn line (from 1), the letters of the drawn sides."""

    total: int
    lines: dict[int, str] = field(default_factory=dict)
    sides: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))


def _draw(train: Given, parts: list[str], held_out: tuple[set[str], set[str]]) -> _Drawn:
    """Return lines for the parts that nobody gave, none of which shares a sentence with another or with `held_out`."""
    best: dict[int, tuple[int, str, str]] = {}
    heap: list[int] = []
    room = SPARE * MOST * len(parts)
    line = pairs = same = 0
    with Progress.over_files(train.files, f"read {train}") as progress:
        for line, pair in enumerate(train.pairs(progress), 1):
            pairs, same = pairs + all(side.strip() for side in pair), same + (pair[0] == pair[1])
            keys = [matching_key(side) for side in pair] if parts else [""]
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
    return _chosen(train, [best[number] for number in sorted(best)], parts, pairs, line)


def _chosen(
    train: Given, candidates: Sequence[tuple[int, str, str]], parts: list[str], pairs: int, total: int
) -> _Drawn:
    """Deal the first candidates to the parts in turn, without those that share a side with one before."""
    drawn, size = _Drawn(total), min(MOST, max(FEWEST, pairs // SHARE))
    for line, *keys in candidates:
        if len(drawn.lines) < size * len(parts) and not any(map(contains, drawn.sides, keys)):
            drawn.lines[line] = parts[len(drawn.lines) % len(parts)]
            for side, key in zip(drawn.sides, keys, strict=True):
                side.add(key)
    if len(drawn.lines) < len(parts) * FEWEST:
        found = f"{len(drawn.lines):,} pairs whose sentences occur once and in no other set"
        wanted = " and ".join(parts)
        raise UserError(f"{train}: {found}, expected {FEWEST} for each of {wanted}; give these sets")
    return drawn


def _too_few(text: Given, pairs: int) -> UserError:
    return UserError(f"{text}: {pairs:,} pairs to train on; expected at least {LEAST_PAIRS:,}")
