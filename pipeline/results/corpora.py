"""Corpus statistics: pairs and words of every corpus at every stage, removed pairs, and unknown words."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
TOTAL = "total"
_UNTOKENIZED_STAGES = ("raw", "clean")
"""Stages whose words stand between white space."""
_NOTE = (
    "Words stand between white space in raw and clean text, and are tokens from then on; the two are not comparable. "
    "A pair counts when both sides have words; raw counts every line. Unknown: share of the words that the vocabulary "
    "lacks."
)


# --- counts of shards added up ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus, its part (train, dev, test, in-domain), number of shards, and stages."""

    name: str
    part: str
    shards: int
    stages: list[str]

    def shard_files(self, stage: str, extension: str) -> list[Path]:
        """Return a file of each shard at a stage."""
        return [Path("data") / stage / self.name / f"{shard}.{extension}" for shard in range(self.shards)]


def sum_corpus_counts(
    files: CorpusFiles, languages: Sequence[str], vocabularies: Sequence[Vocabulary]
) -> Counts:
    """Return the counts of a corpus, summed over its shards.

    Returns:
        `name` and `part`; `stages`: pairs and words of each stage; `removed`: pairs by reason; `overlap`: pairs by
        held-out set and kind of match.
    """
    raw_counts = read_json(Path("data", "raw", files.name, "counts.json"))
    raw_words = [raw_counts.get(f"{side}_words") for side in SIDES]
    stages = [_describe_stage("raw", raw_counts["pairs"], raw_words)]

    # the counts of the cleaning are in the files of the first stage
    clean_counts: Counter[str] = Counter()
    for path in files.shard_files(files.stages[0], "counts.json"):
        clean_counts.update(read_json(path)["clean"])
    clean_words = [clean_counts[f"kept_{side}_words"] for side in SIDES]
    stages.append(_describe_stage("clean", clean_counts["kept"], clean_words))

    # the stages after it
    for name in files.stages:
        shards = [read_json(path)["stage"] for path in files.shard_files(name, "counts.json")]
        pairs = sum(shard["pairs"] for shard in shards)
        words = []
        for side in SIDES:
            words.append(sum(shard[side]["words"] for shard in shards))
        stages.append(_describe_stage(name, pairs, words))

    # unknown words of the last stage
    for side, language, vocabulary in zip(SIDES, languages, vocabularies, strict=True):
        word_counts = read_word_counts(files.shard_files(files.stages[-1], f"{language}.words.zst"))
        stages[-1][side]["unknown"] = sum(word_counts[word] for word in word_counts if word not in vocabulary)

    # The other counts are reasons for removal: {"pairs": 9, "kept": 7, "empty": 2, "source_words": 30} -> {"empty": 2}
    removed = {}
    for name, count in clean_counts.items():
        if name != "pairs" and not name.startswith(("source", "target", "kept")):
            removed[name] = count
    overlap = read_json(Path("data", "overlap", f"{files.name}.json")) if files.part == "train" else {}
    return {"name": files.name, "part": files.part, "stages": stages, "removed": removed, "overlap": overlap}


def _describe_stage(name: str, pairs: int, words: Sequence[int | None]) -> Counts:
    """Return the counts of a stage: pairs, and words of source and target."""
    source_words, target_words = words
    return {
        "name": name,
        "pairs": pairs,
        "source": {"words": source_words},
        "target": {"words": target_words},
    }


# --- the table --------------------------------------------------------------------------------------------------------


def append_total(corpora: Sequence[Counts]) -> list[Counts]:
    """Return the training corpora, their total if there are several, and then the other corpora."""
    train = [corpus for corpus in corpora if corpus["part"] == "train"]
    held_out = [corpus for corpus in corpora if corpus["part"] != "train"]
    if len(train) < 2:
        return train + held_out
    total_stages = {}  # stage name -> its sum, in the order in which the names first occur
    for corpus in train:
        for stage in corpus["stages"]:
            total_stages[stage["name"]] = _sum_stage(stage["name"], train)
    total = {"name": TOTAL, "part": "train", "stages": list(total_stages.values())}
    return [*train, total, *held_out]


def _sum_stage(name: str, corpora: Sequence[Counts]) -> Counts:
    """Return the sums of a stage over corpora.

    If a corpus does not have the stage, its last stage counts: without a selection, all of its sentences are used.
    """
    stages = []
    for corpus in corpora:
        stage_by_name = {stage["name"]: stage for stage in corpus["stages"]}
        stages.append(stage_by_name.get(name, corpus["stages"][-1]))

    # A count that one corpus lacks, such as unknown words, has no sum.
    total = {"name": name, "pairs": sum(stage["pairs"] for stage in stages)}
    for side in SIDES:
        total[side] = {}
        for key in ("words", "unknown"):
            values = [stage[side].get(key) for stage in stages]
            total[side][key] = None if None in values else sum(values)
    return total


def reported_words(corpus: Counts, stage: str, reported_data: ReportedData) -> int | None:
    """Return the number of target words that the paper reports for a corpus, or in total, at a stage."""
    if corpus["part"] != "train" or stage not in ("tokens", "selected"):
        return None
    if corpus["name"] == TOTAL:
        return reported_data.total if stage == "tokens" else reported_data.selected
    words_by_corpus = reported_data.corpora if stage == "tokens" else reported_data.selected_corpora
    return words_by_corpus.get(corpus["name"])


def build_corpora_table(
    corpora: Sequence[Counts], languages: Languages, reported_data: ReportedData
) -> Table:
    """Return the table with a row for each corpus at each stage.

    Args:
        corpora: the counts of the corpora, made by `sum_corpus_counts`.
        languages: the languages of source and target.
        reported_data: the paper's numbers of its corpora, if the table is to have them.
    """
    # the table for programs
    rows = []
    for corpus in append_total(corpora):
        rows += [_make_row(corpus, stage, reported_data) for stage in corpus["stages"]]

    # the columns for readers: {"source_words": "Words, en", ...}
    source, target = languages.source, languages.target
    headers = {"part": "Part", "corpus": "Corpus", "stage": "Stage", "pairs": "Pairs"}
    headers |= {"source_words": f"Words, {source}", "target_words": f"Words, {target}"}
    headers |= {"source_unknown": f"Unknown, {source}", "target_unknown": f"Unknown, {target}"}
    if any(row["reported"] for row in rows):
        headers["reported"] = f"Words, {target}, reported"
    cells = []
    for row in rows:
        cells.append({key: _format_cell(row[key]) for key in headers})

    # a note for each corpus that lost pairs
    notes = [_NOTE]
    for corpus in corpora:
        if any(corpus["removed"].values()) or any(corpus["overlap"].values()):
            notes.append(_describe_losses(corpus))
    display = make_frame(cells, list(headers)).set_axis(list(headers.values()), axis=1)
    return Table(make_frame(rows), display, text_columns=("Part", "Corpus", "Stage"), notes=notes)


def _make_row(corpus: Counts, stage: Counts, reported_data: ReportedData) -> Counts:
    """Return the row of a corpus at a stage, with columns in this order."""
    name = stage["name"]
    row = {"part": corpus["part"], "corpus": corpus["name"], "stage": name}
    row["unit"] = "words" if name in _UNTOKENIZED_STAGES else "tokens"
    row["pairs"] = stage["pairs"]
    for side in SIDES:
        row[f"{side}_words"] = stage[side]["words"]
    for side in SIDES:
        words, unknown_words = stage[side]["words"], stage[side].get("unknown")
        has_rate = words and unknown_words is not None
        row[f"{side}_unknown"] = round(unknown_words / words, 6) if has_rate else None
    row["reported"] = reported_words(corpus, name, reported_data)
    return row


def _format_cell(value: str | float | None) -> str:
    """Return a name, a count (1,234) or a rate (1.23%) for readers."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2%}"


def _describe_losses(corpus: Counts) -> str:
    """Return the note that says which pairs of a corpus were removed and why, and which overlap with held-out text."""
    removed, overlap = _list_counts(corpus["removed"]), _list_counts(corpus["overlap"])
    sentences = [f"removed pairs: {removed}"] if removed else []
    if overlap:
        matches = "same: as tokens; alike: by letters and digits"
        sentences.append(f"pairs that share a sentence with held-out text ({matches}): {overlap}")
    return f"{corpus['name']}: {'; '.join(sentences)}."


def _list_counts(counts: Mapping[str, int]) -> str:
    """Return counts in a line, without those that are zero: "too long 3, empty 1"."""
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items() if count)
