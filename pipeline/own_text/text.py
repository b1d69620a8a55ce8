"""The text of a user as the training, development and test text of an experiment.

If the user gives no development or test text, it is sampled from the training text: the pairs with the smallest
checksums of their letters and digits, so that the order of the lines does not matter. No two sampled pairs share a
side, and training pairs that share a side with them are left out. Memory holds the sampled pairs, and the counts by
which sizes are chosen.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from nmt.data.tokenization import RawText, TokenText
from nmt.errors import UserError
from nmt.io.files import require_regular_file
from nmt.io.progress import Progress
from nmt.io.text_files import LineWriter, UnevenSidesError, pair_lines, read_lines, write_lines
from nmt.settings.text import Languages, Tokenization
from pipeline.own_text.shift import PairLengths, Shift
from pipeline.own_text.spreadsheet import is_spreadsheet, read_rows
from pipeline.preparation import SideFiles, WordCounts, matching_key

Pair = tuple[str, str]
SideKeys = set[tuple[str, str]]
"""Matching keys of sentences, each with the name of its side: ("source", "itsfive")."""
HELD_OUT_SPLITS = ("dev", "test")
SPLITS = ("train", *HELD_OUT_SPLITS)
MIN_TRAINING_PAIRS, MIN_FINE_TUNING_PAIRS = 1000, 100
"""A new model learns nothing from fewer pairs; fewer can change a trained model."""
MIN_HELD_OUT_PAIRS, MAX_HELD_OUT_PAIRS = 100, 2000
"""Limits for the size of a sampled set. Between them, it has one pair in twenty of the training text."""
MAX_HEADING_WORDS = 3
COUNTED_PAIRS = 200_000
"""Training pairs whose lengths and words are counted, evenly spread over the text."""
TOKENIZATION = Tokenization(normalization="punctuation")
"""Text of users has several characters for one apostrophe or accent. The text of the papers stays as it is."""


@dataclass(frozen=True)
class ParallelText:
    """Files of parallel text: two with a sentence per line, or one (`source`) with a tab between both sides."""

    source: Path
    target: Path | None = None

    def __str__(self) -> str:
        return f"{self.source} and {self.target}" if self.target else str(self.source)

    @property
    def files(self) -> list[Path]:
        """The one or two files."""
        return [self.source, self.target] if self.target else [self.source]

    def read_pairs(self, progress: Progress | None = None) -> Iterator[Pair]:
        """Yield both sides of each line, without byte order mark and carriage return.

        Raises:
            UserError: a file is missing, damaged or not UTF-8, the numbers of lines differ, a tab is missing, or one of
                two files has both sides of the text.
        """
        for file in self.files:
            require_regular_file(file)  # a pipe could not be read more than once

        pairs = self._read_two_files(self.target, progress) if self.target else self._read_columns(progress)
        pair_count = source_tabs = target_tabs = 0
        for pair in pairs:
            source, target = (line.removeprefix("\ufeff").rstrip("\r") for line in pair)
            yield source, target
            pair_count += 1
            source_tabs += "\t" in source
            target_tabs += "\t" in target

        # a file with a tab in most lines has both sides, so there is no use for the other file
        for file, tab_count in zip(self.files, (source_tabs, target_tabs), strict=False):
            if self.target and 2 * tab_count > pair_count:
                raise UserError(
                    f"{file}: {tab_count:,} of {pair_count:,} lines have a tab, as in a file of both sides; name that"
                    " file alone, or cut its column (cut -f 1)"
                )

    @property
    def spreadsheets(self) -> list[Path]:
        """The files that a spreadsheet has written, with some cells in quotes."""
        columns = 1 if self.target else 2
        return [file for file in self.files if is_spreadsheet(file, columns)]

    def _read_two_files(self, target: Path, progress: Progress | None) -> Iterator[Pair]:
        source_lines, target_lines = (map("".join, self._read_cells(file, progress)) for file in self.files)
        lengths = PairLengths()
        try:
            for pair in pair_lines(self.source, target, source_lines, target_lines):
                lengths.add(*pair)
                yield pair
        except UnevenSidesError as error:
            shift = lengths.find_shift()
            location = f"; the sides look shifted from about line {shift.line:,} on" if shift else ""
            raise UserError(f"{error}{location}") from None

    def _read_columns(self, progress: Progress | None) -> Iterator[Pair]:
        for line_number, cells in enumerate(self._read_cells(self.source, progress), 1):
            if len(cells) != 2:
                problem = f"found {len(cells) - 1} tabs, expected source, tab, target"
                if len(cells) == 1 and ";" in cells[0]:
                    problem += " (if it is CSV with semicolons, save it as tab-separated text)"
                raise UserError(
                    f"{self.source}, line {line_number}: {problem}; name both files, or cut it (cut -f 1,2)"
                )
            yield cells[0], cells[1]

    def _read_cells(self, file: Path, progress: Progress | None) -> Iterator[list[str]]:
        """Yield the cells of each line. A line of one of two files is one cell."""
        if file in self.spreadsheets:
            yield from read_rows(file, progress)
            return
        for line in read_lines(file, progress):
            yield [line] if self.target else line.split("\t")


@dataclass
class TextStatistics:
    """Counts of the text, made while it is written.

    Attributes:
        pairs: pairs of each split.
        left_out: training pairs left out because they share a sentence with a sampled set.
        one_sided: pairs with an empty side, which a run leaves out.
        repeated: pairs of the training text that are equal to an earlier one.
        heading: the first pair of the training text if its words look like the headings of columns.
        lengths: tokens of the longer side of each counted training pair.
        token_count: tokens of both sides of these pairs.
        word_counts: counts of the words of each split: of all held-out text, and of the counted training pairs.
        shifts: the splits whose sides are out of step.
    """

    pairs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    left_out: int = 0
    one_sided: int = 0
    repeated: int = 0
    heading: Pair | None = None
    lengths: list[int] = field(default_factory=list)
    token_count: int = 0
    word_counts: dict[str, WordCounts] = field(
        default_factory=lambda: {split: (Counter(), Counter()) for split in SPLITS}
    )
    shifts: dict[str, Shift] = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        """The mean number of tokens of a training sentence, on either side."""
        return self.token_count / max(1, 2 * len(self.lengths))

    @property
    def usual_max_length(self) -> int:
        """The length that 98 of 100 training pairs do not exceed: tokens of the longer side."""
        return sorted(self.lengths)[int(0.98 * (len(self.lengths) - 1))] if self.lengths else 0

    @property
    def repeated_word_counts(self) -> tuple[int, int]:
        """The numbers of different words of source and target that occur more than once in the training text."""
        source_counts, target_counts = self.word_counts["train"]
        source_words = sum(count > 1 for count in source_counts.values())
        target_words = sum(count > 1 for count in target_counts.values())
        return source_words, target_words

    def unknown_rates(self, split: str, vocabulary_sizes: tuple[int, int]) -> list[float]:
        """Return which fraction of a split's words is unknown on the source side and on the target side.

        vocabulary_sizes: the number of words that are known on each side.
        """
        rates = []
        for side, size in enumerate(vocabulary_sizes):
            counts = self.word_counts[split][side]
            vocabulary = self.word_counts["train"][side].most_common(size)
            known_count = sum(counts[word] for word, _ in vocabulary)
            rates.append(1 - known_count / max(1, counts.total()))
        return rates

    def count_pair(self, split: str, source: Sequence[str], target: Sequence[str]) -> None:
        """Count the tokens of a pair. Pairs with an empty side do not count."""
        if not source or not target:
            return
        source_counts, target_counts = self.word_counts[split]
        source_counts.update(source)
        target_counts.update(target)

        # sizes of vocabularies and lengths of sentences are chosen from the training text alone
        if split == "train":
            self.lengths.append(max(len(source), len(target)))
            self.token_count += len(source) + len(target)


def write_splits(
    texts: Mapping[str, ParallelText],
    languages: Languages,
    outputs: Mapping[str, SideFiles],
    tokenized: bool = False,
    min_pairs: int = MIN_TRAINING_PAIRS,
) -> TextStatistics:
    """Write training, development and test text of an experiment. Sets that the user gives stay as they are.

    Args:
        texts: split -> text of the user: "train", and "dev" and "test" if they are given.
        languages: the languages of both sides.
        outputs: split -> the files of source and target.
        tokenized: whether the text consists of tokens.
        min_pairs: the smallest number of training pairs.

    Raises:
        UserError: the text cannot be used; the message is one line.
    """
    # 1. no file may be read and written
    written_paths = {path.resolve() for path in chain.from_iterable(outputs.values())}
    for text in texts.values():
        for file in text.files:
            if file.resolve() in written_paths:
                raise UserError(f"{file}: would be overwritten by a set of the experiment; move it elsewhere")

    # 2. which lines of the training text become the sets that are not given
    train = texts["train"]
    missing_splits = [split for split in SPLITS if split not in texts]
    sample = _sample_held_out(train, missing_splits, _read_held_out_keys(texts), min_pairs)

    statistics = TextStatistics()
    lengths = {split: PairLengths() for split in texts}
    source_codec = TokenText() if tokenized else RawText(languages.source, TOKENIZATION)
    target_codec = TokenText() if tokenized else RawText(languages.target, TOKENIZATION)
    with ExitStack() as stack:
        writers = {}
        for split, (source_path, target_path) in outputs.items():
            source_writer = stack.enter_context(write_lines(source_path))
            writers[split] = source_writer, stack.enter_context(write_lines(target_path))

        # 3. held-out sets that are given
        for split in texts.keys() - {"train"}:
            for source, target in texts[split].read_pairs():
                lengths[split].add(source, target)
                _write_pair(writers[split], source, target)
                statistics.pairs[split] += 1
                statistics.one_sided += not (source.strip() and target.strip())
                statistics.count_pair(split, source_codec.tokenize(source), target_codec.tokenize(target))
            if not statistics.pairs[split]:
                raise UserError(f"{texts[split]}: no sentences; expected one per line")

        # 4. the training text: sampled lines go to their set, and pairs that share a side with one are left out
        counting_interval = 1 + sample.line_count // COUNTED_PAIRS
        checksums = array("q")  # 8 bytes a pair
        first_pair = ("", "")
        with Progress.over_files(train.files, f"divide {train}") as progress:
            for line_number, (source, target) in enumerate(train.read_pairs(progress), 1):
                lengths["train"].add(source, target)
                checksums.append(hash((source, target)))
                first_pair = first_pair if line_number > 1 else (source, target)
                split = sample.splits.get(line_number, "train")
                if split == "train" and sample.splits and sample.keys & _get_side_keys(source, target):
                    statistics.left_out += 1
                    continue
                _write_pair(writers[split], source, target)
                statistics.pairs[split] += 1
                statistics.one_sided += not (source.strip() and target.strip())

                # the words of all held-out pairs, and of a part of the training text
                if split != "train" or line_number % counting_interval == 0:
                    statistics.count_pair(split, source_codec.tokenize(source), target_codec.tokenize(target))
        _check_training_pairs(train, statistics.pairs["train"], min_pairs)

    # 5. repeated pairs, and headings: a few words that the text does not have
    statistics.repeated = len(checksums) - len(np.unique(np.array(checksums)))
    heading_tokens = source_codec.tokenize(first_pair[0]), target_codec.tokenize(first_pair[1])
    if all(
        0 < len(tokens) <= MAX_HEADING_WORDS and max(counts[token] for token in tokens) <= 1
        for tokens, counts in zip(heading_tokens, statistics.word_counts["train"], strict=True)
    ):
        statistics.heading = first_pair

    # 6. sides that are out of step
    for split in SPLITS:
        if split in texts and (shift := lengths[split].find_shift()):
            statistics.shifts[split] = shift
    return statistics


def _write_pair(writers: tuple[LineWriter, LineWriter], source: str, target: str) -> None:
    source_writer, target_writer = writers
    source_writer.write(source)
    target_writer.write(target)


def _check_training_pairs(text: ParallelText, pairs: int, min_pairs: int) -> None:
    if pairs < min_pairs:
        remedy = (
            "; fewer can fine-tune a trained model (--init-from)" if pairs >= MIN_FINE_TUNING_PAIRS else ""
        )
        raise UserError(f"{text}: {pairs:,} pairs to train on; expected at least {min_pairs:,}{remedy}")


def _get_side_keys(source: str, target: str) -> SideKeys:
    """Return the matching keys of both sides of a pair."""
    return {("source", matching_key(source)), ("target", matching_key(target))}


def _read_held_out_keys(texts: Mapping[str, ParallelText]) -> SideKeys:
    """Return the matching keys of the held-out sets that are given."""
    keys: SideKeys = set()
    for split in texts.keys() - {"train"}:
        for source, target in texts[split].read_pairs():
            keys |= _get_side_keys(source, target)
    return keys


@dataclass(frozen=True)
class _HeldOutSample:
    """The sampled pairs: line number -> split, the matching keys of their sides, and the number of all lines."""

    line_count: int
    splits: dict[int, str] = field(default_factory=dict)
    keys: SideKeys = field(default_factory=set)


def _sample_held_out(
    train: ParallelText, splits: list[str], held_out_keys: SideKeys, min_pairs: int
) -> _HeldOutSample:
    """Sample the given splits from the training text, without pairs that share a side with `held_out_keys`."""
    # Twice as many candidates as needed, since some of them share a side with each other.
    max_candidates = 2 * MAX_HELD_OUT_PAIRS * len(splits)
    candidates: dict[int, tuple[int, SideKeys]] = {}  # checksum -> line, from 1, and keys

    line_number = pairs = untranslated = 0
    with Progress.over_files(train.files, f"read {train}") as progress:
        for line_number, (source, target) in enumerate(train.read_pairs(progress), 1):
            # 1. pairs with text on both sides, and pairs that are not translated
            pairs += bool(source.strip() and target.strip())
            untranslated += source == target
            if not splits:
                continue

            # 2. the pairs with the smallest checksums are candidates
            source_key, target_key = matching_key(source), matching_key(target)
            side_keys: SideKeys = {("source", source_key), ("target", target_key)}
            if not source_key or not target_key or held_out_keys & side_keys:
                continue
            digest = hashlib.blake2b(f"{source_key}\n{target_key}".encode(), digest_size=8).digest()
            checksum = int.from_bytes(digest)
            candidates.setdefault(checksum, (line_number, side_keys))
            # sorting is slow, so the others are dropped only after as many again have come
            if len(candidates) >= 2 * max_candidates:
                candidates = dict(sorted(candidates.items())[:max_candidates])

    # 3. text that cannot be trained on
    _check_training_pairs(train, pairs, min_pairs)
    if 2 * untranslated > line_number:
        problem = f"{untranslated:,} of {line_number:,} pairs are the same on both sides"
        raise UserError(f"{train}: {problem}; expected a translation")

    # 4. sets of equal size; the candidates with the smallest checksums come first
    size = min(MAX_HELD_OUT_PAIRS, max(MIN_HELD_OUT_PAIRS, pairs // 20))
    sample = _HeldOutSample(line_number)
    _distribute_candidates([candidates[checksum] for checksum in sorted(candidates)], splits, size, sample)
    if len(sample.splits) < len(splits) * MIN_HELD_OUT_PAIRS:
        problem = f"{len(sample.splits):,} pairs whose sentences occur once and in no other set"
        sets = " and ".join(splits)
        raise UserError(
            f"{train}: {problem}, expected {MIN_HELD_OUT_PAIRS} for each of {sets}; give these sets"
        )
    return sample


def _distribute_candidates(
    candidates: Sequence[tuple[int, SideKeys]], splits: list[str], split_size: int, sample: _HeldOutSample
) -> None:
    """Distribute the first candidates over the splits, without those that share a side with an earlier candidate."""
    for line_number, side_keys in candidates:
        if len(sample.splits) == split_size * len(splits):
            return
        if sample.keys.isdisjoint(side_keys):
            sample.splits[line_number] = splits[len(sample.splits) % len(splits)]
            sample.keys.update(side_keys)
