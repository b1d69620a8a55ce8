"""Bitexts from lists of ids, for tests."""

from __future__ import annotations

from pathlib import Path

from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import Vocabulary
from nmt.io.text_files import write_lines

Pair = tuple[list[int], list[int]]


def vocabulary(size: int) -> Vocabulary:
    """Words w2, w3, ... whose ids are their numbers."""
    return Vocabulary([(f"w{i + 2}", size - i) for i in range(size)])


def write_bitext(folder: Path, pairs: list[Pair], size: int = 30) -> Bitext:
    """A bitext of these pairs in this order, with both vocabularies beside it as source.tsv and target.tsv."""
    for side, name in enumerate(("source", "target")):
        vocabulary(size).write(folder / f"{name}.tsv")
        with write_lines(folder / f"{name}.txt") as writer:
            for pair in pairs:
                writer.write(" ".join(f"w{i}" for i in pair[side]))
    words = vocabulary(size)
    corpora = {"c": [(folder / "source.txt", folder / "target.txt")]}
    return binarize(corpora, words, words, folder / "bitext")
