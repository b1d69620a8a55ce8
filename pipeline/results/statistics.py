"""Corpus statistics: the counts of all shards added up, and the words that the vocabularies lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import Any

from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.data.word_counts import read_word_counts
from nmt.errors import UserError
from nmt.io.files import read_json, write_json

PARTS = ("train", "dev", "test", "in-domain")
"""The uses of a corpus."""
SIDES = ("source", "target")

Counts = dict[str, Any]
"""Numbers, names, lists of them or such mappings, by name."""


def sizes(words: int) -> list[int]:
    """Return the sizes of vocabularies whose coverage is counted: 10, 20, 50, 100 and so on, then `words` itself."""
    series = (digit * 10**power for power in range(1, len(str(words))) for digit in (1, 2, 5))
    return [*(size for size in series if size < words), words]


def coverage(words: Counter[str], vocabulary: Vocabulary, types: bool) -> Counts:
    """Return how many `unknown` words a text has, and words `covered` by the first 10, 20, 50, ... of the vocabulary.

    With subword units, nothing is covered by some of them. With `types` also the different words by their numbers,
    `known` and `unknown` ones: words, since numbers of different words cannot be added up over corpora.
    """
    unknown = {word: words[word] for word in sorted(words) if word not in vocabulary}
    values: Counts = {"unknown": sum(unknown.values()), "covered": {}}
    if not vocabulary.subwords:
        own = vocabulary.words(range(len(SPECIALS), len(vocabulary)))
        running = [0, *accumulate(words[word] for word in own)]
        values["covered"] = {str(size): running[size] for size in sizes(len(own))}
    if types:
        known = {word: words[word] for word in sorted(words) if word not in unknown}
        values["types"] = {"known": known, "unknown": unknown}
    return values


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus, its part, its number of shards and its stages; and where its counts lie."""

    name: str
    part: str
    shards: int
    stages: list[str]
    data: Path = Path("data")

    @property
    def raw(self) -> Path:
        """The counts of the extraction."""
        return self.data / "raw" / self.name / "counts.json"

    def of_shards(self, stage: str, end: str) -> list[Path]:
        """Return a file of each shard at a stage."""
        return [self.data / stage / self.name / f"{shard}.{end}" for shard in range(self.shards)]


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
    """Return the removed pairs by reason: the counts of the cleaning without sums and counts of one side."""
    sums = ("pairs", "kept")
    sides = tuple(f"{before}{side}_" for before in ("", "kept_") for side in SIDES)
    return {name: number for name, number in clean.items() if name not in sums and not name.startswith(sides)}


def repaired(clean: Counts) -> Counts:
    """Return the lines with malformed characters by side and kind (`source_carriage_return`)."""
    sides = tuple(f"{side}_" for side in SIDES)
    return {
        name: number
        for name, number in clean.items()
        if name.startswith(sides) and not name.endswith("_words")
    }


def sum_corpus(
    files: CorpusFiles, languages: tuple[str, str], vocabularies: tuple[Vocabulary, Vocabulary]
) -> Counts:
    """Return all counts of one corpus; a `UserError` names the file where they do not fit one another."""
    raw = read_json(files.raw)
    counts = {
        stage: total([read_json(path) for path in files.of_shards(stage, "counts.json")])
        for stage in files.stages
    }
    stages = [counts[stage]["stage"] for stage in files.stages]
    first = counts[files.stages[0]]
    _check(files, raw, first["clean"], stages)
    for side, language, vocabulary in zip(SIDES, languages, vocabularies, strict=True):
        words = read_word_counts(files.of_shards(files.stages[-1], f"{language}.words.zst"))
        stages[-1][side] |= coverage(words, vocabulary, types=files.part != "train")
    archives = [{"archive": name, **facts} for name, facts in raw.pop("archives", {}).items()]
    values = {
        "name": files.name,
        "part": files.part,
        "archives": archives,
        "raw": raw,
        "clean": first["clean"],
    }
    return {**values, "stages": stages, "overlap": first["overlap"]}


def _check(files: CorpusFiles, raw: Counts, clean: Counts, stages: Sequence[Counts]) -> None:
    """Check that every raw pair is kept or has a reason for removal, and that no stage has more than the one before."""
    if clean["pairs"] != raw["pairs"]:
        raise _unfit(files, f"extracted were {raw['pairs']:,} pairs, cleaned {clean['pairs']:,}")
    explained = clean["kept"] + sum(removed(clean).values())
    if explained != clean["pairs"]:
        raise _unfit(files, f"of {clean['pairs']:,} pairs {explained:,} were kept or dropped for a reason")
    before, left = "clean", clean["kept"]
    for stage in stages:
        if stage["pairs"] > left:
            raise _unfit(files, f"{stage['name']} has {stage['pairs']:,} pairs, {before} {left:,}")
        before, left = stage["name"], stage["pairs"]


def _unfit(files: CorpusFiles, found: str) -> UserError:
    return UserError(
        f"{files.raw}: the counts of {files.name} are inconsistent: {found}; make this corpus again"
    )


def sum_corpora(
    corpora: Sequence[CorpusFiles], languages: tuple[str, str], vocabularies: tuple[Path, Path], output: Path
) -> Counts:
    """Write the counts of all corpora, in the order given."""
    words = Vocabulary.read(vocabularies[0]), Vocabulary.read(vocabularies[1])
    found = {
        "languages": list(languages),
        "corpora": [sum_corpus(files, languages, words) for files in corpora],
    }
    write_json(output, found)
    return found
