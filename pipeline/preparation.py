"""From raw text to tokens in one pass: cleaning, tokenization, counts; then selection, and overlap with held-out sets.

A removed pair becomes an empty line on both sides, so that line numbers stay those of the raw text. The limits of
cleaning are those of Moses' clean-corpus-n.perl; as there, words are separated by white space. Overlap compares sides
twice: token by token, and by letters and digits alone, without case. Only the sentences of the held-out sets are in
memory. Counts of words are tables with a word and its count on each line.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from nmt.data.shards import Corpora
from nmt.data.tokenization import CONTROL_CHARACTERS, Tokenizer
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.selection.cross_entropy import Threshold, select_pairs
from nmt.settings.text import Languages, Tokenization
from pipeline.config.text import Cleaning

_DELETED = re.compile(rf"\A\ufeff+|\r+\Z|{CONTROL_CHARACTERS.pattern}")
"""Byte order marks, carriage returns at the end, and control characters."""
_SEPARATORS = re.compile("[\x0b\x0c\r\x85\u2028\u2029]")
"""What str.splitlines, editors and many programs take for the end of a line."""
_FAULTY = re.compile("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\ufeff\udc80-\udcff]")
"""All of these, and bytes that are not UTF-8. Most lines have none."""

REASONS = ("empty", "too_long", "ratio")
"""Reasons for the removal of a pair; the first that applies is counted."""
SIDES = ("source", "target")
Sides = tuple[Path, Path]
"""Files of both sides."""


class Cleaner:
    """Cleans the pairs of a text, and counts.

    The counts are: `pairs`; `kept` pairs; removed pairs for each of `REASONS`; and the words of the kept pairs,
    `kept_source_words` and `kept_target_words`.
    """

    def __init__(self, settings: Cleaning) -> None:
        self._most = settings.max_words or float("inf")
        self._ratio = settings.max_ratio or float("inf")
        names = ("pairs", "kept", *REASONS, "kept_source_words", "kept_target_words")
        self.counts = dict.fromkeys(names, 0)

    def __call__(self, source: str, target: str) -> tuple[str, str] | None:
        """Return the pair with malformed characters `repaired`; None if it is removed."""
        counts = self.counts
        pair = repaired(source), repaired(target)
        words = len(pair[0].split()), len(pair[1].split())
        counts["pairs"] += 1
        if reason := self._reason(*words):
            counts[reason] += 1
            return None
        counts["kept"] += 1
        counts["kept_source_words"] += words[0]
        counts["kept_target_words"] += words[1]
        return pair

    def _reason(self, source: int, target: int) -> str | None:
        fewer, more = min(source, target), max(source, target)
        if not fewer:
            return "empty"
        if more > self._most:
            return "too_long"
        return "ratio" if more > self._ratio * fewer else None


def repaired(line: str) -> str:
    """Return a line without malformed characters. Bytes that are not UTF-8 come as in `surrogateescape`."""
    if not _FAULTY.search(line):
        return line
    line = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _SEPARATORS.sub(" ", _DELETED.sub("", line))


_NO_LETTERS = re.compile(r"[\W_]+")

WAYS = ("same", "alike")
_NONE: set[str] = set()


def matching_key(line: str) -> str:
    """Return the letters (with their marks) and digits of a line, without case, after undoing Moses' escapes."""
    # NFKC, since an accent may be a character of its own or not, and since ligatures and wide or raised digits only
    # set the same text otherwise
    text = unicodedata.normalize("NFKC", html.unescape(line))
    return _NO_LETTERS.sub(_marks, text).casefold()


def _marks(match: re.Match[str]) -> str:
    """Return the combining marks in what Python takes for no letters: they are the vowels of Hindi, Thai and others."""
    text = match[0]
    return "" if text.isascii() else "".join(mark for mark in text if unicodedata.category(mark)[0] == "M")


class HeldOutSentences:
    """The sentences of held-out sets, as tokens and as letters and digits alone."""

    def __init__(self, corpora: Corpora) -> None:
        """Read the token files (source, target) of all shards of each set. Empty lines are not sentences."""
        self.names = [f"{name}_{way}_{side}" for name in corpora for way in WAYS for side in (*SIDES, "both")]
        self.sets: dict[tuple[str, str], dict[str, set[str]]] = {
            (way, side): {} for way in WAYS for side in SIDES
        }
        for name, shards in corpora.items():
            for paths in shards:
                for side, path in zip(SIDES, paths, strict=True):
                    for line in read_lines(path):
                        if key := matching_key(line):
                            self.sets["same", side].setdefault(line, set()).add(name)
                            self.sets["alike", side].setdefault(key, set()).add(name)


def count_overlap(held_out: HeldOutSentences, tokens: Sides) -> Counter[str]:
    """Return how many pairs of a shard share a side with each held-out set: `SET_{same,alike}_{source,target,both}`.

    With `both`, both sides are in the same set.
    """
    counts: Counter[str] = Counter()
    with Progress.over_files(tokens, f"overlap {tokens[0]}") as progress:
        for source, target in read_pairs(*tokens, progress):
            keys = {"same": (source, target), "alike": (matching_key(source), matching_key(target))}
            for way, pair in keys.items():
                sources, targets = (
                    held_out.sets[way, side].get(key, _NONE) for side, key in zip(SIDES, pair, strict=True)
                )
                for side, names in (("source", sources), ("target", targets), ("both", sources & targets)):
                    counts.update(f"{name}_{way}_{side}" for name in names)
    return counts


class StageCounts:
    """Pairs with words on both sides (no others are trained on), and each word's count."""

    def __init__(self) -> None:
        self.pairs = 0
        self.words: tuple[Counter[str], Counter[str]] = Counter(), Counter()

    def add(self, source: str, target: str) -> None:
        """Count a pair of lines of tokens."""
        pair = source.split(), target.split()
        if not pair[0] or not pair[1]:
            return
        self.pairs += 1
        for words, line in zip(self.words, pair, strict=True):
            words.update(line)

    def as_dict(self, name: str) -> dict[str, Any]:
        """Return the stage's `name` and `pairs`, and for each side its `words`."""
        sides = {side: {"words": words.total()} for side, words in zip(SIDES, self.words, strict=True)}
        return {"name": name, "pairs": self.pairs, **sides}

    def write_words(self, source: Path, target: Path) -> None:
        """Write the tables of each side's words, in code point order."""
        for path, words in zip((source, target), self.words, strict=True):
            with write_lines(path) as writer:
                for word in sorted(words):
                    writer.write(f"{word}\t{words[word]}")


def read_word_counts(paths: Iterable[Path]) -> Counter[str]:
    """Return the sum of some tables."""
    total: Counter[str] = Counter()
    for path in paths:
        for number, line in enumerate(read_lines(path), 1):
            word, _, count = line.partition("\t")
            if not count.isdecimal():
                raise UserError(f"{path}, line {number}: found {line[:60]!r}, expected a word and its count")
            total[word] += int(count)
    return total


def prepare_shard(
    raw: Sides,
    languages: Languages,
    cleaning: Cleaning,
    tokenization: Tokenization | None,
    tokens: Sides,
    words: Sides,
    counts: Path,
) -> None:
    """Write the tokens of a shard, and what was counted on the way.

    Args:
        raw: both sides.
        languages: of the sides.
        cleaning: limits for pairs.
        tokenization: the tokenizer's settings; None for text that consists of tokens already.
        tokens: files for both sides.
        words: files for the counts of each side's words.
        counts: JSON file for the counts of cleaning (`clean`) and of the tokens (`stage`).
    """
    clean, stage = Cleaner(cleaning), StageCounts()
    tokenizers = (
        [Tokenizer(code, tokenization) for code in (languages.source, languages.target)]
        if tokenization
        else []
    )
    with (
        Progress.over_files(raw, f"prepare {raw[0]}") as progress,
        write_lines(tokens[0]) as sources,
        write_lines(tokens[1]) as targets,
    ):
        for pair in read_pairs(*raw, progress, errors="surrogateescape"):
            source, target = clean(*pair) or ("", "")
            if tokenizers:
                source, target = tokenizers[0](source), tokenizers[1](target)
            sources.write(source)
            targets.write(target)
            stage.add(source, target)
    stage.write_words(*words)
    write_json(counts, {"clean": clean.counts, "stage": stage.as_dict("tokens")})


def prepare_monolingual_shard(
    raw: Path, language: str, cleaning: Cleaning, tokenization: Tokenization, tokens: Path
) -> None:
    """Write the tokens of a shard of text in one language. Lines that are too long become empty."""
    clean, tokenize = Cleaner(cleaning), Tokenizer(language, tokenization)
    with Progress.over_files([raw], f"prepare {raw}") as progress, write_lines(tokens) as writer:
        for line in read_lines(raw, progress, errors="surrogateescape"):
            sentence, _ = clean(line, line) or ("", "")
            writer.write(tokenize(sentence))


# --- selection --------------------------------------------------------------------------------------------------------


class SelectionFiles(NamedTuple):
    """The files of a shard that is selected from: its scores and tokens; the selected tokens and their counts."""

    scores: Path
    source: Path
    target: Path
    selected_source: Path
    selected_target: Path
    source_words: Path
    target_words: Path
    counts: Path


def select_shard(threshold: Threshold, corpus: str, shard: tuple[int, SelectionFiles]) -> None:
    """Write the pairs of a shard that the threshold takes, with empty lines in place of the others; count them.

    Args:
        threshold: that of the corpus' word budget.
        corpus: its name.
        shard: the shard's number and files.
    """
    number, files = shard
    counts = StageCounts()
    with (
        write_lines(files.selected_source) as sources,
        write_lines(files.selected_target) as targets,
    ):
        for source, target in select_pairs(
            threshold, corpus, number, files.scores, (files.source, files.target)
        ):
            sources.write(source)
            targets.write(target)
            counts.add(source, target)
    counts.write_words(files.source_words, files.target_words)
    write_json(files.counts, {"stage": counts.as_dict("selected")})
