"""Corpora that the grammar writes: splits that share no sentence, dealt to shards.

A hash of the English text decides the split of a pair, so that splits are disjoint, whatever their sizes.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from nmt.data.shards import ShardFiles
from nmt.errors import UserError
from nmt.io.files import atomic_path, write_json
from nmt.io.progress import Progress
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.grammar import Grammar, SentencePair

Split = Literal["train", "dev", "test"]

SHARES: tuple[Split, ...] = ("dev", "dev", "test", "test") + ("train",) * 12
"""The split of a sentence, by its hash modulo the length."""
PATIENCE = 10_000
"""Draws in a row that may fail before the language counts as used up."""


def split_of(english: str) -> Split:
    """Return the split of a pair, by its English text alone."""
    return SHARES[_digest(english)[0] % len(SHARES)]


def sentence_pairs(settings: GrammarSettings, split: Split, count: int) -> Iterator[SentencePair]:
    """Yield `count` pairs of a split, always the same. Those of dev and test have no English sentence twice."""
    grammar = Grammar(settings)
    rng = random.Random(f"{split} {settings.seed}")
    seen: set[bytes] = set()
    for _ in range(count):
        pair = _next_pair(grammar, rng, split, seen)
        if split != "train":
            seen.add(_digest(pair.english_text()))
        yield pair


def _next_pair(grammar: Grammar, rng: random.Random, split: Split, seen: set[bytes]) -> SentencePair:
    for _ in range(PATIENCE):
        pair = grammar.sentence(rng)
        english = pair.english_text()
        if split_of(english) == split and _digest(english) not in seen:
            return pair
    raise UserError(
        f"the grammar found no {split} sentence beyond {len(seen)}; ask for fewer pairs or a larger language"
    )


def write_corpus(
    settings: GrammarSettings, split: Split, count: int, sources: Sequence[Path], targets: Sequence[Path],
    alignments: Sequence[Path], counts: Path,
) -> None:  # fmt: skip
    """Write pairs and Pharaoh alignments to shards.

    `counts`: pairs, and source_words and target_words as white space separates them, like those of extracted text.
    """
    words = [0, 0]
    with ExitStack() as stack:
        files = []
        for paths in (sources, targets, alignments):
            temporaries = [stack.enter_context(atomic_path(path)) for path in paths]
            files.append(stack.enter_context(ShardFiles(temporaries)))
        progress = stack.enter_context(Progress(count, "pairs", f"generate {split}"))
        for number, pair in enumerate(sentence_pairs(settings, split, count)):
            lines = pair.english_text(), pair.french_text(), pair.pharaoh()
            for shards, line in zip(files, lines, strict=True):
                shards.writer(number).write(line)
            words[0] += len(lines[0].split())
            words[1] += len(lines[1].split())
            progress.update(1)
    write_json(counts, {"pairs": count, "source_words": words[0], "target_words": words[1]})


def _digest(english: str) -> bytes:
    return hashlib.blake2b(english.encode(), digest_size=16).digest()
