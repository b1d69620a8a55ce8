"""What the stages counted shard by shard, added up to corpora: the same for any number of shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import read_json, write_json

Counts = dict[str, Any]
"""Numbers, names, lists of them or such mappings, by name."""

PARTS = ("train", "dev", "test", "in-domain")
SIDES = ("source", "target")


@dataclass
class CorpusFiles:
    """Where the counts of one corpus lie: one file of the extraction, one a shard of each later stage."""

    name: str
    part: str
    raw: Path
    clean: list[Path] = field(default_factory=list)
    stages: list[Path] = field(default_factory=list)
    overlap: list[Path] = field(default_factory=list)


def added(first: Any, second: Any) -> Any:
    """Sum of two counts of the same form, entry by entry; an entry that one of them lacks counts as nothing.

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
    """Sum of counts of the same form; nothing for none."""
    return reduce(added, counts, {})


def removed(clean: Counts) -> Counts:
    """The reasons for which pairs went, as `nmt clean` counts them: what is neither a sum nor of one side."""
    sums = ("pairs", "kept")
    sides = tuple(f"{before}{side}_" for before in ("", "kept_") for side in SIDES)
    return {name: number for name, number in clean.items() if name not in sums and not name.startswith(sides)}


def repaired(clean: Counts) -> Counts:
    """Lines with odd characters, by side and kind (`source_carriage_return`), as `nmt clean` counts them."""
    sides = tuple(f"{side}_" for side in SIDES)
    return {
        name: number
        for name, number in clean.items()
        if name.startswith(sides) and not name.endswith("_words")
    }


def sum_corpus(files: CorpusFiles) -> Counts:
    """All counts of one corpus; a `UserError` names the file where they do not fit one another."""
    raw = read_json(files.raw)
    clean, stages, overlap = (
        total([read_json(path) for path in paths]) for paths in (files.clean, files.stages, files.overlap)
    )
    _check(files, raw, clean, stages)
    archives = [{"archive": name, **known} for name, known in raw.pop("archives", {}).items()]
    values = {"name": files.name, "part": files.part, "archives": archives, "raw": raw, "clean": clean}
    return {**values, **stages, "overlap": overlap}


def _check(files: CorpusFiles, raw: Counts, clean: Counts, stages: Counts) -> None:
    """Every pair of the raw text is kept or has a reason to be gone, and no stage has more than the one before."""
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
        f"{files.raw}: the counts of {files.name} do not fit one another: {found}; make this corpus again"
    )


def sum_corpora(corpora: Sequence[CorpusFiles], languages: tuple[str, str], output: Path) -> Counts:
    """Write the counts of all corpora, in the order given: what `nmt data-report` reads."""
    found = {"languages": list(languages), "corpora": [sum_corpus(files) for files in corpora]}
    write_json(output, found)
    return found
