"""Scores by hand, and a selection by threshold against one by sorting."""

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

from nmt.data.shards import BLOCK_LINES, compute_shard_number
from nmt.io.text_files import read_lines
from nmt.selection import cross_entropy
from nmt.selection.cross_entropy import EXCLUDED, DomainModels
from nmt.selection.language_models import LogProbabilities
from nmt.settings.base import read_settings
from tests.bitexts import write_pairs, write_text
from tests.messages import refused

IN_DOMAIN = {"<unk>": -3.0, "</s>": -1.0, "a": -0.5, "b": -1.0, "c": -2.0}
OUT_OF_DOMAIN = {"<unk>": -2.0, "</s>": -1.0, "a": -1.5, "b": -1.0, "c": -0.5}


def unigram_model(log10: dict[str, float]) -> LogProbabilities:
    """A language model without contexts."""

    def query_lines(lines: Sequence[str]) -> list[float]:
        return [sum(log10.get(word, log10["<unk>"]) for word in [*line.split(), "</s>"]) for line in lines]

    return query_lines


@pytest.fixture
def models() -> DomainModels:
    return DomainModels(unigram_model(IN_DOMAIN), unigram_model(OUT_OF_DOMAIN))


def score_pair(pair: tuple[str, str], models: DomainModels) -> int:
    return int(cross_entropy.score_pairs([pair], models, models)[0])


def test_scores(models):
    (nats,) = models.cross_entropy_differences(["a c"])
    assert nats == pytest.approx(-((-0.5 - 2.0 - 1.0) - (-1.5 - 0.5 - 1.0)) * math.log(10) / 3)
    both_sides = sum(models.cross_entropy_differences(["a b", "c unknown"]))
    assert score_pair(("a b", "c unknown"), models) == round(both_sides * 10_000)
    assert score_pair(("", "a"), models) == score_pair(("a", " "), models) == EXCLUDED


def random_pairs(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Pairs of few distinct words, so that many scores are equal. A twentieth of the pairs is empty."""
    generator = random.Random(seed)
    lines = [" ".join(generator.choices("abc", k=generator.choice([1, 1, 2]))) for _ in range(2 * count)]
    return [("", "") if generator.random() < 0.05 else (lines[i], lines[count + i]) for i in range(count)]


class Shard(NamedTuple):
    corpus: str
    number: int
    source: Path
    target: Path


def write_shards(folder: Path, corpus: str, pairs: list[tuple[str, str]], shards: int) -> list[Shard]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number in range(shards):
        shard_pairs = [pair for i, pair in enumerate(pairs) if compute_shard_number(i, shards) == number]
        written.append(Shard(corpus, number, *write_pairs(folder, f"{corpus}.{number}", shard_pairs)))
    return written


ScoreFiles = dict[str, list[Path]]


def score_shards(shards: list[Shard], models: DomainModels) -> ScoreFiles:
    files: ScoreFiles = {}
    for shard in shards:
        scores = shard.source.with_suffix(".scores.npy")
        cross_entropy.score_files(shard.source, shard.target, models, models, scores)
        files.setdefault(shard.corpus, []).append(scores)
    return files


def select_within_budget(
    folder: Path, shards: list[Shard], scores: ScoreFiles, budget: int
) -> list[tuple[str, str, str]]:
    """The corpus, source and target of each selected pair."""
    cross_entropy.choose_threshold(scores, budget, folder / "threshold.json")
    threshold = read_settings(cross_entropy.Threshold, folder / "threshold.json")
    selection = []
    for shard in shards:
        files, sides = scores[shard.corpus][shard.number], (shard.source, shard.target)
        pairs = [*cross_entropy.select_pairs(threshold, shard.corpus, shard.number, files, sides)]
        assert len(pairs) == len([*read_lines(shard.source)])
        selection += [(shard.corpus, *pair) for pair in pairs if pair != ("", "")]
    assert threshold.pairs == len(selection)
    target_words = sum(len(target.split()) for _, _, target in selection)
    assert threshold.target_words == target_words <= budget
    return selection


def sort_by_score(
    corpora: dict[str, list[tuple[str, str]]], models: DomainModels
) -> list[tuple[str, str, str]]:
    """The corpus, source and target of each pair with words."""
    ranked = []
    for corpus, pairs in corpora.items():
        for pair in pairs:
            score = score_pair(pair, models)
            if score != EXCLUDED:
                ranked.append((score, corpus, *pair))
    ranked.sort(key=lambda row: row[0])  # stable: by corpus and line among equal scores
    return [(corpus, source, target) for _, corpus, source, target in ranked]


@pytest.mark.parametrize("shard_count", [1, 3])
def test_threshold_matches_sorting(tmp_path, models, shard_count):
    corpora = {"zeta": random_pairs(2 * BLOCK_LINES + 500), "alpha": random_pairs(3000, seed=2)}
    shards = write_shards(tmp_path / "x", "zeta", corpora["zeta"], shard_count)
    shards += write_shards(tmp_path / "x", "alpha", corpora["alpha"], 1)
    scores, ranked = score_shards(shards, models), sort_by_score(corpora, models)
    cumulative_words = [*accumulate(len(target.split()) for *_, target in ranked)]
    for budget in (1, 777, 12_345, 30_000, 10**9):
        expected = ranked[: bisect_right(cumulative_words, budget)]
        assert sorted(select_within_budget(tmp_path, shards, scores, budget)) == sorted(expected)


def test_scores_of_another_text_are_refused(tmp_path, models):
    scores = score_shards(write_shards(tmp_path, "c", [("a", "a"), ("b", "b")], 1), models)
    threshold = cross_entropy.choose_threshold(scores, 100, tmp_path / "threshold.json")
    for lines in (["a"], ["a", "b", "c"]):
        sides = write_text(tmp_path / "s", lines), write_text(tmp_path / "t", lines)
        with refused():
            list(cross_entropy.select_pairs(threshold, "c", 0, scores["c"][0], sides))
