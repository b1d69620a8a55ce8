"""Selection of training text by bilingual cross-entropy difference (Axelrod et al., 2011, eq. 2).

The score of a pair is [H_in(source) - H_out(source)] + [H_in(target) - H_out(target)], cross-entropies in nats per word
(end symbol included). A smaller score is closer to the in-domain text. Scores are integers, so that one threshold for
all shards is exact. Pairs are taken by score, then corpus (in the order of the config), then global line number, as
long as their target words are within the budget. So the selection is the same for any number of shards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.data.shards import global_line
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs
from nmt.selection.language_models import LINES, LogProbabilities, open_language_model
from nmt.settings.base import Settings

NATS = 1e-4
"""One step of a score, in nats per word."""

DROPPED = 2**31 - 1
"""The score of a pair with an empty side, which is never taken."""


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
        round((source + target) / NATS) if all(map(str.split, pair)) else DROPPED
        for pair, source, target in zip(pairs, sources, targets, strict=True)
    ]


def score(source: Path, target: Path, source_models: Models, target_models: Models, output: Path) -> None:
    """Score a shard. `output` is an int32 array of shape (lines, 2): score and target words."""
    rows: list[tuple[int, int]] = []
    with Progress.over_files([source, target], f"score {source}") as progress:
        text = read_pairs(source, target, progress)
        while block := list(islice(text, LINES)):
            scores = score_pairs(block, source_models, target_models)
            rows += [(score, len(line.split())) for score, (_, line) in zip(scores, block, strict=True)]
    write_array(output, np.int32, (len(rows), 2), [np.array(rows, np.int32)])


def score_shard(
    source_models: Sequence[Path], target_models: Sequence[Path], programs: Path, files: Sequence[Path]
) -> None:
    """Score a shard with KenLM's programs.

    Args:
        source_models: files of the language models of the source side, in-domain first.
        target_models: the same of the target side.
        programs: folder of KenLM's programs.
        files: both sides of the shard, and the output of `score`.
    """
    source, target, output = files
    with ExitStack() as stack:
        first, second = (
            Models(*(stack.enter_context(open_language_model(file, programs)) for file in side))
            for side in (source_models, target_models)
        )
        score(source, target, first, second, output)


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


def choose_threshold(scores: Mapping[str, Sequence[Path]], budget: int, output: Path) -> Threshold:
    """Find and write the threshold that takes pairs up to `budget` target words.

    Pairs are taken in the order of score, corpus and line number, until the next pair would exceed the budget.
    `scores` lists the files of each corpus' shards. All are in memory, with 30 bytes a pair.
    """
    rows = {
        corpus: _in_order([map_array(path, np.int32) for path in files]) for corpus, files in scores.items()
    }
    all_rows = np.concatenate([*rows.values()])
    order = np.argsort(all_rows[:, 0], kind="stable")
    order = order[all_rows[order, 0] < DROPPED]
    running = np.cumsum(all_rows[order, 1], dtype=np.int64)
    pairs = int(np.searchsorted(running, budget, side="right"))
    cut, corpus, line = DROPPED, next(iter(rows)), 0
    if pairs < len(order):
        place = int(order[pairs])
        begins = np.cumsum([0, *map(len, rows.values())])
        number = int(np.searchsorted(begins, place, side="right")) - 1
        cut, corpus, line = int(all_rows[place, 0]), list(rows)[number], place - int(begins[number])
    threshold = Threshold(
        score=cut,
        corpus=corpus,
        line=line,
        shards={corpus: len(files) for corpus, files in scores.items()},
        corpora=list(rows),
        budget=budget,
        target_words=int(running[pairs - 1]) if pairs else 0,
        pairs=pairs,
    )
    write_json(output, threshold.model_dump())
    return threshold


def _in_order(shards: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the rows of a corpus by their global line numbers."""
    rows = np.empty((sum(map(len, shards)), 2), np.int32)
    for number, shard in enumerate(shards):
        rows[global_line(np.arange(len(shard)), number, len(shards))] = shard
    return rows


def select_pairs(
    threshold: Threshold, corpus: str, shard: int, scores: Path, sides: tuple[Path, Path]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a shard, with empty lines in place of those that are not selected.

    So every pair keeps its global line number.
    """
    rows, lines = map_array(scores, np.int32), 0
    numbers = global_line(np.arange(len(rows)), shard, threshold.shards[corpus])
    taken = iter(threshold.taken(rows[:, 0], corpus, numbers).tolist())
    with Progress.over_files(sides, f"select {sides[0]}") as progress:
        for pair in read_pairs(*sides, progress):
            yield pair if next(taken, False) else ("", "")
            lines += 1
    if lines != len(rows):
        raise UserError(
            f"{scores}: {len(rows)} scores, but {sides[0]} has other lines; score the shard again"
        )
