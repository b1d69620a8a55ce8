"""What a shard holds at each stage of tokenized text: pairs, words, lengths, and words that the vocabulary lacks.

All of it can be added up over shards; `nmt.data.corpus_counts` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs

SIDES = ("source", "target")


@dataclass(frozen=True)
class Stage:
    """One stage of a shard: its name and its token files."""

    name: str
    source: Path
    target: Path


def sizes(words: int) -> list[int]:
    """Sizes of smaller vocabularies whose coverage is of interest: 10, 20, 50, 100 and so on, then `words` itself."""
    series = (digit * 10**power for power in range(1, len(str(words))) for digit in (1, 2, 5))
    return [*(size for size in series if size < words), words]


@dataclass
class _SideCounts:
    """One side of a stage."""

    vocabulary: Vocabulary | None
    words: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    ids: Counter[int] = field(default_factory=Counter)
    types: Counter[str] | None = None
    """How often each different word occurs, if that is asked for."""

    def add(self, words: Sequence[str]) -> bool:
        """Count a sentence; whether the vocabulary, if there is one, has all its words."""
        self.words += len(words)
        self.lengths[len(words)] += 1
        if self.vocabulary is None:
            return True
        ids = self.vocabulary.ids(words)
        self.ids.update(ids)
        if self.types is not None:
            self.types.update(words)
        return Vocabulary.UNKNOWN not in ids

    def as_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {"words": self.words, "lengths": _by_length(self.lengths)}
        if self.vocabulary is not None:
            values |= {"unknown": self.ids[Vocabulary.UNKNOWN], "covered": self._covered(self.vocabulary)}
            values |= {} if self.types is None else {"types": self._types(self.vocabulary, self.types)}
        return values

    def _types(self, vocabulary: Vocabulary, types: Counter[str]) -> dict[str, dict[str, int]]:
        """Different words, in code point order, with their numbers: those that the vocabulary has, and the others."""
        words = sorted(types)
        unknown = {
            word for word, id_ in zip(words, vocabulary.ids(words), strict=True) if id_ == Vocabulary.UNKNOWN
        }
        return {
            "known": {word: types[word] for word in words if word not in unknown},
            "unknown": {word: types[word] for word in words if word in unknown},
        }

    def _covered(self, vocabulary: Vocabulary) -> dict[str, int]:
        """Words of the text among the first so many of the vocabulary, by that number."""
        ranked = len(vocabulary.counts)
        running = [0, *accumulate(self.ids[id_] for id_ in range(len(SPECIALS), len(vocabulary)))]
        return {str(size): running[size] for size in sizes(ranked)}


def _by_length(counts: dict[int, Any]) -> dict[str, Any]:
    return {str(length): counts[length] for length in sorted(counts)}


def count(
    stages: Sequence[Stage], vocabularies: tuple[Vocabulary, Vocabulary], output: Path, types: bool = False
) -> dict[str, Any]:
    """Write what a shard holds at each of `stages`; the vocabularies are held against the last one, which models read.

    Only pairs with words on both sides count, since no others are trained on. `stages` lists the stages in order, each
    with its `name` and `pairs`; for each side its `words` and the sentences of each length (`lengths`); under `longer`
    the pairs, source words and target words by the length of a pair's longer side. For the last one also
    `known_pairs`, without an unknown word on either side; for each side `unknown` words, and words `covered` by the
    first 10, 20, 50, ... of the vocabulary. With `types` also its different words by their numbers, `known` and
    `unknown`: words, since numbers of different words cannot be added up over shards.

    Memory grows with the number of different lengths only; with `types`, of different words.
    """
    last = stages[-1]
    counted = [
        _count_stage(stage, vocabularies, types) if stage is last else _count_stage(stage, (None, None))
        for stage in stages
    ]
    found = {"stages": counted}
    write_json(output, found)
    return found


def _count_stage(
    stage: Stage, vocabularies: tuple[Vocabulary | None, Vocabulary | None], types: bool = False
) -> dict[str, Any]:
    sides = [_SideCounts(vocabulary, types=Counter() if types else None) for vocabulary in vocabularies]
    longer: dict[int, list[int]] = {}
    pairs = known = 0
    files = stage.source, stage.target
    with Progress.over_files(files, f"count {stage.source}") as progress:
        for lines in read_pairs(*files, progress):
            source, target = (line.split() for line in lines)
            if not source or not target:
                continue
            pairs += 1
            # no `and`: both sides are counted whatever the first one says
            known += sides[0].add(source) & sides[1].add(target)
            row = longer.setdefault(max(len(source), len(target)), [0, 0, 0])
            row[0] += 1
            row[1] += len(source)
            row[2] += len(target)
    values = {"name": stage.name, "pairs": pairs, "longer": _by_length(longer)}
    values |= {name: side.as_dict() for name, side in zip(SIDES, sides, strict=True)}
    return values | ({"known_pairs": known} if vocabularies[0] is not None else {})
