"""Corpus statistics: pairs and words of every corpus at every stage, what was removed, and unknown words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from nmt.data.preparation import SIDES
from nmt.data.vocabulary import Vocabulary, read_word_counts
from nmt.errors import UserError
from nmt.io.files import read_json
from nmt.settings.text import Languages
from pipeline.results.papers import ReportedData
from pipeline.results.tables.writer import Table, frame

Counts = dict[str, Any]
COLUMNS = ["part", "corpus", "stage", "unit", "pairs", "source_words", "target_words"]
COLUMNS += ["source_unknown", "target_unknown", "reported"]
TOTAL = "total"
_RAW = ("raw", "clean")
"""Stages before tokenization, whose words stand between white space."""


# --- counts of shards added up ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus, its part (train, dev, test, in-domain), number of shards and stages; and where its counts lie."""

    name: str
    part: str
    shards: int
    stages: list[str]
    data: Path = Path("data")

    def of_shards(self, stage: str, end: str) -> list[Path]:
        """Return a file of each shard at a stage."""
        return [self.data / stage / self.name / f"{shard}.{end}" for shard in range(self.shards)]


def sum_corpus(files: CorpusFiles, languages: Sequence[str], vocabularies: Sequence[Vocabulary]) -> Counts:
    """Return the counts of a corpus; a `UserError` says where a stage does not fit the one before it.

    `removed` and `overlap` have numbers of pairs by reason, and by held-out set and kind of likeness.
    """
    raw = read_json(files.data / "raw" / files.name / "counts.json")
    shards = {stage: [*map(read_json, files.of_shards(stage, "counts.json"))] for stage in files.stages}
    first = shards[files.stages[0]]
    clean, overlap = (_added([shard[kind] for shard in first]) for kind in ("clean", "overlap"))
    stages = [
        {"name": "raw", "pairs": raw["pairs"]}
        | {side: {"words": raw.get(f"{side}_words")} for side in SIDES},
        {"name": "clean", "pairs": clean["kept"]}
        | {side: {"words": clean[f"kept_{side}_words"]} for side in SIDES},
    ]
    for name, counts in shards.items():
        found = [shard["stage"] for shard in counts]
        words = {side: {"words": sum(stage[side]["words"] for stage in found)} for side in SIDES}
        stages.append({"name": name, "pairs": sum(stage["pairs"] for stage in found), **words})
    removed = {name: number for name, number in clean.items() if _is_reason(name)}
    if clean["pairs"] != raw["pairs"] or clean["kept"] + sum(removed.values()) != clean["pairs"]:
        raise _unfit(files, f"of {raw['pairs']:,} pairs {clean['kept']:,} were kept and {removed} removed")
    for before, after in pairwise(stages[1:]):
        if after["pairs"] > before["pairs"]:
            raise _unfit(files, f"{after['name']} has more pairs than {before['name']}")
    for side, language, vocabulary in zip(SIDES, languages, vocabularies, strict=True):
        counted = read_word_counts(files.of_shards(files.stages[-1], f"{language}.words.zst"))
        stages[-1][side]["unknown"] = sum(counted[word] for word in counted if word not in vocabulary)
    return {
        "name": files.name,
        "part": files.part,
        "stages": stages,
        "removed": removed,
        "overlap": overlap,
    }


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {
        name: sum(one.get(name, 0) for one in counts)
        for name in dict.fromkeys(key for one in counts for key in one)
    }


def _is_reason(name: str) -> bool:
    """Return whether a count of the cleaning is of pairs removed for a reason; others are sums, or of one side."""
    return name not in ("pairs", "kept") and not name.startswith((*SIDES, "kept_"))


def _unfit(files: CorpusFiles, found: str) -> UserError:
    return UserError(f"the counts of {files.name} are inconsistent: {found}; make this corpus again")


# --- the table --------------------------------------------------------------------------------------------------------


def with_total(corpora: Sequence[Counts]) -> Iterator[Counts]:
    """Yield the corpora, and behind those of training, if there are several, their total."""
    train = [corpus for corpus in corpora if corpus["part"] == "train"]
    yield from train
    if len(train) > 1:
        names = dict.fromkeys(stage["name"] for corpus in train for stage in corpus["stages"])
        # a corpus that is not selected from goes on as it is
        found = [[_at(corpus, name) for corpus in train] for name in names]
        yield {"name": TOTAL, "part": "train", "stages": [*map(_sum_of_stages, names, found)]}
    yield from (corpus for corpus in corpora if corpus["part"] != "train")


def _at(corpus: Counts, name: str) -> Counts:
    stages: list[Counts] = corpus["stages"]
    return next((stage for stage in stages if stage["name"] == name), stages[-1])


def _sum_of_stages(name: str, stages: Sequence[Counts]) -> Counts:
    def total(values: Sequence[int | None]) -> int | None:
        return None if None in values else sum(value for value in values if value is not None)

    sides = {
        side: {key: total([stage[side].get(key) for stage in stages]) for key in ("words", "unknown")}
        for side in SIDES
    }
    return {"name": name, "pairs": sum(stage["pairs"] for stage in stages), **sides}


def reported_words(corpus: Counts, stage: str, paper: ReportedData) -> int | None:
    """Return the words of the target language that the paper reports for a corpus, or for all, at a stage."""
    if corpus["part"] != "train" or stage not in ("tokens", "selected"):
        return None
    total, each = (
        (paper.total, paper.corpora) if stage == "tokens" else (paper.selected, paper.selected_corpora)
    )
    return total if corpus["name"] == TOTAL else each.get(corpus["name"])


def corpora_table(corpora: Sequence[Counts], languages: Languages, paper: ReportedData) -> Table:
    """Return a row for each corpus at each stage. paper: what it reports, if that is wanted."""
    rows = [_row(corpus, stage, paper) for corpus in with_total(corpora) for stage in corpus["stages"]]
    headers = {"part": "Part", "corpus": "Corpus", "stage": "Stage", "pairs": "Pairs"}
    sides = dict(zip(SIDES, (languages.source, languages.target), strict=True))
    headers |= {f"{side}_words": f"Words, {language}" for side, language in sides.items()}
    headers |= {f"{side}_unknown": f"Unknown, {language}" for side, language in sides.items()}
    if any(row["reported"] for row in rows):
        headers["reported"] = f"Words, {languages.target}, reported"
    shown = frame([{key: _shown(row[key]) for key in headers} for row in rows], list(headers))
    notes = [
        "Words stand between white space in raw and clean text, and are tokens from then on; the two are not "
        "comparable. A pair counts when both sides have words; raw counts every line. Unknown: share of the words that "
        "the vocabulary lacks.",
        *(_note(corpus) for corpus in corpora if any({**corpus["removed"], **corpus["overlap"]}.values())),
    ]
    shown = shown.set_axis(list(headers.values()), axis=1)
    return Table(frame(rows, COLUMNS), shown, ("Part", "Corpus", "Stage"), notes=notes)


def _row(corpus: Counts, stage: Counts, paper: ReportedData) -> Counts:
    row = {"part": corpus["part"], "corpus": corpus["name"], "stage": stage["name"], "pairs": stage["pairs"]}
    row |= {"unit": "words" if stage["name"] in _RAW else "tokens"}
    for side in SIDES:
        words, unknown = stage[side]["words"], stage[side].get("unknown")
        row[f"{side}_words"] = words
        row[f"{side}_unknown"] = None if unknown is None or not words else round(unknown / words, 6)
    return row | {"reported": reported_words(corpus, stage["name"], paper)}


def _shown(value: str | float | None) -> str:
    if isinstance(value, float):
        return f"{value:.2%}"
    return f"{value:,}" if isinstance(value, int) else value or ""


def _note(corpus: Counts) -> str:
    """Say which pairs of a corpus were removed and why, and which share a sentence with held-out text."""
    removed, overlap = (
        ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in corpus[kind].items() if number)
        for kind in ("removed", "overlap")
    )
    alike = "pairs that share a sentence with held-out text (same: as tokens; alike: by letters and digits)"
    parts = [f"removed pairs: {removed}"] if removed else []
    parts += [f"{alike}: {overlap}"] if overlap else []
    return f"{corpus['name']}: {'; '.join(parts)}."
