"""Scores by hand, and a selection by threshold against one by sorting."""

import math
import random
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from nmt.data.shards import BLOCK_LINES, compute_shard_number
from nmt.io.text_files import read_lines
from nmt.selection import cross_entropy
from nmt.selection.cross_entropy import EXCLUDED
from nmt.settings.base import read_settings
from tests.bitexts import write_pairs, write_text
from tests.messages import refused

IN_DOMAIN = {"<unk>": -3.0, "</s>": -1.0, "a": -0.5, "b": -1.0, "c": -2.0}
OUT_OF_DOMAIN = {"<unk>": -2.0, "</s>": -1.0, "a": -1.5, "b": -1.0, "c": -0.5}


def sum_unigrams(lines: Iterable[str], model: Path, programs: Path) -> np.ndarray:
    """Log10 p of each line under a model without contexts, "in" or "out"."""
    log10 = {"in": IN_DOMAIN, "out": OUT_OF_DOMAIN}[model.name]
    return np.array(
        [sum(log10.get(word, log10["<unk>"]) for word in [*line.split(), "</s>"]) for line in lines]
    )


@pytest.fixture(autouse=True)
def unigram_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "compute_log_probabilities", sum_unigrams)


MODELS = [Path("in"), Path("out")]


def score_pairs(
    source: Path, target: Path, scores: Path, target_models: list[Path] = MODELS
) -> list[list[int]]:
    """The score and the number of target words of each pair."""
    cross_entropy.score_shard(MODELS, target_models, Path(), (source, target, scores))
    return np.load(scores).tolist()


def test_scores(tmp_path):
    sides = write_pairs(tmp_path, "x", [("a c", "b"), ("a b", "c unknown c"), ("", "a"), ("a", " ")])
    a_c = -((-0.5 - 2.0 - 1.0) - (-1.5 - 0.5 - 1.0)) * math.log(10) / 3  # b is as likely in both
    a_b = -((-0.5 - 1.0 - 1.0) - (-1.5 - 1.0 - 1.0)) * math.log(10) / 3
    c_unknown_c = -((-2.0 - 3.0 - 2.0 - 1.0) - (-0.5 - 2.0 - 0.5 - 1.0)) * math.log(10) / 4
    rows = score_pairs(*sides, tmp_path / "scores.npy")
    expected = [[round(nats * 10_000), words] for nats, words in ((a_c, 1), (a_b + c_unknown_c, 3))]
    assert rows == [*expected, [EXCLUDED, 1], [EXCLUDED, 0]]
    rows = score_pairs(*sides, tmp_path / "scores.npy", target_models=MODELS[::-1])
    assert rows[1] == [round((a_b - c_unknown_c) * 10_000), 3], "each side has its own models"
    assert score_pairs(*write_pairs(tmp_path, "none", []), tmp_path / "none.npy") == []


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


def score_shards(shards: list[Shard]) -> ScoreFiles:
    files: ScoreFiles = {}
    for shard in shards:
        scores = shard.source.with_suffix(".scores.npy")
        score_pairs(shard.source, shard.target, scores)
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


def sort_by_score(folder: Path, corpora: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    """The corpus, source and target of each pair with words."""
    ranked = []
    for corpus, pairs in corpora.items():
        rows = score_pairs(*write_pairs(folder, corpus, pairs), folder / "scores.npy")
        for (score, _), pair in zip(rows, pairs, strict=True):
            if score != EXCLUDED:
                ranked.append((score, corpus, *pair))
    ranked.sort(key=lambda row: row[0])  # stable: by corpus and line among equal scores
    return [(corpus, source, target) for _, corpus, source, target in ranked]


@pytest.mark.parametrize("shard_count", [1, 3])
def test_threshold_matches_sorting(tmp_path, shard_count):
    corpora = {"zeta": random_pairs(2 * BLOCK_LINES + 500), "alpha": random_pairs(3000, seed=2)}
    shards = write_shards(tmp_path / "x", "zeta", corpora["zeta"], shard_count)
    shards += write_shards(tmp_path / "x", "alpha", corpora["alpha"], 1)
    scores, ranked = score_shards(shards), sort_by_score(tmp_path, corpora)
    cumulative_words = [*accumulate(len(target.split()) for *_, target in ranked)]
    for budget in (1, cumulative_words[99], 777, 12_345, 30_000, 10**9):
        expected = ranked[: bisect_right(cumulative_words, budget)]
        assert sorted(select_within_budget(tmp_path, shards, scores, budget)) == sorted(expected)


def test_scores_of_another_text_are_refused(tmp_path):
    scores = score_shards(write_shards(tmp_path, "c", [("a", "a"), ("b", "b")], 1))
    threshold = cross_entropy.choose_threshold(scores, 100, tmp_path / "threshold.json")
    for lines in (["a"], ["a", "b", "c"]):
        sides = write_text(tmp_path / "s", lines), write_text(tmp_path / "t", lines)
        with refused():
            list(cross_entropy.select_pairs(threshold, "c", 0, scores["c"][0], sides))
