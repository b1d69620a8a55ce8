"""Makes tokens of raw text in one pass: cleaning, tokenization, counts. Then selection and overlap with held-out sets.

A removed pair becomes an empty line on both sides, so that tokens have the line numbers of the raw text. As in Moses'
clean-corpus-n.perl, the limits of cleaning count words that are separated by white space. Overlap is counted in two
ways: by equal tokens, and by equal letters and digits without case. Memory holds only the sentences of the held-out
sets. A table of word counts has a word and its count on each line.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nmt.data.normalization import repair_line
from nmt.data.shards import Corpora
from nmt.data.tokenization import Tokenizer
from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.selection.cross_entropy import Threshold, select_pairs
from nmt.settings.text import Tokenization
from pipeline.config.text import Cleaning

REASONS = ("empty", "too_long", "ratio")
"""Reasons for the removal of a pair. The first one that applies is counted."""
SIDES = ("source", "target")
SideFiles = tuple[Path, Path]
"""The files of source and target."""
WordCounts = tuple[Counter[str], Counter[str]]
"""Counts of the words of source and target."""


class Cleaner:
    """Cleans pairs of lines, and counts.

    `counts` has: `pairs`; `kept` pairs; removed pairs for each of `REASONS`; and the words of the kept pairs,
    `kept_source_words` and `kept_target_words`.
    """

    def __init__(self, settings: Cleaning) -> None:
        self._max_words = settings.max_words or float("inf")
        self._max_ratio = settings.max_ratio or float("inf")
        names = ("pairs", "kept", *REASONS, "kept_source_words", "kept_target_words")
        self.counts = dict.fromkeys(names, 0)

    def clean_pair(self, source: str, target: str) -> tuple[str, str] | None:
        """Return the pair with its malformed characters repaired, or None if the pair is removed."""
        source, target = repair_line(source), repair_line(target)
        source_words = len(source.split())
        target_words = len(target.split())
        self.counts["pairs"] += 1

        reason = self._find_reason(source_words, target_words)
        if reason:
            self.counts[reason] += 1
            return None
        self.counts["kept"] += 1
        self.counts["kept_source_words"] += source_words
        self.counts["kept_target_words"] += target_words
        return source, target

    def _find_reason(self, source_words: int, target_words: int) -> str | None:
        """Return the reason to remove a pair with these numbers of words, or None to keep it."""
        min_words = min(source_words, target_words)
        max_words = max(source_words, target_words)
        if min_words == 0:
            return "empty"
        if max_words > self._max_words:
            return "too_long"
        if max_words > self._max_ratio * min_words:
            return "ratio"
        return None


# --- overlap ----------------------------------------------------------------------------------------------------------

_NOT_LETTERS = re.compile(r"[\W_]+")
MATCH_KINDS = ("same", "alike")
"""Sentences are the same if their tokens are equal, and alike if their matching keys are equal."""


def matching_key(line: str) -> str:
    """Return the letters, with their combining marks, and the digits of a line, in lower case, without Moses' escapes.

    Example: "It &apos;s 5 o'clock!" -> "its5oclock".
    """
    # NFKC makes different writings of a character equal: combining accents, ligatures, wide and raised digits
    text = unicodedata.normalize("NFKC", html.unescape(line))
    # Python's \W also matches combining marks. They belong to the letters before them, and are kept.
    return _NOT_LETTERS.sub(_keep_marks, text).casefold()


def _keep_marks(match: re.Match[str]) -> str:
    """Return the combining marks in text without letters: the vowels of Hindi, Thai and other languages."""
    text = match[0]
    if text.isascii():
        return ""
    # Unicode's categories of marks are Mn, Mc and Me
    return "".join(character for character in text if unicodedata.category(character)[0] == "M")


class HeldOutSentences:
    """The sentences of held-out sets, as tokens and as matching keys.

    Attributes:
        names: names of all counts of `count_overlap`: SET_{same,alike}_{source,target,both}.
        sets: (match_kind, side, sentence or key) -> names of the sets that have it.
    """

    def __init__(self, corpora: Corpora) -> None:
        """Read the token files (source, target) of all shards of each set. Lines without letters are not sentences."""
        self.names: list[str] = []
        self.sets: dict[tuple[str, str, str], set[str]] = {}
        for name, shards in corpora.items():
            for match_kind in MATCH_KINDS:
                self.names += [f"{name}_{match_kind}_{side}" for side in (*SIDES, "both")]
            for files in shards:
                for side, file in zip(SIDES, files, strict=True):
                    for line in read_lines(file):
                        key = matching_key(line)
                        if key:
                            self.sets.setdefault(("same", side, line), set()).add(name)
                            self.sets.setdefault(("alike", side, key), set()).add(name)


def count_overlap(held_out: HeldOutSentences, tokens: SideFiles) -> Counter[str]:
    """Return how many pairs of a shard share a side with each held-out set: SET_{same,alike}_{source,target,both}.

    A pair counts for `both` if both of its sides are in the same set.
    """
    counts: Counter[str] = Counter()
    no_sets: set[str] = set()
    with Progress.over_files(tokens, f"overlap {tokens[0]}") as progress:
        for source, target in read_pairs(*tokens, progress):
            keys = {"same": (source, target), "alike": (matching_key(source), matching_key(target))}
            for match_kind, (source_key, target_key) in keys.items():
                source_sets = held_out.sets.get((match_kind, "source", source_key), no_sets)
                target_sets = held_out.sets.get((match_kind, "target", target_key), no_sets)
                counts.update(f"{name}_{match_kind}_source" for name in source_sets)
                counts.update(f"{name}_{match_kind}_target" for name in target_sets)
                counts.update(f"{name}_{match_kind}_both" for name in source_sets & target_sets)
    return counts


# --- counts of words --------------------------------------------------------------------------------------------------


class StageCounts:
    """The pairs of a stage of the data, and the count of each word. Pairs with an empty side are never trained on."""

    def __init__(self) -> None:
        self.pairs = 0
        self.word_counts: WordCounts = Counter(), Counter()

    def add(self, source: str, target: str) -> None:
        """Count a pair of tokenized lines."""
        source_words, target_words = source.split(), target.split()
        if source_words and target_words:
            self.pairs += 1
            source_counts, target_counts = self.word_counts
            source_counts.update(source_words)
            target_counts.update(target_words)

    def as_dict(self, name: str) -> dict[str, Any]:
        """Return the name of the stage and its `pairs`, and for each side the number of `words`."""
        source_counts, target_counts = self.word_counts
        return {
            "name": name,
            "pairs": self.pairs,
            "source": {"words": source_counts.total()},
            "target": {"words": target_counts.total()},
        }

    def write_words(self, source: Path, target: Path) -> None:
        """Write the tables of word counts of both sides, with the words in code point order."""
        for path, word_counts in zip((source, target), self.word_counts, strict=True):
            with write_lines(path) as writer:
                for word in sorted(word_counts):
                    writer.write(f"{word}\t{word_counts[word]}")


def read_word_counts(paths: Iterable[Path]) -> Counter[str]:
    """Return the sum of tables of word counts."""
    total: Counter[str] = Counter()
    for path in paths:
        for line in read_lines(path):
            word, count = line.split("\t")
            total[word] += int(count)
    return total


# --- stages of the data -----------------------------------------------------------------------------------------------


def prepare_shard(
    raw: SideFiles,
    settings: Mapping[str, Any],
    tokens: SideFiles,
    word_counts: SideFiles,
    counts: Path,
) -> None:
    """Clean and tokenize a shard, and write its counts.

    Args:
        raw: text of both sides.
        settings: what `job_settings.get_preparation_settings` returns: `languages`, `cleaning`, and `tokenization`,
            which is None for text that consists of tokens. An experiment that uses this text compares its own settings
            with them.
        tokens: output files for both sides.
        word_counts: output files for the word counts of both sides.
        counts: JSON file for the counts of cleaning (`clean`) and of the tokens (`stage`), and for `settings`.
    """
    cleaner = Cleaner(Cleaning.model_validate(settings["cleaning"]))
    stage_counts = StageCounts()
    tokenize_source, tokenize_target = (_make_tokenizer(settings, side) for side in SIDES)
    with (
        Progress.over_files(raw, f"prepare {raw[0]}") as progress,
        write_lines(tokens[0]) as source_writer,
        write_lines(tokens[1]) as target_writer,
    ):
        for raw_source, raw_target in read_pairs(*raw, progress, errors="surrogateescape"):
            # a removed pair becomes an empty line on both sides
            source, target = cleaner.clean_pair(raw_source, raw_target) or ("", "")
            source, target = tokenize_source(source), tokenize_target(target)
            source_writer.write(source)
            target_writer.write(target)
            stage_counts.add(source, target)
    stage_counts.write_words(word_counts[0], word_counts[1])
    write_json(
        counts, {"clean": cleaner.counts, "stage": stage_counts.as_dict("tokens"), "settings": dict(settings)}
    )


def _make_tokenizer(settings: Mapping[str, Any], side: str) -> Callable[[str], str]:
    """Return a function that tokenizes a line of one side; text that consists of tokens stays as it is."""
    if settings["tokenization"] is None:
        return str
    return Tokenizer(settings["languages"][side], Tokenization.model_validate(settings["tokenization"]))


def prepare_monolingual_shard(raw: Path, settings: Mapping[str, Any], tokens: Path) -> None:
    """Clean and tokenize a shard of text in the target language. Lines that are too long become empty.

    settings: as for `prepare_shard`.
    """
    cleaner = Cleaner(Cleaning.model_validate(settings["cleaning"]))
    tokenize = _make_tokenizer(settings, "target")
    with Progress.over_files([raw], f"prepare {raw}") as progress, write_lines(tokens) as writer:
        for line in read_lines(raw, progress, errors="surrogateescape"):
            # the cleaner expects pairs: the line with itself
            sentence, _ = cleaner.clean_pair(line, line) or ("", "")
            writer.write(tokenize(sentence))


class SelectionFiles(NamedTuple):
    """The files of a shard from which pairs are selected: scores and tokens; the selected tokens and their counts."""

    scores: Path
    source: Path
    target: Path
    selected_source: Path
    selected_target: Path
    source_words: Path
    target_words: Path
    counts: Path


def select_shard(threshold: Threshold, corpus: str, shard: tuple[int, SelectionFiles]) -> None:
    """Write the pairs of a shard that the threshold selects, with empty lines in place of the others; count them.

    Args:
        threshold: the score of the worst pairs that the word budget of the corpus still has room for.
        corpus: the name of the corpus.
        shard: number and files of the shard.
    """
    shard_number, files = shard
    stage_counts = StageCounts()
    tokens = (files.source, files.target)
    with (
        write_lines(files.selected_source) as source_writer,
        write_lines(files.selected_target) as target_writer,
    ):
        for source, target in select_pairs(threshold, corpus, shard_number, files.scores, tokens):
            source_writer.write(source)
            target_writer.write(target)
            stage_counts.add(source, target)
    stage_counts.write_words(files.source_words, files.target_words)
    write_json(files.counts, {"stage": stage_counts.as_dict("selected")})
