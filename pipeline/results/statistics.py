"""Corpus statistics: counts of a shard at each stage of tokenized text, and their sums over shards.

The counts are pairs, words, lengths, and unknown words. The sums do not depend on the number of shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import Any

from nmt.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs

PARTS = ("train", "dev", "test", "in-domain")
"""The uses of a corpus."""
SIDES = ("source", "target")

Counts = dict[str, Any]
"""Numbers, names, lists of them or such mappings, by name."""


@dataclass(frozen=True)
class Stage:
    """One stage of a shard: its name and its token files."""

    name: str
    source: Path
    target: Path


def sizes(words: int) -> list[int]:
    """Return the sizes of vocabularies whose coverage is counted: 10, 20, 50, 100 and so on, then `words` itself."""
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
    """Counts of each different word, if they are wanted."""

    def add(self, words: Sequence[str]) -> bool:
        """Count a sentence. Return whether the vocabulary, if there is one, has all its words."""
        self.words += len(words)
        self.lengths[len(words)] += 1
        if self.vocabulary is None:
            return True
        ids = self.vocabulary.ids(words)
        self.ids.update(ids)
        if self.types is not None:
            self.types.update(words)
        return UNKNOWN not in ids

    def as_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {"words": self.words, "lengths": _by_length(self.lengths)}
        if self.vocabulary is not None:
            values |= {"unknown": self.ids[UNKNOWN], "covered": self._covered(self.vocabulary)}
            values |= {} if self.types is None else {"types": self._types(self.vocabulary, self.types)}
        return values

    def _types(self, vocabulary: Vocabulary, types: Counter[str]) -> dict[str, dict[str, int]]:
        """Return the words of the vocabulary and the others, in code point order, with their numbers."""
        words = sorted(types)
        unknown = {word for word in words if word not in vocabulary}
        return {
            "known": {word: types[word] for word in words if word not in unknown},
            "unknown": {word: types[word] for word in words if word in unknown},
        }

    def _covered(self, vocabulary: Vocabulary) -> dict[str, int]:
        """Return the words that the first 10, 20, ... of the vocabulary cover; none for subword units."""
        if vocabulary.subwords:
            return {}
        ranked = len(vocabulary.counts)
        running = [0, *accumulate(self.ids[id_] for id_ in range(len(SPECIALS), len(vocabulary)))]
        return {str(size): running[size] for size in sizes(ranked)}


def _by_length(counts: dict[int, Any]) -> dict[str, Any]:
    return {str(length): counts[length] for length in sorted(counts)}


def count_shard(
    stages: Sequence[Stage], vocabularies: tuple[Vocabulary, Vocabulary], output: Path, types: bool = False
) -> dict[str, Any]:
    """Write the counts of a shard at each of `stages`. Coverage is that of the last one, which models read.

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
    pairs = without_unknown = 0
    files = stage.source, stage.target
    with Progress.over_files(files, f"count {stage.source}") as progress:
        for lines in read_pairs(*files, progress):
            source, target = (line.split() for line in lines)
            if not source or not target:
                continue
            pairs += 1
            # no `and`: both sides are counted whatever the first one says
            without_unknown += sides[0].add(source) & sides[1].add(target)
            row = longer.setdefault(max(len(source), len(target)), [0, 0, 0])
            row[0] += 1
            row[1] += len(source)
            row[2] += len(target)
    values = {"name": stage.name, "pairs": pairs, "longer": _by_length(longer)}
    values |= {name: side.as_dict() for name, side in zip(SIDES, sides, strict=True)}
    return values | ({"known_pairs": without_unknown} if vocabularies[0] is not None else {})


@dataclass
class CorpusFiles:
    """The files with the counts of a corpus: one of the extraction, one per shard of each later stage."""

    name: str
    part: str
    raw: Path
    clean: list[Path] = field(default_factory=list)
    stages: list[Path] = field(default_factory=list)
    overlap: list[Path] = field(default_factory=list)


def added(first: Any, second: Any) -> Any:
    """Return sum of two counts of the same form, entry by entry; an entry that one of them lacks counts as nothing.

    Names, which both must share, stay as they are. Raises a `UserError` where they differ in form.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        names = [*first, *(name for name in second if name not in first)]
        return {name: _either(first, second, name) for name in names}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [added(*pair) for pair in zip(first, second, strict=True)]
    if _is_number(first) and _is_number(second):
        return first + second
    if isinstance(first, str) and first == second:
        return first
    raise UserError(
        f"counts: found {first!r} and {second!r}, expected two of one form; make the counts again"
    )


def _either(first: Counts, second: Counts, name: str) -> Any:
    if name in first and name in second:
        return added(first[name], second[name])
    return first[name] if name in first else second[name]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def total(counts: Sequence[Counts]) -> Counts:
    """Return sum of counts of the same form; nothing for none."""
    return reduce(added, counts, {})


def removed(clean: Counts) -> Counts:
    """Return the removed pairs by reason: the counts of `nmt data clean` without sums and counts of one side."""
    sums = ("pairs", "kept")
    sides = tuple(f"{before}{side}_" for before in ("", "kept_") for side in SIDES)
    return {name: number for name, number in clean.items() if name not in sums and not name.startswith(sides)}


def repaired(clean: Counts) -> Counts:
    """Return the lines with malformed characters by side and kind (`source_carriage_return`), from `nmt data clean`."""
    sides = tuple(f"{side}_" for side in SIDES)
    return {
        name: number
        for name, number in clean.items()
        if name.startswith(sides) and not name.endswith("_words")
    }


def sum_corpus(files: CorpusFiles) -> Counts:
    """Return all counts of one corpus; a `UserError` names the file where they do not fit one another."""
    raw = read_json(files.raw)
    clean, stages, overlap = (
        total([read_json(path) for path in paths]) for paths in (files.clean, files.stages, files.overlap)
    )
    _check(files, raw, clean, stages)
    archives = [{"archive": name, **facts} for name, facts in raw.pop("archives", {}).items()]
    values = {"name": files.name, "part": files.part, "archives": archives, "raw": raw, "clean": clean}
    return {**values, **stages, "overlap": overlap}


def _check(files: CorpusFiles, raw: Counts, clean: Counts, stages: Counts) -> None:
    """Check that every raw pair is kept or has a reason for removal, and that no stage has more than the one before."""
    if clean["pairs"] != raw["pairs"]:
        raise _unfit(files, f"extracted were {raw['pairs']:,} pairs, cleaned {clean['pairs']:,}")
    explained = clean["kept"] + sum(removed(clean).values())
    if explained != clean["pairs"]:
        raise _unfit(files, f"of {clean['pairs']:,} pairs {explained:,} were kept or dropped for a reason")
    before, left = "clean", clean["kept"]
    for stage in stages["stages"]:
        if stage["pairs"] > left:
            raise _unfit(files, f"{stage['name']} has {stage['pairs']:,} pairs, {before} {left:,}")
        before, left = stage["name"], stage["pairs"]


def _unfit(files: CorpusFiles, found: str) -> UserError:
    return UserError(
        f"{files.raw}: the counts of {files.name} are inconsistent: {found}; make this corpus again"
    )


def sum_corpora(corpora: Sequence[CorpusFiles], languages: tuple[str, str], output: Path) -> Counts:
    """Write the counts of all corpora, in the order given: what `nmt data report` reads."""
    found = {"languages": list(languages), "corpora": [sum_corpus(files) for files in corpora]}
    write_json(output, found)
    return found
