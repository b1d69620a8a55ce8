"""Corpus statistics: pairs and words of every corpus at every stage, what was removed, and unknown words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.data.vocabulary import Vocabulary
from nmt.io.files import read_json
from nmt.settings.text import Languages
from pipeline.preparation import SIDES, read_word_counts
from pipeline.results.papers import ReportedData
from pipeline.results.tables.writer import Table, make_frame

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


def sum_corpus_counts(
    files: CorpusFiles, languages: Sequence[str], vocabularies: Sequence[Vocabulary]
) -> Counts:
    """Return the counts of a corpus.

    `removed` and `overlap` have numbers of pairs by reason, and by held-out set and kind of likeness.
    """
    raw = read_json(files.data / "raw" / files.name / "counts.json")
    shards = {stage: [*map(read_json, files.of_shards(stage, "counts.json"))] for stage in files.stages}
    clean = _added(shard["clean"] for shard in shards[files.stages[0]])
    overlap = read_json(files.data / "overlap" / f"{files.name}.json") if files.part == "train" else {}
    stages = [_stage("raw", raw["pairs"], [raw.get(f"{side}_words") for side in SIDES])]
    stages.append(_stage("clean", clean["kept"], [clean[f"kept_{side}_words"] for side in SIDES]))
    for name, counts in shards.items():
        found = [shard["stage"] for shard in counts]
        words = [sum(stage[side]["words"] for stage in found) for side in SIDES]
        stages.append(_stage(name, sum(stage["pairs"] for stage in found), words))
    for side, language, vocabulary in zip(SIDES, languages, vocabularies, strict=True):
        counted = read_word_counts(files.of_shards(files.stages[-1], f"{language}.words.zst"))
        stages[-1][side]["unknown"] = sum(counted[word] for word in counted if word not in vocabulary)
    # other counts of the cleaning are sums, or of one side
    reasons = [key for key in clean if key not in ("pairs", "kept") and not key.startswith((*SIDES, "kept_"))]
    removed = {reason: clean[reason] for reason in reasons}
    return {"name": files.name, "part": files.part, "stages": stages, "removed": removed, "overlap": overlap}


def _stage(name: str, pairs: int, words: Sequence[int | None]) -> Counts:
    return {
        "name": name,
        "pairs": pairs,
        **{side: {"words": n} for side, n in zip(SIDES, words, strict=True)},
    }


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        total |= {name: total.get(name, 0) + number for name, number in one.items()}
    return total


# --- the table --------------------------------------------------------------------------------------------------------


def append_total(corpora: Sequence[Counts]) -> Iterator[Counts]:
    """Yield the corpora, and behind those of training, if there are several, their total."""
    train = [corpus for corpus in corpora if corpus["part"] == "train"]
    yield from train
    if len(train) > 1:
        names = dict.fromkeys(stage["name"] for corpus in train for stage in corpus["stages"])
        yield {"name": TOTAL, "part": "train", "stages": [_total(name, train) for name in names]}
    yield from (corpus for corpus in corpora if corpus["part"] != "train")


def _total(name: str, corpora: Sequence[Counts]) -> Counts:
    """Return the sums at a stage; a corpus that is not selected from goes on as it is."""
    by_name = [{stage["name"]: stage for stage in corpus["stages"]} for corpus in corpora]
    stages = [found.get(name, [*found.values()][-1]) for found in by_name]
    total = {"name": name, "pairs": sum(stage["pairs"] for stage in stages)}
    for side in SIDES:
        values = {key: [stage[side].get(key) for stage in stages] for key in ("words", "unknown")}
        total[side] = {key: None if None in counts else sum(counts) for key, counts in values.items()}
    return total


def reported_words(corpus: Counts, stage: str, paper: ReportedData) -> int | None:
    """Return the words of the target language that the paper reports for a corpus, or for all, at a stage."""
    if corpus["part"] != "train" or stage not in ("tokens", "selected"):
        return None
    total, each = (
        (paper.total, paper.corpora) if stage == "tokens" else (paper.selected, paper.selected_corpora)
    )
    return total if corpus["name"] == TOTAL else each.get(corpus["name"])


def build_corpora_table(corpora: Sequence[Counts], languages: Languages, paper: ReportedData) -> Table:
    """Return a row for each corpus at each stage. paper: what it reports, if that is wanted."""
    rows = [_row(corpus, stage, paper) for corpus in append_total(corpora) for stage in corpus["stages"]]
    headers = {"part": "Part", "corpus": "Corpus", "stage": "Stage", "pairs": "Pairs"}
    sides = dict(zip(SIDES, (languages.source, languages.target), strict=True))
    headers |= {f"{side}_words": f"Words, {language}" for side, language in sides.items()}
    headers |= {f"{side}_unknown": f"Unknown, {language}" for side, language in sides.items()}
    if any(row["reported"] for row in rows):
        headers["reported"] = f"Words, {languages.target}, reported"
    shown = make_frame([{key: _shown(row[key]) for key in headers} for row in rows], list(headers))
    notes = [
        "Words stand between white space in raw and clean text, and are tokens from then on; the two are not "
        "comparable. A pair counts when both sides have words; raw counts every line. Unknown: share of the words that "
        "the vocabulary lacks.",
        *(_note(corpus) for corpus in corpora if any({**corpus["removed"], **corpus["overlap"]}.values())),
    ]
    shown = shown.set_axis(list(headers.values()), axis=1)
    return Table(make_frame(rows, COLUMNS), shown, ("Part", "Corpus", "Stage"), notes=notes)


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
