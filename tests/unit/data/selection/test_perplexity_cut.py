"""The cut where held-out text has the lowest perplexity, with real language models."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from nmt.data.selection.cross_entropy import ScoredShard, score
from nmt.data.selection.perplexity_cut import CandidateShard, Training, candidate, choose
from nmt.errors import UserError
from nmt.io.text_files import write_lines
from tests import kenlm

GOOD, BAD = "abcdefgh", "ijklmnopqrst"


def sentences(words: str, count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [
        " ".join(draw.choices(words, range(1, len(words) + 1), k=draw.randint(5, 12))) for _ in range(count)
    ]


def write(path: Path, lines: list[str]) -> Path:
    with write_lines(path) as writer:
        for line in lines:
            writer.write(line)
    return path


class Likes:
    """Scores like a pair of models that know which sentences are good."""

    def difference(self, line: str) -> float:
        """Smaller for good ones."""
        return -1.0 if set(line.split()) <= set(GOOD) else 1.0


@pytest.fixture
def shards(tmp_path: Path) -> list[CandidateShard]:
    """A fifth of the text is like the held-out text, and scores best; in two corpora."""
    made = []
    for number in range(2):
        lines = sentences(BAD, 400, number) + sentences(GOOD, 100, 10 + number)
        random.Random(number).shuffle(lines)
        sides = (write(tmp_path / f"{number}.en.zst", lines), write(tmp_path / f"{number}.fr.zst", lines))
        scored = ScoredShard(
            f"c{number}", tmp_path / f"{number}.scores.npy", tmp_path / f"{number}.histogram.json"
        )
        score(*sides, Likes(), Likes(), scored.scores, scored.histogram)  # type: ignore[arg-type]
        made.append(CandidateShard(scored, sides))
    return made


def test_the_best_share_is_the_one_that_is_like_the_held_out_text(
    shards: list[CandidateShard], tmp_path: Path
) -> None:
    held = write(tmp_path / "held.zst", sentences(GOOD, 200, 99))
    training = Training(order=3, discount_fallback=True, memory_mb=300, programs=kenlm.programs())
    outputs = [tmp_path / f"{share}.json" for share in (0.05, 0.2, 1.0)]
    found = [candidate(shards, float(path.stem), [(held, held)], training, path) for path in outputs]
    assert [value["target_words"] for value in found] == sorted(value["target_words"] for value in found)
    assert found[1]["cross_entropy"] < min(found[0]["cross_entropy"], found[2]["cross_entropy"])
    assert choose(outputs[::-1], tmp_path / "cut.json")["share"] == 0.2
    assert [value["share"] for value in json.loads((tmp_path / "cut.json").read_text())["candidates"]] == [
        0.05,
        0.2,
        1,
    ]
    assert not list(tmp_path.glob(".*"))


def test_of_equals_the_smaller_is_taken(tmp_path: Path) -> None:
    for share in (0.5, 0.2, 0.9):
        value = {"share": share, "cross_entropy": 2.0, "target_words": 1}
        (tmp_path / f"{share}.json").write_text(json.dumps(value))
    assert choose(sorted(tmp_path.glob("*.json")), tmp_path / "cut")["share"] == 0.2


def test_a_share_is_more_than_nothing_and_at_most_all(shards: list[CandidateShard], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"share is 1\.5, expected more than 0 and at most 1"):
        candidate(shards, 1.5, [], Training(3, True, 300, None), tmp_path / "x.json")
