"""The benchmark of the selection: a random part of the right size, and perplexities that can be compared."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.selection import random_part
from benchmarks.selection.__main__ import report, shares
from benchmarks.selection.perplexity import compare
from benchmarks.selection.random_part import Shard, Taken
from nmt.data.selection.cross_entropy import DROPPED
from nmt.io.npy import write_array
from nmt.io.text_files import read_lines, read_pairs, write_lines


class Unigram:
    """Stands for a KenLM model without histories: the same interface, probabilities as given."""

    def __init__(self, log10: dict[str, float]) -> None:
        self.log10 = log10

    def full_scores(self, line: str) -> list[tuple[float, int, bool]]:
        """Log10, length of the n-gram, whether the word is unknown; the end symbol is last."""
        return [(self.log10.get(word, -5.0), 1, word not in self.log10) for word in [*line.split(), "</s>"]]


def test_perplexity_leaves_out_what_some_model_does_not_know() -> None:
    models = {
        "a": Unigram({"x": -1.0, "y": -2.0, "</s>": -1.0}),
        "b": Unigram({"x": -2.0, "z": -1.0, "</s>": -1.0}),
    }
    found = compare(models, ["x y", "x z w"])
    assert (found.words, found.known) == (5, 4)  # x, end, x, end
    assert found.perplexities() == pytest.approx({"a": 10.0, "b": math.pow(10, 6 / 4)})
    assert found.unknown_rates() == pytest.approx({"a": 2 / 5, "b": 2 / 5})


@pytest.fixture
def shards(tmp_path: Path) -> list[Shard]:
    """Two corpora, one of two shards; pair i of a shard has i % 5 + 1 target words; a tenth is empty."""
    made = []
    for corpus, number, lines in (("one", 0, 400), ("one", 1, 300), ("two", 0, 300)):
        sides = (tmp_path / f"{corpus}.{number}.en.zst", tmp_path / f"{corpus}.{number}.fr.zst")
        scores = tmp_path / f"{corpus}.{number}.scores.npy"
        with write_lines(sides[0]) as sources, write_lines(sides[1]) as targets:
            for line in range(lines):
                sources.write("" if line % 10 == 0 else f"{corpus}{number}-{line}")
                targets.write("" if line % 10 == 0 else " ".join("w" * (line % 5 + 1)))
        rows = [(DROPPED, 0) if line % 10 == 0 else (7, line % 5 + 1) for line in range(lines)]
        with write_array(scores, np.int32, (2,)) as writer:
            writer.append(np.array(rows))
        made.append(Shard(corpus, number, sides, scores))
    return made


def test_a_random_part_has_so_many_words_from_everywhere(shards: list[Shard], tmp_path: Path) -> None:
    drawn = random_part.draw(shards, 1200, 1, tmp_path / "random")
    parts = random_part.take(shards, drawn, tmp_path / "random")
    words = [sum(len(line.split()) for line in read_lines(target)) for _, target in parts]
    assert 1195 < sum(words) <= 1200
    taken = random_part.taken_by_corpus(shards, drawn, tmp_path / "random")
    pairs = [sum(1 for line in read_lines(target) if line) for _, target in parts]
    assert taken == {"one": Taken(pairs[0] + pairs[1], words[0] + words[1]), "two": Taken(pairs[2], words[2])}
    everything = random_part.taken_by_corpus(shards, None, None)
    assert {corpus: of.pairs for corpus, of in everything.items()} == {"one": 630, "two": 270}
    whole = sum(of.words for of in everything.values())
    for corpus, of in everything.items():
        assert taken[corpus].words / of.words == pytest.approx(1200 / whole, abs=0.1)
    assert all(bool(source) == bool(target) for part in parts for source, target in read_pairs(*part))


def test_shares_are_told_of_words_and_of_pairs() -> None:
    every = {"one": Taken(10, 300), "two": Taken(30, 100)}
    part = {"one": Taken(1, 50), "two": Taken(3, 50)}
    found = shares({"all": every, "selected": part, "random": part})
    assert found["percent_of_words"]["all"] == {"one": 75.0, "two": 25.0}
    assert found["percent_of_words"]["selected"] == {"one": 50.0, "two": 50.0}
    assert found["percent_of_pairs"]["selected"] == {"one": 25.0, "two": 75.0}
    lines = report(found | {"held_out": {}}).split("\n")
    assert any(line.split() == ["one", "75.0%", "50.0%", "50.0%", "16.7%"] for line in lines)
    assert any(line.split() == ["two", "75.0%", "75.0%", "75.0%", "10.0%"] for line in lines)


def test_another_seed_draws_another_part(shards: list[Shard], tmp_path: Path) -> None:
    def part(seed: int, name: str) -> list[str]:
        drawn = random_part.draw(shards, 1200, seed, tmp_path / name)
        return [
            line
            for source, _ in random_part.take(shards, drawn, tmp_path / name)
            for line in read_lines(source)
        ]

    assert part(1, "a") == part(1, "b")
    assert part(1, "c") != part(2, "d")
