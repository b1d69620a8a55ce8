"""Selection of training text by bilingual cross-entropy difference (Axelrod et al., 2011, eq. 2).

The score of a pair is [H_in(source) - H_out(source)] + [H_in(target) - H_out(target)], cross-entropies in nats per word
(end symbol included). A smaller score is closer to the in-domain text. Scores are integers, so that one threshold for
all shards is exact. Pairs are taken by score, then corpus (in the order of the config), then global line number, as
long as their target words are within the budget. So the selection is the same for any number of shards.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.data.shards import BLOCK_LINES, global_line
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs, write_lines
from nmt.selection.language_models import LINES, LogProbabilities
from nmt.settings.base import Settings
from nmt.settings.json_settings import read

NATS = 1e-4
"""One step of a score, in nats per word."""

DROPPED = 2**31 - 1
"""The score of a pair with an empty side, which is never taken."""

_LARGEST = DROPPED - 1


@dataclass(frozen=True)
class Models:
    """Language models of one language: of the in-domain text and of a sample of all text."""

    inside: LogProbabilities
    outside: LogProbabilities

    def differences(self, lines: Sequence[str]) -> list[float]:
        """Return H_in - H_out of lines, in nats per word, with the end symbol counted."""
        log10 = zip(self.inside(lines), self.outside(lines), strict=True)
        return [
            -(inside - outside) * math.log(10) / (len(line.split()) + 1)
            for line, (inside, outside) in zip(lines, log10, strict=True)
        ]


def score_pairs(pairs: Sequence[tuple[str, str]], source_models: Models, target_models: Models) -> list[int]:
    """Return the score of each pair in steps of `NATS`; `DROPPED` if a side is empty."""
    sources = source_models.differences([source for source, _ in pairs])
    targets = target_models.differences([target for _, target in pairs])
    return [
        max(-_LARGEST, min(_LARGEST, round((source + target) / NATS)))
        if all(map(str.split, pair))
        else DROPPED
        for pair, source, target in zip(pairs, sources, targets, strict=True)
    ]


def score(
    source: Path, target: Path, source_models: Models, target_models: Models, output: Path, histogram: Path
) -> None:
    """Score a shard.

    `output` is an int32 array of shape (lines, 2): score and target words. `histogram` is a JSON file with
    the pairs and target words of each score.
    """
    pairs: Counter[int] = Counter()
    words: Counter[int] = Counter()
    with (
        Progress.over_files([source, target], f"score {source}") as progress,
        write_array(output, np.int32, (2,)) as rows,
    ):
        text = read_pairs(source, target, progress)
        while block := list(islice(text, LINES)):
            scores = score_pairs(block, source_models, target_models)
            lengths = [len(line.split()) for _, line in block]
            rows.append(np.array([scores, lengths], np.int32).T)
            for value, length in zip(scores, lengths, strict=True):
                pairs[value] += 1
                words[value] += length
    counted = {str(value): [pairs[value], words[value]] for value in pairs if value != DROPPED}
    write_json(histogram, {"lines": rows.rows, "nats": NATS, "scores": counted})


@dataclass(frozen=True)
class ScoredShard:
    """A shard's scores and histogram. The shards of a corpus come one after the other, in order."""

    corpus: str
    scores: Path
    histogram: Path


class Histogram(Settings):
    """The pairs and the target words of each score of a shard."""

    lines: int
    nats: float
    scores: dict[int, tuple[int, int]]


class Threshold(Settings):
    """The selection: pairs with scores below `score`, and pairs with this score before `line` of `corpus`."""

    score: int
    corpus: str
    line: int
    shards: dict[str, int]
    """Number of shards of each corpus, in the order of the config."""
    corpora: list[str]
    budget: int
    target_words: int
    pairs: int

    def taken(self, scores: NDArray[np.int32], corpus: str, lines: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether pairs with `scores` at the global line numbers `lines` are taken, all of shape (n,)."""
        order, cut = self.corpora.index(corpus), self.corpora.index(self.corpus)
        before = lines < self.line if order == cut else np.full(len(lines), order < cut)
        taken: NDArray[np.bool_] = (scores < self.score) | ((scores == self.score) & before)
        return taken


def choose_threshold(shards: Sequence[ScoredShard], budget: int, output: Path) -> Threshold:
    """Find and write the threshold that takes pairs up to `budget` target words.

    This reads all histograms, then the scores in global order, block by block, up to the pair that exceeds the budget.
    """
    corpora = list(dict.fromkeys(shard.corpus for shard in shards))
    grouped = {corpus: [shard for shard in shards if shard.corpus == corpus] for corpus in corpora}
    if [key for key, _ in groupby(shard.corpus for shard in shards)] != corpora:
        raise UserError(
            "nmt selection threshold: the shards of a corpus are not listed one after another; list them together"
        )
    cut, pairs, words = _cut_score(shards, budget)
    corpus, line = corpora[0], 0
    if cut != DROPPED:
        corpus, line, more_pairs, more_words = _cut_line(grouped, cut, budget - words)
        pairs, words = pairs + more_pairs, words + more_words
    numbers = {corpus: len(members) for corpus, members in grouped.items()}
    threshold = Threshold(
        score=cut,
        corpus=corpus,
        line=line,
        shards=numbers,
        corpora=corpora,
        budget=budget,
        target_words=words,
        pairs=pairs,
    )
    write_json(output, threshold.model_dump())
    return threshold


def _cut_score(shards: Sequence[ScoredShard], budget: int) -> tuple[int, int, int]:
    """Return the lowest score whose pairs do not all fit, and the pairs and words below it; `DROPPED` if all fit."""
    pairs: Counter[int] = Counter()
    words: Counter[int] = Counter()
    for shard in shards:
        histogram = read(Histogram, shard.histogram, "score the shard again")
        for value, (shard_pairs, shard_words) in histogram.scores.items():
            pairs[value] += shard_pairs
            words[value] += shard_words
    taken_pairs = taken_words = 0
    for value in sorted(pairs):
        if taken_words + words[value] > budget:
            return value, taken_pairs, taken_words
        taken_pairs += pairs[value]
        taken_words += words[value]
    return DROPPED, taken_pairs, taken_words


def _cut_line(grouped: dict[str, list[ScoredShard]], cut: int, budget: int) -> tuple[str, int, int, int]:
    """Return corpus and line of the first pair at the score `cut` beyond `budget` words, and pairs and words before."""
    pairs = words = 0
    for corpus, shards in grouped.items():
        for line, rows in _blocks([_map_scores(shard.scores) for shard in shards]):
            at_cut = np.flatnonzero(rows[:, 0] == cut)
            running = words + np.cumsum(rows[at_cut, 1], dtype=np.int64)
            fitting = int(np.searchsorted(running, budget, side="right"))
            pairs += fitting
            words = int(running[fitting - 1]) if fitting else words
            if fitting < len(at_cut):
                return corpus, line + int(at_cut[fitting]), pairs, words
    raise UserError(
        "nmt selection threshold: scores and histograms do not belong together; score all shards again"
    )


def _map_scores(path: Path) -> NDArray[np.int32]:
    rows = map_array(path, np.int32)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise UserError(
            f"{path}: holds an array of shape {rows.shape}, expected (lines, 2); score the shard again"
        )
    return rows


def _blocks(shards: Sequence[NDArray[np.int32]]) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield blocks of a corpus in global order: number of the first line, and rows of shape (n, 2)."""
    for block in count():
        local = block // len(shards) * BLOCK_LINES
        rows = shards[block % len(shards)][local : local + BLOCK_LINES]
        if not len(rows):
            return
        yield block * BLOCK_LINES, rows


def read_threshold(path: Path) -> Threshold:
    """Read the file of `choose_threshold`."""
    return read(Threshold, path, "make it again with `nmt selection threshold`")


def apply(
    threshold: Threshold,
    corpus: str,
    shard: int,
    scores: Path,
    sides: tuple[Path, Path],
    outputs: tuple[Path, Path],
) -> None:
    """Write the selected pairs of a shard.

    Other pairs become empty lines on both sides, so that every pair keeps its global line number.
    """
    if corpus not in threshold.corpora:
        raise UserError(
            f"nmt selection apply: the threshold knows no corpus {corpus!r}, only {', '.join(threshold.corpora)}; "
            "choose it again"
        )
    taken = _taken(threshold, corpus, shard, _map_scores(scores))
    with (
        Progress.over_files(sides, f"select {sides[0]}") as progress,
        write_lines(outputs[0]) as sources,
        write_lines(outputs[1]) as targets,
    ):
        for number, pair in enumerate(read_pairs(*sides, progress)):
            keep = next(taken, None)
            if keep is None:
                raise UserError(
                    f"{scores}: {number} scores, but {sides[0]} has more lines; score the shard again"
                )
            for writer, line in zip((sources, targets), pair, strict=True):
                writer.write(line if keep else "")
        if next(taken, None) is not None:
            raise UserError(f"{scores}: more scores than {sides[0]} has lines; score the shard again")


def _taken(threshold: Threshold, corpus: str, shard: int, rows: NDArray[np.int32]) -> Iterator[bool]:
    for begin in range(0, len(rows), BLOCK_LINES):
        block = rows[begin : begin + BLOCK_LINES, 0]
        first = global_line(begin, shard, threshold.shards[corpus])
        lines = np.arange(first, first + len(block), dtype=np.int64)
        yield from threshold.taken(block, corpus, lines).tolist()
