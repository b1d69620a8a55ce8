"""Corpus statistics: pairs and words of every corpus at every stage, removed pairs, and unknown words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nmt.data.vocabulary import Vocabulary
from nmt.io.files import read_json
from nmt.settings.text import Languages
from pipeline.preparation import REASONS, SIDES, read_word_counts
from pipeline.results.tables.table import Table

Counts = dict[str, Any]
"""Counts of a corpus or of one of its stages, as in corpora.json of a package."""
ReportedWords = Mapping[Literal["tokens", "selected"], Mapping[str, int]]
"""Numbers of words that a paper reports, by stage and corpus: {"tokens": {"europarl-v7": 61000000, "total": ...}}."""
_UNTOKENIZED_STAGES = ("raw", "clean")
"""Stages whose text is not tokenized: a word is what stands between white space."""
_NOTE = (
    "Words stand between white space in raw and clean text, and are tokens from then on; the two are not comparable. "
    "A pair counts when both sides have words; raw counts every line. Unknown: share of the words that the vocabulary "
    "lacks."
)


# --- counts of shards added up ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusFiles:
    """The files of a corpus: its part (train, dev, test, in-domain), number of shards, and stages."""

    name: str
    part: str
    shards: int
    stages: list[str]

    def shard_files(self, stage: str, extension: str) -> list[Path]:
        """Return a file of each shard at a stage."""
        return [Path("data") / stage / self.name / f"{shard}.{extension}" for shard in range(self.shards)]


def sum_corpus_counts(
    corpus: CorpusFiles, languages: Sequence[str], vocabularies: Sequence[Vocabulary]
) -> Counts:
    """Return the counts of a corpus, summed over its shards.

    Returns:
        `name` and `part`; `stages`: pairs and words of each stage; `removed`: pairs by reason; `overlap`: pairs by
        held-out set and kind of match.
    """
    raw_counts = read_json(Path("data", "raw", corpus.name, "counts.json"))
    stages = [_describe_stage("raw", raw_counts["pairs"], raw_counts)]

    # the counts of the cleaning are in the files of the first stage
    clean_counts: Counter[str] = Counter()
    for path in corpus.shard_files(corpus.stages[0], "counts.json"):
        clean_counts.update(read_json(path)["clean"])
    stages.append(_describe_stage("clean", clean_counts["kept"], clean_counts, prefix="kept_"))

    # the stages after cleaning
    for name in corpus.stages:
        shards = [read_json(path)["stage"] for path in corpus.shard_files(name, "counts.json")]
        stages.append(_sum_stages(shards))

    # unknown words of the last stage
    for side, language, vocabulary in zip(SIDES, languages, vocabularies, strict=True):
        word_counts = read_word_counts(corpus.shard_files(corpus.stages[-1], f"{language}.words.zst"))
        stages[-1][side]["unknown"] = sum(word_counts[word] for word in word_counts if word not in vocabulary)

    overlap = read_json(Path("data", "overlap", f"{corpus.name}.json")) if corpus.part == "train" else {}
    return {
        "name": corpus.name,
        "part": corpus.part,
        "stages": stages,
        "removed": {reason: clean_counts[reason] for reason in REASONS},
        "overlap": overlap,
    }


def _describe_stage(name: str, pairs: int, counts: Counts, prefix: str = "") -> Counts:
    """Return the counts of a stage: pairs, and words of source and target."""
    words = {side: {"words": counts[f"{prefix}{side}_words"]} for side in SIDES}
    return {"name": name, "pairs": pairs, **words}


def _sum_stages(stages: Sequence[Counts]) -> Counts:
    """Return the sums of the counts of a stage in some shards or corpora."""
    total: Counts = {"name": stages[0]["name"], "pairs": sum(stage["pairs"] for stage in stages)}
    for side in SIDES:
        total[side] = {key: sum(stage[side][key] for stage in stages) for key in stages[0][side]}
    return total


# --- the table --------------------------------------------------------------------------------------------------------


def append_total(corpora: Sequence[Counts]) -> list[Counts]:
    """Return the training corpora, their total if there are several, and then the other corpora.

    All training corpora have the same stages.
    """
    training_corpora = [corpus for corpus in corpora if corpus["part"] == "train"]
    other_corpora = [corpus for corpus in corpora if corpus["part"] != "train"]
    if len(training_corpora) < 2:
        return training_corpora + other_corpora
    stages_by_corpus = [corpus["stages"] for corpus in training_corpora]
    total_stages = [_sum_stages(stages) for stages in zip(*stages_by_corpus, strict=True)]
    total = {"name": "total", "part": "train", "stages": total_stages}
    return [*training_corpora, total, *other_corpora]


def build_corpora_table(
    corpora: Sequence[Counts], languages: Languages, reported_words: ReportedWords
) -> Table:
    """Return the table with a row for each corpus at each stage.

    Args:
        corpora: the counts of the corpora, made by `sum_corpus_counts`.
        languages: the languages of source and target.
        reported_words: the paper's numbers of target words; empty if the table does not show them.
    """
    # the table for programs
    records = []
    for corpus in append_total(corpora):
        records += [_make_record(corpus, stage, reported_words) for stage in corpus["stages"]]

    # the columns for readers with their headers: {"source_words": "Words, en", ...}
    source, target = languages.source, languages.target
    headers = {"part": "Part", "corpus": "Corpus", "stage": "Stage", "pairs": "Pairs"}
    headers |= {"source_words": f"Words, {source}", "target_words": f"Words, {target}"}
    headers |= {"source_unknown": f"Unknown, {source}", "target_unknown": f"Unknown, {target}"}
    if any(record["reported"] for record in records):
        headers["reported"] = f"Words, {target}, reported"
    rows = []
    for record in records:
        rows.append([_format_cell(record[key]) for key in headers])

    notes = [_NOTE, *_describe_losses(corpora)]
    return Table(records, list(headers.values()), rows, text_columns=["Part", "Corpus", "Stage"], notes=notes)


def _make_record(corpus: Counts, stage: Counts, reported_words: ReportedWords) -> Counts:
    """Return the record of a corpus at a stage, with its columns in order."""
    name = stage["name"]
    record = {"part": corpus["part"], "corpus": corpus["name"], "stage": name}
    record["unit"] = "words" if name in _UNTOKENIZED_STAGES else "tokens"
    record["pairs"] = stage["pairs"]
    record |= {f"{side}_words": stage[side]["words"] for side in SIDES}
    for side in SIDES:
        words, unknown_words = stage[side]["words"], stage[side].get("unknown")
        has_rate = words and unknown_words is not None
        record[f"{side}_unknown"] = round(unknown_words / words, 6) if has_rate else None
    record["reported"] = None
    if corpus["part"] == "train":
        record["reported"] = reported_words.get(name, {}).get(corpus["name"])
    return record


def _format_cell(value: str | float | None) -> str:
    """Return a name, a count (1,234) or a rate (1.23%) for readers."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.2%}"


def _describe_losses(corpora: Sequence[Counts]) -> Iterator[str]:
    """Yield a note for each corpus that lost pairs, with the reasons, or that shares sentences with held-out text."""
    for corpus in corpora:
        removed_counts = _format_counts(corpus["removed"])
        overlap_counts = _format_counts(corpus["overlap"])
        clauses = []
        if removed_counts:
            clauses.append(f"removed pairs: {removed_counts}")
        if overlap_counts:
            matches = "same: as tokens; alike: by letters and digits"
            clauses.append(f"pairs that share a sentence with held-out text ({matches}): {overlap_counts}")
        if clauses:
            yield f"{corpus['name']}: {'; '.join(clauses)}."


def _format_counts(counts: Mapping[str, int]) -> str:
    """Return the counts above zero in a line: "too long 3, empty 1"."""
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items() if count)
