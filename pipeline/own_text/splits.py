"""The text of a user as the training, development and test text of an experiment.

If the user gives no development or test text, it is sampled from the training text: the pairs with the smallest
checksums of their letters and digits, so that the order of the lines does not matter. No two sampled pairs share a
side, and training pairs that share a side with them are left out. Memory holds the sampled pairs, and the counts by
which sizes are chosen.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain

from nmt.data.tokenization import RawText, TextCodec, TokenText
from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import LineWriter, write_lines
from nmt.settings.text import Languages, Tokenization
from pipeline.own_text.parallel_text import ParallelText
from pipeline.own_text.shift import PairLengths
from pipeline.preparation import SideFiles, WordCounts, matching_key

Texts = Mapping[str, ParallelText]
"""The text of the user: "train", and "dev" and "test" if they are given."""
SideKeys = set[tuple[str, str]]
"""Matching keys of sentences, each with the name of its side: ("source", "itsfive")."""
SPLITS = ("train", "dev", "test")
MIN_TRAINING_PAIRS, MIN_FINE_TUNING_PAIRS = 1000, 100
"""A new model learns nothing from fewer pairs; fewer can change a trained model."""
MIN_HELD_OUT_PAIRS, MAX_HELD_OUT_PAIRS = 100, 2000
"""Limits for the size of a sampled set. Between them, it has one pair in twenty of the training text."""
COUNTED_PAIRS = 200_000
"""Training pairs whose lengths and words are counted, evenly spread over the text."""
TOKENIZATION = Tokenization(normalization="punctuation")
"""Text of users has several characters for one apostrophe or accent. The text of the papers stays as it is."""


@dataclass
class TextStatistics:
    """Counts of the text, made while it is written.

    Attributes:
        pairs: pairs of each split.
        left_out_pairs: training pairs left out because they share a sentence with a sampled set.
        one_sided_pairs: pairs with an empty side, which a run leaves out.
        lengths: tokens of the longer side of each counted training pair.
        word_counts: counts of the words of each split: of all held-out text, and of the counted training pairs.
        shifted_lines: the line from which on the sides of a split are out of step.
    """

    pairs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    left_out_pairs: int = 0
    one_sided_pairs: int = 0
    lengths: list[int] = field(default_factory=list)
    word_counts: dict[str, WordCounts] = field(
        default_factory=lambda: {split: (Counter(), Counter()) for split in SPLITS}
    )
    shifted_lines: dict[str, int] = field(default_factory=dict)

    @property
    def usual_max_length(self) -> int:
        """The length (tokens of the longer side) that 98% of the training pairs do not exceed; 0 without pairs."""
        if not self.lengths:
            return 0
        index = int(0.98 * (len(self.lengths) - 1))
        return sorted(self.lengths)[index]

    def unknown_rates(self, split: str, vocabulary_sizes: Sequence[int]) -> list[float]:
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

    def add_shift(self, split: str, lengths: PairLengths) -> None:
        """Look for a shift in a split, from the lengths of its pairs."""
        line = lengths.find_shifted_line()
        if line:
            self.shifted_lines[split] = line


def write_splits(
    texts: Texts,
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
    # 1. no file may be both read and written
    written_paths = {path.resolve() for path in chain.from_iterable(outputs.values())}
    for text in texts.values():
        for file in text.files:
            if file.resolve() in written_paths:
                raise UserError(f"{file}: would be overwritten by a set of the experiment; move it elsewhere")

    # 2. the sets that are given, then the training text and the sets that are sampled from it
    train = texts["train"]
    source_codec, target_codec = (
        TokenText() if tokenized else RawText(language, TOKENIZATION)
        for language in (languages.source, languages.target)
    )
    with ExitStack() as stack:
        writers = {
            split: (stack.enter_context(write_lines(source)), stack.enter_context(write_lines(target)))
            for split, (source, target) in outputs.items()
        }
        split_writer = _SplitWriter(writers, source_codec, target_codec)
        held_out_keys: SideKeys = set()
        for split, text in texts.items():
            if split != "train":
                held_out_keys |= _copy_set(split, text, split_writer)
        missing_splits = [split for split in SPLITS if split not in texts]
        sample = _sample_held_out(train, missing_splits, held_out_keys, min_pairs)
        _divide_training_text(train, sample, split_writer)
        _check_training_pairs(train, split_writer.statistics.pairs["train"], min_pairs)
    return split_writer.statistics


@dataclass(frozen=True)
class _HeldOutSample:
    """The number of all pairs, the split of each sampled pair by line number, and the matching keys of their sides."""

    pair_count: int
    splits: dict[int, str] = field(default_factory=dict)
    keys: SideKeys = field(default_factory=set)


@dataclass
class _SplitWriter:
    """Writes pairs into the files of their split, and counts them."""

    writers: Mapping[str, tuple[LineWriter, LineWriter]]
    source_codec: TextCodec
    target_codec: TextCodec
    statistics: TextStatistics = field(default_factory=TextStatistics)

    def write(self, split: str, source: str, target: str, counts_words: bool = True) -> None:
        """Write a pair. counts_words: whether the statistics include its lengths and words."""
        source_writer, target_writer = self.writers[split]
        source_writer.write(source)
        target_writer.write(target)
        self.statistics.pairs[split] += 1
        if not source.strip() or not target.strip():
            self.statistics.one_sided_pairs += 1
        if counts_words:
            source_tokens = self.source_codec.tokenize(source)
            self.statistics.count_pair(split, source_tokens, self.target_codec.tokenize(target))


def _copy_set(split: str, text: ParallelText, split_writer: _SplitWriter) -> SideKeys:
    """Write a held-out set that the user gives, and return the matching keys of its sentences."""
    lengths = PairLengths()
    keys: SideKeys = set()
    for source, target in text.read_pairs(lengths=lengths):
        keys |= _get_side_keys(source, target)
        split_writer.write(split, source, target)
    if not split_writer.statistics.pairs[split]:
        raise UserError(f"{text}: no sentences; expected one per line")
    split_writer.statistics.add_shift(split, lengths)
    return keys


def _divide_training_text(train: ParallelText, sample: _HeldOutSample, split_writer: _SplitWriter) -> None:
    """Write the sampled lines into their set, and the others into the training text.

    Pairs that share a side with a sampled one are left out, and so are lines that are empty on both sides.
    """
    statistics = split_writer.statistics
    lengths = PairLengths()
    counting_interval = 1 + sample.pair_count // COUNTED_PAIRS
    with Progress.over_files(train.files, f"divide {train}") as progress:
        for line_number, (source, target) in enumerate(train.read_pairs(progress, lengths), 1):
            if not source.strip() and not target.strip():
                continue
            split = sample.splits.get(line_number, "train")
            if split == "train" and sample.splits and sample.keys & _get_side_keys(source, target):
                statistics.left_out_pairs += 1
                continue

            # count the words of all held-out pairs, and of each n-th training pair
            counts_words = split != "train" or statistics.pairs["train"] % counting_interval == 0
            split_writer.write(split, source, target, counts_words)

    statistics.add_shift("train", lengths)


def _check_training_pairs(text: ParallelText, pairs: int, min_pairs: int) -> None:
    """Raise a UserError if a text has too few pairs. If they suffice for fine-tuning, the error says this."""
    if pairs < min_pairs:
        remedy = ""
        if pairs >= MIN_FINE_TUNING_PAIRS:
            remedy = "; fewer can fine-tune a trained model (--init-from)"
        raise UserError(f"{text}: {pairs:,} pairs to train on; expected at least {min_pairs:,}{remedy}")


def _get_side_keys(source: str, target: str) -> SideKeys:
    """Return the matching keys of both sides of a pair."""
    return {("source", matching_key(source)), ("target", matching_key(target))}


def _sample_held_out(
    train: ParallelText, splits: list[str], held_out_keys: SideKeys, min_pairs: int
) -> _HeldOutSample:
    """Sample the named splits from the training text.

    Pairs that have a side in common with an existing held-out set (`held_out_keys`) are never sampled.
    """
    # Twice as many candidates as needed, since some of them share a side with each other.
    max_candidates = 2 * MAX_HELD_OUT_PAIRS * len(splits)
    # checksum -> line number (from 1) and keys of both sides
    candidates: dict[int, tuple[int, SideKeys]] = {}

    pair_count = untranslated_count = 0
    with Progress.over_files(train.files, f"read {train}") as progress:
        for line_number, (source, target) in enumerate(train.read_pairs(progress), 1):
            # 1. pairs with text on both sides, and pairs that are not translated
            if source.strip() and target.strip():
                pair_count += 1
                untranslated_count += source == target
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
            # sorting is slow, so surplus candidates are dropped only when there are twice as many as allowed
            if len(candidates) >= 2 * max_candidates:
                candidates = dict(sorted(candidates.items())[:max_candidates])

    # 3. text that cannot be trained on
    _check_training_pairs(train, pair_count, min_pairs)
    if 2 * untranslated_count > pair_count:
        problem = f"{untranslated_count:,} of {pair_count:,} pairs are the same on both sides"
        raise UserError(f"{train}: {problem}; expected a translation")

    # 4. sets of equal size; the candidates with the smallest checksums come first
    split_size = min(MAX_HELD_OUT_PAIRS, max(MIN_HELD_OUT_PAIRS, pair_count // 20))
    sample = _HeldOutSample(pair_count)
    sorted_candidates = [candidates[checksum] for checksum in sorted(candidates)]
    _distribute_candidates(sorted_candidates, splits, split_size, sample)
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
    """Give candidates to the splits in turn until all are full. A candidate must share no side with an earlier one."""
    for line_number, side_keys in candidates:
        if len(sample.splits) == split_size * len(splits):
            return
        if sample.keys.isdisjoint(side_keys):
            sample.splits[line_number] = splits[len(sample.splits) % len(splits)]
            sample.keys.update(side_keys)
