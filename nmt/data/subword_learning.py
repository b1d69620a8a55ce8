"""Learns subword units from the words of a text. Only this module needs SentencePiece."""

from __future__ import annotations

import heapq
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import sentencepiece

from nmt.data.subwords import BEGINNING, Cutter
from nmt.errors import UserError
from nmt.io.text_files import write_lines

LEARNED_FROM = 2_000_000
"""Number of most frequent words for learning. SentencePiece holds them in memory."""


def learn(counts: Mapping[str, int], pieces: int) -> list[tuple[str, int]]:
    """Learn a limited number of pieces from words with counts. Return the pieces with counts, in learning order.

    Raises:
        UserError: there are more distinct characters than pieces.
    """
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
            said = str(error).rpartition("] ")[2] or str(error)
            raise UserError(f"vocabulary: {pieces} subword units could not be learned: {said}") from None
        learned = sentencepiece.SentencePieceProcessor(model_file=f"{model}.model")
    names = [learned.id_to_piece(number) for number in range(learned.get_piece_size())]
    return _counted([name for number, name in enumerate(names) if not learned.is_unknown(number)], frequent)


def _counted(pieces: Sequence[str], words: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the pieces with their counts in the words."""
    cut, found = Cutter(pieces), Counter[str]()
    for word, count in words:
        for piece in cut(word):
            found[piece] += count
    return [(piece, found[piece]) for piece in pieces]
