"""A random part of a text, as large as the selected one: the selection's own steps with drawn scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt.data.selection.cross_entropy import DROPPED, NATS, ScoredShard, Threshold, apply, choose_threshold
from nmt.data.shards import BLOCK_LINES, global_line
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array

SCORES = 100_000
"""Different scores that are drawn."""


@dataclass(frozen=True)
class Shard:
    """A shard of training text: its tokens and the selection's scores."""

    corpus: str
    number: int
    sides: tuple[Path, Path]
    scores: Path


def draw(shards: Sequence[Shard], words: int, seed: int, folder: Path) -> Threshold:
    """Draw scores for all pairs and take as many pairs as hold `words` target words; writes to `folder`."""
    scored = [_drawn_scores(shard, place, seed, folder) for place, shard in enumerate(shards)]
    return choose_threshold(scored, words, folder / "threshold.json")


def _drawn_scores(shard: Shard, place: int, seed: int, folder: Path) -> ScoredShard:
    """Scores drawn for each pair that has words on both sides."""
    rows = np.array(map_array(shard.scores, np.int32))
    drawn = np.random.Generator(np.random.PCG64([seed, place])).integers(SCORES, size=len(rows))
    rows[:, 0] = np.where(rows[:, 0] == DROPPED, DROPPED, drawn)
    scores, histogram = _files(shard, folder)
    scores.parent.mkdir(parents=True, exist_ok=True)
    with write_array(scores, np.int32, (2,)) as writer:
        writer.append(rows)
    kept = rows[rows[:, 0] != DROPPED].astype(np.int64)
    pairs, words = np.bincount(kept[:, 0]), np.bincount(kept[:, 0], weights=kept[:, 1])
    counts = {str(score): [int(pairs[score]), int(words[score])] for score in np.flatnonzero(pairs)}
    write_json(histogram, {"lines": len(rows), "nats": NATS, "scores": counts})
    return ScoredShard(shard.corpus, scores, histogram)


def _files(shard: Shard, folder: Path) -> tuple[Path, Path]:
    place = folder / shard.corpus
    return place / f"{shard.number}.scores.npy", place / f"{shard.number}.histogram.json"


def take(shards: Sequence[Shard], threshold: Threshold, folder: Path) -> list[tuple[Path, Path]]:
    """Write the drawn pairs, shard by shard, both sides."""
    parts = []
    for shard in shards:
        outputs = tuple(folder / shard.corpus / f"{shard.number}.{side}.zst" for side in ("source", "target"))
        apply(
            threshold,
            shard.corpus,
            shard.number,
            _files(shard, folder)[0],
            shard.sides,
            (outputs[0], outputs[1]),
        )
        parts.append((outputs[0], outputs[1]))
    return parts


@dataclass
class Taken:
    """How much of a corpus is taken: pairs, and target words."""

    pairs: int = 0
    words: int = 0


def taken_by_corpus(
    shards: Sequence[Shard], threshold: Threshold | None, folder: Path | None
) -> dict[str, Taken]:
    """What a threshold takes of each corpus (None: all); scores are in `folder`, or the selection's."""
    found = {shard.corpus: Taken() for shard in shards}
    for shard in shards:
        rows = map_array(_files(shard, folder)[0] if folder else shard.scores, np.int32)
        words = rows[_taken(rows, shard, threshold), 1]
        found[shard.corpus].pairs += len(words)
        found[shard.corpus].words += int(words.sum(dtype=np.int64))
    return found


def _taken(rows: np.ndarray, shard: Shard, threshold: Threshold | None) -> np.ndarray:
    if threshold is None:
        everything: np.ndarray = rows[:, 0] != DROPPED
        return everything
    numbers = threshold.shards[shard.corpus]
    begins = range(0, len(rows), BLOCK_LINES)
    lines = [
        np.arange(min(BLOCK_LINES, len(rows) - at)) + global_line(at, shard.number, numbers) for at in begins
    ]
    return threshold.taken(
        rows[:, 0], shard.corpus, np.concatenate(lines) if lines else np.zeros(0, np.int64)
    )
