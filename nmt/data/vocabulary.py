"""Vocabularies: the most frequent words (paper, Sec. 4.1) or subwords, and their ids; and counts of words.

Id 0 is the end-of-sentence symbol, 1 the unknown word. The next ids are the words by rank, or the subwords in the order
in which they were learned.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from nmt.data.subwords import BytePairEncoder, join_subwords, learn_subwords
from nmt.errors import UserError
from nmt.io.files import write_text
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines

END = 0
UNKNOWN = 1
END_WORD = "</s>"
UNKNOWN_WORD = "[UNK]"
SPECIALS = (END_WORD, UNKNOWN_WORD)

MAX_LEARNING_WORDS = 2_000_000
"""Number of most frequent words from which subwords are learned. SentencePiece holds them in memory."""
_HEADERS = {False: "rank\tword\tcount", True: "rank\tpiece\tcount"}
"""The first line of a vocabulary's file, by whether its entries are subwords."""
_ROW = re.compile(r"(?P<rank>[0-9]+)\t(?P<entry>[^\t]+)\t(?P<count>[0-9]{1,18})")


class Vocabulary:
    """The words or subwords of one side, called entries, with their counts and ids.

    Attributes:
        has_subwords: whether the entries are subwords. Then a token has one or more ids, otherwise it has one.
        counts: how often each entry occurs in the text, by rank, without special symbols.
    """

    def __init__(self, ranked_counts: Sequence[tuple[str, int]], has_subwords: bool = False) -> None:
        """Take the entries with their counts, in the order of their ids, without special symbols."""
        self.has_subwords = has_subwords
        self.counts = [count for _, count in ranked_counts]
        self._own_entries = [entry for entry, _ in ranked_counts]
        self._entries = [*SPECIALS, *self._own_entries]
        self._ids = {entry: i for i, entry in enumerate(self._own_entries, start=len(SPECIALS))}
        self._encoder = BytePairEncoder(self._own_entries, UNKNOWN_WORD)

    def __len__(self) -> int:
        """Return the number of ids, with those of both special symbols."""
        return len(self._entries)

    def __contains__(self, word: object) -> bool:
        """Return whether a word of a text is known. The names of special symbols are not."""
        if word in SPECIALS or not self.has_subwords:
            return word in self._ids
        subwords = self._encoder.segment(str(word))
        return bool(subwords) and UNKNOWN_WORD not in subwords

    def segment(self, tokens: Iterable[str]) -> list[str]:
        """Return the entries that tokens consist of: the tokens themselves, or their subwords. Each has one id.

        A token that cannot be segmented stays as it is. It is one unknown word; for exceptions see `BytePairEncoder`.
        """
        if not self.has_subwords:
            return list(tokens)
        entries: list[str] = []
        for token in tokens:
            subwords = () if token in SPECIALS else self._encoder.segment(token)
            entries += subwords or (token,)
        return entries

    def words_and_start_indices(self, ids: Iterable[int]) -> tuple[list[str], list[int]]:
        """Return the words of `ids`, and the index in `ids` at which each word starts.

        Example: the ids of ▁un, ited and ▁nations are the words united and nations, which start at 0 and 2.
        """
        entries = [self._entries[i] for i in ids]
        if self.has_subwords:
            return join_subwords(entries, whole_words=SPECIALS)
        return entries, list(range(len(entries)))

    def words(self, ids: Iterable[int]) -> list[str]:
        """Return the words of `ids`, special symbols by their names."""
        return self.words_and_start_indices(ids)[0]

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Return the ids of tokens, at least one for each, without the end symbol."""
        get_id = self._ids.get
        return [get_id(entry, UNKNOWN) for entry in self.segment(tokens)]

    def word_start_indices(self, tokens: Iterable[str]) -> list[int]:
        """Return the index of each token's first id among the ids of all tokens, then the number of ids.

        Example: united nations with the subwords ▁un, ited and ▁nations gives [0, 2, 3].
        """
        lengths = [len(self.segment([token])) for token in tokens]
        return [0, *accumulate(lengths)]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the vocabulary's file."""
        return hashlib.sha256(self._format().encode()).hexdigest()

    def _format(self) -> str:
        """Return the text of the vocabulary's file."""
        lines = [_HEADERS[self.has_subwords]]
        for rank, (entry, count) in enumerate(zip(self._own_entries, self.counts, strict=True), start=1):
            lines.append(f"{rank}\t{entry}\t{count}")
        return "\n".join(lines) + "\n"

    def write(self, path: str | Path) -> None:
        """Write the TSV file: rank (from 1), word or subword, count. It does not contain the special symbols."""
        write_text(path, self._format())

    @staticmethod
    def read(path: str | Path) -> Vocabulary:
        """Read the TSV file of words or of subwords. A `UserError` names a malformed or repeated line."""
        lines = read_lines(path)
        header = next(lines, "")
        if header not in _HEADERS.values():
            headers = " or ".join(map(repr, _HEADERS.values()))
            raise UserError(f"{path}, line 1: expected the header {headers}; make the vocabulary again")

        # the entries are in this dictionary in the order of their ranks
        counts: dict[str, int] = {}
        for rank, line in enumerate(lines, start=1):
            row = _ROW.fullmatch(line)
            if row is None or row["rank"] != str(rank) or row["entry"] in counts:
                raise UserError(
                    f"{path}, line {rank + 1}: found {line[:60]!r}, expected rank {rank}, a word that no earlier line"
                    " has, and its count, with tabs between; make the vocabulary again"
                )
            counts[row["entry"]] = int(row["count"])
        return Vocabulary(list(counts.items()), has_subwords=header == _HEADERS[True])


def select_most_frequent_words(counts: Mapping[str, int], max_words: int) -> list[tuple[str, int]]:
    """Return the most frequent words with their counts. Equally frequent words are in code point order.

    The names of special symbols are not words of a text.
    """
    word_counts = [(word, count) for word, count in counts.items() if word not in SPECIALS]
    # highest count first, then by word
    return heapq.nsmallest(max_words, word_counts, key=lambda entry: (-entry[1], entry[0]))


def compute_size_without_specials(words: int, specials_included: bool) -> int:
    """Return the number of entries of a vocabulary that are not special symbols. Raises a UserError if there are none.

    words: the size of the vocabulary in the settings. specials_included: whether this size counts the special symbols.
    """
    size = words - len(SPECIALS) if specials_included else words
    if size < 1:
        raise UserError(f"vocabulary: {words} words are only UNK and the end symbol; ask for 3 or more")
    return size


def build_vocabulary(
    counts: Mapping[str, int], words: int, specials_included: bool, output: str | Path, subwords: bool = False
) -> Vocabulary:
    """Write the vocabulary of a text, and return it.

    Args:
        words: the number of words or subwords.
        specials_included: whether UNK and the end symbol are two of `words`.
        subwords: whether the vocabulary consists of subwords, learned from the words.
    """
    size = compute_size_without_specials(words, specials_included)
    if counts.keys() <= set(SPECIALS):
        raise UserError(f"{output}: no words in the text")

    if subwords:
        frequent_words = select_most_frequent_words(counts, MAX_LEARNING_WORDS)
        ranked_counts = learn_subwords(frequent_words, size)
    else:
        ranked_counts = select_most_frequent_words(counts, size)
    vocabulary = Vocabulary(ranked_counts, subwords)
    vocabulary.write(output)
    return vocabulary


def count_words(paths: Sequence[Path]) -> Counter[str]:
    """Return the counts of all words of token files."""
    counts = Counter[str]()
    with Progress.over_files(paths, "vocabulary") as progress:
        for path in paths:
            for line in read_lines(path, progress):
                counts.update(line.split())
    return counts
