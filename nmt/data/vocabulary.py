"""Vocabularies: the most frequent words (paper, Sec. 4.1), or subword units of all words; and counts of words.

Id 0 is the end symbol, 1 the unknown word. The next ids are the words by rank, or the units in learning order.

Words are cut into units by byte pair encoding (Sennrich et al., 2016, Algorithm 1). A word starts as its characters,
after a mark for its beginning. Then, repeatedly, the two neighbours whose union was learned first are merged, as long
as there is a union that is a piece. So the ordered list of pieces defines the segmentation. A word with a character
that is not a piece is not cut; it is the unknown word. Only in writing without spaces, where a "word" may be a whole
clause, such characters alone are unknown.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import write_text
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines

END = 0
UNKNOWN = 1
END_WORD = "</s>"
UNKNOWN_WORD = "[UNK]"
SPECIALS = (END_WORD, UNKNOWN_WORD)
_COUNT = re.compile(r"[0-9]{1,18}")

_HEADERS = ("rank\tword\tcount", "rank\tpiece\tcount")
"""First line of a file of words, and of one of subword units."""


class Vocabulary:
    """Words by rank with their counts, and both directions of the mapping to ids.

    With subword units, a word has one or several ids; an unknown word is still one [UNK], but see `BytePairEncoder`.
    """

    def __init__(self, ranked: Sequence[tuple[str, int]], subwords: bool = False) -> None:
        self.counts = [count for _, count in ranked]
        self._words = [*SPECIALS, *(word for word, _ in ranked)]
        self._ids = {word: i for i, word in enumerate(self._words) if i >= len(SPECIALS)}
        self._cut = BytePairEncoder(self._words[len(SPECIALS) :]) if subwords else None

    def __len__(self) -> int:
        """Return the number of ids: words and both special symbols."""
        return len(self._words)

    @property
    def subwords(self) -> bool:
        """Whether the entries are subword units."""
        return self._cut is not None

    def __contains__(self, word: object) -> bool:
        """Return whether `word` has its own id, or units. The special symbols are not words of a text."""
        if self._cut is None:
            return word in self._ids
        pieces = () if word in SPECIALS else self._cut(str(word))
        return bool(pieces) and UNKNOWN_WORD not in pieces

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Return the ids of `tokens`, without an end symbol: at least one for each."""
        get = self._ids.get
        return [get(unit, UNKNOWN) for unit in self.segment(tokens)]

    def word_start_indices(self, tokens: Iterable[str]) -> list[int]:
        """Return the index at which the ids of each token begin among those of `tokens`, then the number of ids."""
        lengths = (len(self.segment([token])) for token in tokens)
        return [0, *accumulate(lengths)]

    def segment(self, tokens: Iterable[str]) -> list[str]:
        """Return the entries with one id each: the tokens, or the units of the tokens that can be cut."""
        tokens = list(tokens)
        if self._cut is None:
            return tokens
        pieces_of_tokens = (() if token in SPECIALS else self._cut(token) for token in tokens)
        return [
            unit
            for token, pieces in zip(tokens, pieces_of_tokens, strict=True)
            for unit in pieces or (token,)
        ]

    def words(self, ids: Iterable[int]) -> list[str]:
        """Return the words of `ids`, with the names of special symbols; units are joined."""
        return self.words_and_start_indices(ids)[0]

    def words_and_start_indices(self, ids: Iterable[int]) -> tuple[list[str], list[int]]:
        """Return the words of `ids`, and the index in `ids` at which each word begins.

        Example: the ids of ▁un, ited and ▁nations are the words united and nations, which begin at 0 and 2.
        """
        entries = [self._words[i] for i in ids]
        return join_subwords(entries, SPECIALS) if self.subwords else (entries, [*range(len(entries))])

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the vocabulary's file."""
        return hashlib.sha256(self._text().encode()).hexdigest()

    def _text(self) -> str:
        ranked = zip(self._words[len(SPECIALS) :], self.counts, strict=True)
        rows = (f"{rank}\t{word}\t{count}" for rank, (word, count) in enumerate(ranked, start=1))
        return "\n".join([_HEADERS[self.subwords], *rows]) + "\n"

    def write(self, path: str | Path) -> None:
        """Write the TSV file: rank (from 1), word or unit, count. It does not contain the special symbols."""
        write_text(path, self._text())

    @classmethod
    def read(cls, path: str | Path) -> Vocabulary:
        """Read the TSV file. A `UserError` names a malformed line."""
        lines = read_lines(path)
        header = next(lines, "")
        if header not in _HEADERS:
            headers = " or ".join(map(repr, _HEADERS))
            raise UserError(f"{path}, line 1: expected the header {headers}; make the vocabulary again")
        ranked = [_row(path, rank, line) for rank, line in enumerate(lines, start=1)]
        line_of_word = dict[str, int]()
        for number, (word, _) in enumerate(ranked, start=2):
            if line_of_word.setdefault(word, number) != number:
                raise UserError(
                    f"{path}, line {number}: {word!r} is also in line {line_of_word[word]}; make the vocabulary again"
                )
        return cls(ranked, header == _HEADERS[True])


def _row(path: str | Path, rank: int, line: str) -> tuple[str, int]:
    fields = line.split("\t")
    if len(fields) != 3 or fields[0] != str(rank) or not fields[1] or not _COUNT.fullmatch(fields[2]):
        raise UserError(
            f"{path}, line {rank + 1}: found {line[:60]!r}, expected rank {rank}, a word and its count with "
            "tabs between; make the vocabulary again"
        )
    return fields[1], int(fields[2])


def most_frequent_words(counts: Mapping[str, int], words: int) -> list[tuple[str, int]]:
    """Return the `words` most frequent words. Equally frequent words are in code point order.

    The names of special symbols are not words of a text.
    """
    own = (item for item in counts.items() if item[0] not in SPECIALS)
    return heapq.nsmallest(words, own, key=lambda item: (-item[1], item[0]))


def size_without_specials(words: int, specials_count: bool) -> int:
    """Return the number of words without special symbols. With `specials_count`, two of `words` are special symbols."""
    own = words - len(SPECIALS) if specials_count else words
    if own < 1:
        raise UserError(f"vocabulary: {words} words leave none beside UNK and end symbol; ask for 3 or more")
    return own


def build_vocabulary(
    counts: Mapping[str, int], words: int, specials_count: bool, output: str | Path, subwords: bool = False
) -> Vocabulary:
    """Write the vocabulary of a text with these counts of words: its most frequent words, or subword units.

    With `specials_count`, UNK and the end symbol are two of `words`.
    """
    own = size_without_specials(words, specials_count)
    if counts.keys() <= {*SPECIALS}:
        raise UserError(f"{output}: no words in the text")
    vocabulary = Vocabulary((learn_subwords if subwords else most_frequent_words)(counts, own), subwords)
    vocabulary.write(output)
    return vocabulary


def count_words(paths: Iterable[Path]) -> Counter[str]:
    """Return the counts of all words of token files."""
    paths, counts = list(paths), Counter[str]()
    with Progress.over_files(paths, "vocabulary") as progress:
        for path in paths:
            for line in read_lines(path, progress):
                counts.update(line.split())
    return counts


# --- subword units ---------------------------------------------------------------------------------------------------

WORD_START = "▁"
"""U+2581, which SentencePiece puts in front of a word's first piece."""
MAX_WORD_CHARACTERS = 200
"""Maximum number of characters that are cut at a time; time grows with its square."""
UNSPACED_CHARACTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of a script without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters."""
_REMEMBERED = 1 << 19


class BytePairEncoder:
    """Cuts words into pieces.

    In writing without spaces, each stretch of characters that are no pieces is one [UNK] among the pieces of its word,
    and words of any length are cut.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        """Take `pieces` in learning order. Single characters are also pieces."""
        self._order = {piece: place for place, piece in enumerate(pieces)}
        self._cut = lru_cache(maxsize=_REMEMBERED)(self._cut_anew)

    def __call__(self, word: str) -> tuple[str, ...]:
        """Return the pieces of a word; none if it has a character that is not a piece, or too many characters."""
        return self._cut(word)

    def _cut_anew(self, word: str) -> tuple[str, ...]:
        known = self._order.keys()
        unknown_characters = {*word} - known
        if WORD_START in word or WORD_START not in known or unknown_characters >= {*word}:
            return ()
        if (unknown_characters or len(word) > MAX_WORD_CHARACTERS) and not UNSPACED_CHARACTER.search(word):
            return ()

        # stretches of known characters, each with at most LONGEST; the first has the mark of the beginning
        pieces, stretch = list[str](), [WORD_START]
        for character in word:
            is_known = character in known
            if is_known:
                stretch.append(character)
            if not is_known or len(stretch) > MAX_WORD_CHARACTERS:
                pieces += self._merge(stretch)
                stretch = []
            if not is_known and pieces[-1:] != [UNKNOWN_WORD]:
                pieces.append(UNKNOWN_WORD)
        return tuple(pieces + self._merge(stretch))

    def _merge(self, characters: Sequence[str]) -> list[str]:
        """Merge neighbours, in learning order, as long as their union is a piece."""
        parts = list(characters)
        while len(parts) > 1:
            orders = [self._order.get(left + right, math.inf) for left, right in pairwise(parts)]
            first = min(orders)
            if first == math.inf:
                break
            place = orders.index(first)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return parts


def join_subwords(pieces: Iterable[str], whole: Iterable[str]) -> tuple[list[str], list[int]]:
    """Join pieces into words, and return the words and the index of each word's first piece.

    A word begins with a marked piece, or is one of `whole`, which are never joined. A mark without letters is no word.
    """
    words, beginnings = list[str](), list[int]()
    apart = True
    whole = frozenset(whole)
    for index, piece in enumerate(pieces):
        if piece in whole or apart or piece.startswith(WORD_START):
            words.append(piece.removeprefix(WORD_START))
            beginnings.append(index)
            apart = piece in whole
        else:
            words[-1] += piece
    written = [place for place, word in enumerate(words) if word]
    return [words[place] for place in written], [beginnings[place] for place in written]


MAX_LEARNING_WORDS = 2_000_000
"""Number of most frequent words for learning. SentencePiece holds them in memory."""


def learn_subwords(counts: Mapping[str, int], pieces: int) -> list[tuple[str, int]]:
    """Learn a limited number of pieces from words with counts. Return the pieces with counts, in learning order.

    Raises:
        UserError: there are more distinct characters than pieces.
    """
    import sentencepiece  # heavy, and only learning needs it

    frequent = [item for item in most_frequent_words(counts, MAX_LEARNING_WORDS) if WORD_START not in item[0]]
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "words.tsv", Path(folder) / "pieces"
        with write_lines(table) as writer:
            for word, count in frequent:
                writer.write(f"{word}\t{count}")
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                model_prefix=str(model),
                model_type="bpe",
                vocab_size=pieces + 1,  # its own unknown piece
                hard_vocab_limit=False,
                normalization_rule_name="identity",
                bos_id=-1,
                eos_id=-1,
                max_sentence_length=1 << 20,
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            reason = str(error).rpartition("] ")[2] or str(error)
            raise UserError(f"vocabulary: {pieces} subword units could not be learned: {reason}") from None
        learned = sentencepiece.SentencePieceProcessor(model_file=f"{model}.model")
    names = [learned.id_to_piece(number) for number in range(learned.get_piece_size())]
    return _counted([name for number, name in enumerate(names) if not learned.is_unknown(number)], frequent)


def _counted(pieces: Sequence[str], words: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the pieces with their counts in the words."""
    cut, total = BytePairEncoder(pieces), Counter[str]()
    for word, count in words:
        for piece in cut(word):
            total[piece] += count
    return [(piece, total[piece]) for piece in pieces]
