"""Corpus statistics: the text of each corpus at every stage, removed pairs by reason, and the text of the models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from nmt.errors import UserError
from nmt.io.files import read_json, write_text
from pipeline.results.papers import ReportedData
from pipeline.results.statistics import PARTS, SIDES, Counts, removed, repaired, total
from pipeline.results.tables.writer import as_csv

COLUMNS = ["part", "corpus", "stage", "measure", "side", "unit", "value", "reported"]
TOTAL = "total"
BEFORE, AFTER = "words", "tokens"
"""Units of counts: words between white space before tokenization, tokens after it."""


@dataclass(frozen=True)
class Volume:
    """The size of a corpus at one stage. words: of source and target, None if they were not counted."""

    stage: str
    unit: str
    pairs: int
    words: tuple[int | None, int | None]


@dataclass(frozen=True)
class Types:
    """Numbers of different words in the vocabulary and outside."""

    known: int
    unknown: int

    @property
    def all(self) -> int:
        """Return all different words."""
        return self.known + self.unknown

    @property
    def covered(self) -> float | None:
        """Return share of the different words that the vocabulary has."""
        return ratio(self.known, self.all)


@dataclass(frozen=True)
class Corpus:
    """The counts of one corpus, or of all corpora of a part together."""

    name: str
    part: str
    counts: Counts

    @property
    def volumes(self) -> list[Volume]:
        """Return pairs and words at every stage, in order."""
        raw, clean = self.counts["raw"], self.counts["clean"]
        raw_words, kept_words = _words(raw, "{}_words"), _words(clean, "kept_{}_words")
        found = [Volume("raw", BEFORE, raw["pairs"], raw_words)]
        found.append(Volume("clean", BEFORE, clean["kept"], kept_words))
        for stage in self.counts["stages"]:
            source, target = (stage[side]["words"] for side in SIDES)
            found.append(Volume(stage["name"], AFTER, stage["pairs"], (source, target)))
        return found

    @property
    def last(self) -> Counts:
        """Return the stage that models read."""
        stages: list[Counts] = self.counts["stages"]
        return stages[-1]

    def within(self, limit: int) -> Volume:
        """Return what is left of the last stage by a limit on both sides' words."""
        rows = [row for length, row in self.last["longer"].items() if int(length) <= limit]
        pairs, source, target = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0, 0)
        return Volume(f"within_{limit}", AFTER, pairs, (source, target))

    @property
    def removed(self) -> dict[str, int]:
        """Return pairs that went, by reason: those of the cleaning, then those of each later stage."""
        reasons = removed(self.counts["clean"])
        volumes = self.volumes[1:]
        for before, after in pairwise(volumes):
            reasons[_LOST.get(after.stage, f"not_{after.stage}")] = before.pairs - after.pairs
        return reasons

    @property
    def repaired(self) -> dict[str, int]:
        """Return lines with malformed characters, by side and kind."""
        return {**_invalid(self.counts["raw"]), **repaired(self.counts["clean"])}

    @property
    def members(self) -> dict[str, str]:
        """Return the MD5 sums of the files that held the sides, by side, if the extraction noted them."""
        raw = self.counts["raw"]
        return {side: raw[name] for side in SIDES if raw.get(name := f"{side}_md5")}

    def lengths(self, side: str) -> Lengths:
        """Return sentences of the last stage by their words."""
        return Lengths({int(length): number for length, number in self.last[side]["lengths"].items()})

    def unknown_rate(self, side: str) -> float | None:
        """Return share of the last stage's words that the vocabulary lacks."""
        return ratio(self.last[side]["unknown"], self.last[side]["words"])

    def coverage(self, side: str) -> dict[int, float]:
        """Return share of the last stage's words among the first so many of the vocabulary, by that number."""
        words = self.last[side]["words"]
        covered = {int(size): number for size, number in self.last[side]["covered"].items()}
        return {size: covered[size] / words for size in sorted(covered)} if words else {}

    def types(self, side: str) -> Types | None:
        """Return different words of the last stage; None where they were not listed, as of training text."""
        types = self.last[side].get("types")
        return types and Types(len(types["known"]), len(types["unknown"]))


_LOST = {"tokens": "no_token", "selected": "not_selected"}
"""The reason why pairs are missing at a stage."""


def _words(counts: Mapping[str, Any], name: str) -> tuple[int | None, int | None]:
    source, target = (counts.get(name.format(side)) for side in SIDES)
    return source, target


def _invalid(raw: Counts) -> dict[str, int]:
    """Return what the extraction itself had to repair."""
    return {f"{side}_invalid_utf8": raw[name] for side in SIDES if (name := f"{side}_invalid_lines") in raw}


class Lengths:
    """A histogram of sentence lengths."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.counts = dict(sorted(counts.items()))
        self.sentences = sum(counts.values())

    @property
    def mean(self) -> float | None:
        """Return words per sentence on average."""
        return ratio(sum(length * number for length, number in self.counts.items()), self.sentences)

    def quantile(self, share: float) -> int | None:
        """Return the least length that at least this share of the sentences do not exceed."""
        seen = 0
        for length, number in self.counts.items():
            seen += number
            if seen >= share * self.sentences:
                return length
        return None


def ratio(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None


@dataclass(frozen=True)
class Report:
    """The content of tables and figure."""

    languages: tuple[str, str]
    corpora: list[Corpus]
    totals: list[Corpus]
    """One for each part that has corpora, in the order of `PARTS`."""
    archives: list[Counts]
    limits: list[int]
    """Longest side, in words, of the pairs that models train on."""
    paper: ReportedData

    def of(self, part: str) -> list[Corpus]:
        """Return the corpora of a part."""
        return [corpus for corpus in self.corpora if corpus.part == part]

    def total(self, part: str) -> Corpus:
        """Return all corpora of a part together."""
        return next(corpus for corpus in self.totals if corpus.part == part)

    def with_total(self, part: str) -> list[Corpus]:
        """Return the corpora of a part, and their sum where there are several."""
        corpora = self.of(part)
        return [*corpora, self.total(part)] if len(corpora) > 1 else corpora


def read_report(path: Path, limits: Iterable[int], paper: ReportedData) -> Report:
    """Read the counts of all corpora. A `UserError` says that the file is something else."""
    values = read_json(path)
    try:
        corpora = [Corpus(entry["name"], entry["part"], entry) for entry in values["corpora"]]
        source, target = values["languages"]
        archives = [archive for entry in values["corpora"] for archive in entry["archives"]]
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{path}: not the counts of a data set; make it again") from None
    totals = [_total(part, corpora) for part in PARTS if any(corpus.part == part for corpus in corpora)]
    different = [archive for number, archive in enumerate(archives) if archive not in archives[:number]]
    return Report((source, target), corpora, totals, different, sorted(set(limits)), paper)


def _total(part: str, corpora: Sequence[Corpus]) -> Corpus:
    kinds = ("clean", "stages", "overlap")
    members = [corpus.counts for corpus in corpora if corpus.part == part]
    counts = [{"raw": _numbers(member["raw"])} | {kind: member[kind] for kind in kinds} for member in members]
    return Corpus(TOTAL, part, total(counts))


def _numbers(counts: Counts) -> Counts:
    """Return what can be added up: no sums of files."""
    return {name: value for name, value in counts.items() if isinstance(value, int)}


Value = float | int | str | None

Row = tuple[str, str, str, str, str, str, Value, int | None]
"""A line of the CSV, in the order of `COLUMNS`."""


def rows(report: Report) -> Iterator[Row]:
    """Yield every number of the report, one row each, but for the lengths; and what is known of the archives."""
    for corpus in (*report.corpora, *report.totals):
        for stage, measure, side, unit, value, reported in _facts(corpus, report):
            yield corpus.part, corpus.name, stage, measure, side, unit, value, reported
    for archive in report.archives:
        for name, value in archive.items():
            # where it was fetched from is the machine's affair, and stands in the extraction's counts
            if name not in ("archive", "source"):
                shown = " ".join(map(str, value)) if isinstance(value, list) else value
                yield "", archive["archive"], "archive", name, "", "", shown, None


Fact = tuple[str, str, str, str, Value, int | None]


def _facts(corpus: Corpus, report: Report) -> Iterator[Fact]:
    yield from _volume_facts(corpus, report)
    for side, md5 in corpus.members.items():
        yield "raw", "md5", side, "", md5, None
    for reason, number in corpus.removed.items():
        yield "removed", reason, "", "pairs", number, None
    for fault, number in corpus.repaired.items():
        side, _, kind = fault.partition("_")
        yield "repaired", kind, side, "lines", number, None
    for name, value in sorted(corpus.counts["overlap"].items()):
        if isinstance(value, int):
            yield "overlap", name, "", "", value, None
    yield from _vocabulary_facts(corpus)
    for side in SIDES:
        lengths = corpus.lengths(side)
        for measure, value in _length_measures(lengths).items():
            yield corpus.last["name"], measure, side, AFTER, _digits(value), None


def _volume_facts(corpus: Corpus, report: Report) -> Iterator[Fact]:
    limits = report.limits if corpus.part == "train" else []
    for volume in (*corpus.volumes, *(corpus.within(limit) for limit in limits)):
        yield volume.stage, "pairs", "", "pairs", volume.pairs, None
        for side, words in zip(SIDES, volume.words, strict=True):
            reported = reported_words(corpus, volume.stage, report.paper) if side == "target" else None
            yield volume.stage, "words", side, volume.unit, words, reported


def reported_words(corpus: Corpus, stage: str, paper: ReportedData) -> int | None:
    """Return the words of the target language that the paper reports for a corpus, or for all, at a stage."""
    if corpus.part != "train":
        return None
    if stage == "tokens":
        return paper.total if corpus.name == TOTAL else paper.corpora.get(corpus.name)
    if stage == "selected":
        return paper.selected if corpus.name == TOTAL else paper.selected_corpora.get(corpus.name)
    return None


def _vocabulary_facts(corpus: Corpus) -> Iterator[Fact]:
    last = corpus.last
    for side in SIDES:
        yield last["name"], "unknown", side, AFTER, last[side]["unknown"], None
        yield last["name"], "unknown_rate", side, "share", _digits(corpus.unknown_rate(side)), None
        for size, share in corpus.coverage(side).items():
            yield last["name"], f"covered_by_{size}", side, "share", _digits(share), None
        if types := corpus.types(side):
            yield last["name"], "types", side, "types", types.all, None
            yield last["name"], "unknown_types", side, "types", types.unknown, None
            yield last["name"], "types_covered", side, "share", _digits(types.covered), None


def _length_measures(lengths: Lengths) -> dict[str, float | int | None]:
    return {
        "length_mean": lengths.mean,
        "length_median": lengths.quantile(0.5),
        "length_95": lengths.quantile(0.95),
        "length_99": lengths.quantile(0.99),
        "length_longest": lengths.quantile(1),
    }


def _digits(value: float | int | None) -> float | int | None:
    return round(value, 6) if isinstance(value, float) else value


def length_rows(report: Report) -> Iterator[tuple[str, str, int, int]]:
    """Yield part, side, length and number of sentences: the histogram of the last stage of each part."""
    for corpus in report.totals:
        for side in SIDES:
            for length, sentences in corpus.lengths(side).counts.items():
                yield corpus.part, side, length, sentences


def write_csv(report: Report, csv: Path, lengths: Path) -> None:
    """Write every number, and the histograms of lengths."""
    write_text(csv, as_csv(pd.DataFrame(rows(report), columns=COLUMNS, dtype=object)))
    columns = ["part", "side", "length", "sentences"]
    write_text(lengths, as_csv(pd.DataFrame(length_rows(report), columns=columns, dtype=object)))
