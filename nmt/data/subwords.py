"""Subword units by byte pair encoding (Sennrich et al., 2016, Algorithm 1), learned by SentencePiece.

The list of subwords, in the order in which they were learned, defines how a word is segmented:

    symbols = ["▁", *characters of the word]        # "▁" marks the start of a word
    while two neighbours of `symbols` together are a subword:
        merge those two whose union was learned first

A word with a character that is not a subword is the unknown word as a whole. Only in scripts without spaces, where a
"word" may be a whole clause, are such characters unknown on their own.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nmt.errors import UserError
from nmt.io.text_files import write_lines

WORD_START = "▁"
"""U+2581, which SentencePiece puts in front of a word."""
MAX_WORD_CHARACTERS = 200
"""Maximum number of characters that are segmented together, since the time grows with the square of the number."""
UNSPACED_CHARACTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of a script without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters."""
_CACHED_WORDS = 1 << 16


class BytePairEncoder:
    """Segments words into subwords.

    In scripts without spaces, words of any length are segmented, and each stretch of characters that are not subwords
    becomes one `unknown_symbol` among the subwords of its word.
    """

    def __init__(self, subwords: Sequence[str], unknown_symbol: str) -> None:
        """Take the subwords in the order in which they were learned. Known characters are subwords, too."""
        self._rank = {subword: rank for rank, subword in enumerate(subwords)}
        self._unknown_symbol = unknown_symbol
        self.segment = lru_cache(maxsize=_CACHED_WORDS)(self._segment_uncached)

    def _segment_uncached(self, word: str) -> tuple[str, ...]:
        """Return the subwords of a word, for example ("▁un", "ited") for "united".

        Returns () if the word has an unknown character or too many characters. In scripts without spaces, only a word
        of nothing but unknown characters gives ().
        """
        characters = set(word)
        unknown_characters = characters - self._rank.keys()
        # The mark of a word's start must be a subword. A word that contains the mark would be joined to two words.
        if WORD_START not in self._rank or WORD_START in characters or unknown_characters == characters:
            return ()
        is_too_long = len(word) > MAX_WORD_CHARACTERS
        if (unknown_characters or is_too_long) and not UNSPACED_CHARACTER.search(word):
            return ()

        # merge stretches of known characters, each with at most MAX_WORD_CHARACTERS
        subwords: list[str] = []
        stretch = [WORD_START]
        for character in word:
            is_unknown = character in unknown_characters
            if not is_unknown:
                stretch.append(character)
            if is_unknown or len(stretch) > MAX_WORD_CHARACTERS:
                subwords += self._merge(stretch)
                stretch = []
            if is_unknown and subwords[-1:] != [self._unknown_symbol]:
                subwords.append(self._unknown_symbol)
        return tuple(subwords + self._merge(stretch))

    def _merge(self, characters: Sequence[str]) -> list[str]:
        """Merge neighbours whose union is a subword, until none is left. The subword learned first is merged first."""
        symbols = list(characters)
        while len(symbols) > 1:
            unions = [symbol + next_symbol for symbol, next_symbol in pairwise(symbols)]
            ranks = [self._rank.get(union, math.inf) for union in unions]
            best_rank = min(ranks)
            if best_rank == math.inf:
                break
            index = ranks.index(best_rank)
            symbols[index : index + 2] = [unions[index]]
        return symbols


def join_subwords(subwords: Iterable[str], whole_words: Sequence[str]) -> tuple[list[str], list[int]]:
    """Join subwords to words. Return the words, and the index of the first subword of each word.

    A word starts with a marked subword, or is one of `whole_words`, which are never joined. A mark without letters is
    no word. Example: ["▁un", "ited", "▁nations"] -> ["united", "nations"], [0, 2].
    """
    words: list[str] = []
    start_indices: list[int] = []
    starts_new_word = True
    for index, subword in enumerate(subwords):
        is_whole_word = subword in whole_words
        if is_whole_word or starts_new_word or subword.startswith(WORD_START):
            words.append(subword.removeprefix(WORD_START))
            start_indices.append(index)
            starts_new_word = is_whole_word
        else:
            words[-1] += subword

    # leave out marks without letters
    kept_indices = [start for start, word in zip(start_indices, words, strict=True) if word]
    return [word for word in words if word], kept_indices


def learn_subwords(word_counts: Sequence[tuple[str, int]], max_subwords: int) -> list[tuple[str, int]]:
    """Learn subwords from words and their counts. Return the subwords and their counts, in the order of learning.

    There are fewer than `max_subwords` if the words have fewer. SentencePiece holds the words in memory.

    Raises:
        UserError: there are more distinct characters than subwords, or all words have the mark of a subword.
    """
    import sentencepiece  # imported here, since it is slow to import and only learning needs it

    word_counts = [(word, count) for word, count in word_counts if WORD_START not in word]
    if not word_counts:
        raise UserError(
            f"vocabulary: every word of the text has {WORD_START}, the mark of a subword unit; take text that was not "
            "cut into units before"
        )
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "words.tsv", Path(folder) / "subwords"
        with write_lines(table) as writer:
            for word, count in word_counts:
                writer.write(f"{word}\t{count}")
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                model_prefix=str(model),
                model_type="bpe",
                vocab_size=max_subwords + 1,  # SentencePiece has an unknown subword of its own
                hard_vocab_limit=False,
                normalization_rule_name="identity",
                bos_id=-1,
                eos_id=-1,
                max_sentence_length=1 << 20,
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            # the reason comes after the place in the code: "Internal: trainer.cc(582) [...] Vocabulary size is too ..."
            reason = str(error).rpartition("] ")[2] or str(error)
            raise UserError(
                f"vocabulary: {max_subwords} subword units could not be learned: {reason}"
            ) from None
        processor = sentencepiece.SentencePieceProcessor(model_file=f"{model}.model")

    ids = range(processor.get_piece_size())
    subwords = [processor.id_to_piece(i) for i in ids if not processor.is_unknown(i)]

    # count each subword in the words
    encoder = BytePairEncoder(subwords, unknown_symbol="")
    subword_counts = Counter[str]()
    for word, count in word_counts:
        for subword in encoder.segment(word):
            subword_counts[subword] += count
    return [(subword, subword_counts[subword]) for subword in subwords]
