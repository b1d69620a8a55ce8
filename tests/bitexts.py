"""Text files, and bitexts from lists of ids, for tests."""

import random
from collections.abc import Iterable
from pathlib import Path

from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import Vocabulary
from nmt.io.text_files import write_lines

Pair = tuple[list[int], list[int]]


def write_text(path: Path, lines: Iterable[str]) -> Path:
    """A file of these lines, compressed by its extension."""
    with write_lines(path) as writer:
        for line in lines:
            writer.write(line)
    return path


def write_pairs(folder: Path, name: str, pairs: Iterable[tuple[str, str]]) -> tuple[Path, Path]:
    """Files NAME.en.zst and NAME.fr.zst of these pairs."""
    pairs = list(pairs)
    sides = ([pair[side] for pair in pairs] for side in (0, 1))
    source, target = (
        write_text(folder / f"{name}.{code}.zst", lines)
        for code, lines in zip(("en", "fr"), sides, strict=True)
    )
    return source, target


def shifted_pairs() -> list[Pair]:
    """Sixty pairs whose target repeats the source's words, shifted."""
    draw = random.Random(1)
    sources = [[draw.randint(2, 30) for _ in range(draw.randint(1, 9))] for _ in range(60)]
    return [(words, [2 + (word + 1) % 29 for word in words]) for words in sources]


def random_pairs(max_words: int) -> list[Pair]:
    """Sixty pairs of up to so many words a side."""
    draw = random.Random(3)

    def random_sentence() -> list[int]:
        return [draw.randint(2, 30) for _ in range(draw.randint(1, max_words))]

    return [(random_sentence(), random_sentence()) for _ in range(60)]


def vocabulary(size: int) -> Vocabulary:
    """Words w2, w3, ... whose ids are their numbers."""
    return Vocabulary([(f"w{i + 2}", size - i) for i in range(size)])


def write_bitext(folder: Path, pairs: list[Pair], size: int = 30) -> Bitext:
    """A bitext of these pairs in this order, with both vocabularies beside it as source.tsv and target.tsv."""
    for side, name in enumerate(("source", "target")):
        vocabulary(size).write(folder / f"{name}.tsv")
        write_text(folder / f"{name}.txt", (" ".join(f"w{i}" for i in pair[side]) for pair in pairs))
    words = vocabulary(size)
    corpora = {"c": [(folder / "source.txt", folder / "target.txt")]}
    return binarize(corpora, words, words, folder / "bitext")
