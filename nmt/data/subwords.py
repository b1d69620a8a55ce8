"""Subword units: words cut by byte pair encoding (Sennrich et al., 2016, Algorithm 1), and how they are learned.

A word starts as its characters, after a mark for its beginning. Then, repeatedly, the two neighbours whose union was
learned first are merged, as long as there is a union that is a piece. So the ordered list of pieces defines the
segmentation. A word with a character that is not a piece is not cut; it is the unknown word.
"""

from __future__ import annotations

import heapq
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nmt.errors import UserError
from nmt.io.text_files import write_lines

BEGINNING = "▁"
"""U+2581, which SentencePiece puts in front of a word's first piece."""
LONGEST = 200
"""Maximum number of characters in a word that is cut; time grows with its square."""
_REMEMBERED = 1 << 19


class Cutter:
    """Cuts words into pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """Take `pieces` in learning order. Single characters are also pieces."""
        self._order = {piece: place for place, piece in enumerate(pieces)}
        self._cut = lru_cache(maxsize=_REMEMBERED)(self._cut_anew)

    def __call__(self, word: str) -> tuple[str, ...]:
        """Return the pieces of a word; none if it has a character that is not a piece, or too many characters."""
        return self._cut(word)

    def _cut_anew(self, word: str) -> tuple[str, ...]:
        characters = {BEGINNING, *word}
        if BEGINNING in word or len(word) > LONGEST or not characters <= self._order.keys():
            return ()
        parts = [BEGINNING, *word]
        while len(parts) > 1:
            orders = [self._order.get(left + right, math.inf) for left, right in pairwise(parts)]
            first = min(orders)
            if first == math.inf:
                break
            place = orders.index(first)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return tuple(parts)


def joined(pieces: Iterable[str], whole: Iterable[str]) -> list[str]:
    """Join pieces into words. A word begins with a marked piece, or is one of `whole`, which are never joined."""
    words: list[str] = []
    apart = True
    whole = frozenset(whole)
    for piece in pieces:
        if piece in whole:
            words.append(piece)
            apart = True
        elif apart or piece.startswith(BEGINNING):
            words.append(piece.removeprefix(BEGINNING))
            apart = False
        else:
            words[-1] += piece
    return [word for word in words if word]


LEARNED_FROM = 2_000_000
"""Number of most frequent words for learning. SentencePiece holds them in memory."""


def learn(counts: Mapping[str, int], pieces: int) -> list[tuple[str, int]]:
    """Learn a limited number of pieces from words with counts. Return the pieces with counts, in learning order.

    Raises:
        UserError: there are more distinct characters than pieces.
    """
    import sentencepiece  # heavy, and only learning needs it

    frequent = heapq.nsmallest(LEARNED_FROM, counts.items(), key=lambda item: (-item[1], item[0]))
    frequent = [(word, count) for word, count in frequent if BEGINNING not in word]
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
    cut, total = Cutter(pieces), Counter[str]()
    for word, count in words:
        for piece in cut(word):
            total[piece] += count
    return [(piece, total[piece]) for piece in pieces]
