from __future__ import annotations

import math
import random
import time
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

from nmt.data.shards import BLOCK_LINES, shard_of
from nmt.errors import UserError
from nmt.io.text_files import read_lines
from nmt.selection import cross_entropy, language_models
from nmt.selection.cross_entropy import DROPPED, Models
from nmt.selection.language_models import LINES, LogProbabilities, open_language_model
from nmt.settings.base import read_settings
from tests import kenlm
from tests.bitexts import write_pairs, write_text
from tests.messages import refused

INSIDE = {"<unk>": -3.0, "</s>": -1.0, "a": -0.5, "b": -1.0, "c": -2.0}
OUTSIDE = {"<unk>": -2.0, "</s>": -1.0, "a": -1.5, "b": -1.0, "c": -0.5}


def arpa(path: Path, unigrams: dict[str, float], bigram_a_b: float) -> Path:
    lines = ["\\data\\", f"ngram 1={len(unigrams) + 1}", "ngram 2=1", "", "\\1-grams:", "-99\t<s>\t-0.25"]
    lines += [f"{value}\t{word}\t{'0' if word == '</s>' else '-0.125'}" for word, value in unigrams.items()]
    lines += ["", "\\2-grams:", f"{bigram_a_b}\ta b", "", "\\end\\"]
    path.write_text("\n".join(lines) + "\n")
    return path


def unigrams(logs: dict[str, float]) -> LogProbabilities:
    """A language model without contexts."""

    def ask(lines: Sequence[str]) -> list[float]:
        return [sum(logs.get(word, logs["<unk>"]) for word in [*line.split(), "</s>"]) for line in lines]

    return ask


@pytest.fixture
def models() -> Models:
    return Models(unigrams(INSIDE), unigrams(OUTSIDE))


def test_cross_entropy_difference_by_hand(tmp_path: Path) -> None:
    # log10 p(a b </s>): <s> backs off to a, the bigram a b, then b backs off to </s>
    inside = (-0.25 - 0.5) + -0.125 + (-0.125 - 1.0)
    outside = (-0.25 - 1.5) + -1.5 + (-0.125 - 1.0)
    domains = arpa(tmp_path / "in.arpa", INSIDE, -0.125), arpa(tmp_path / "out.arpa", OUTSIDE, -1.5)
    with (
        open_language_model(domains[0], kenlm.programs()) as ask_inside,
        open_language_model(domains[1], kenlm.programs()) as ask_outside,
    ):
        found = Models(ask_inside, ask_outside).differences(["a b", "", "a b"])
    assert found[0] == found[2] == pytest.approx(-(inside - outside) * math.log(10) / 3, abs=1e-6)


def test_as_many_lines_as_are_asked_are_answered_in_their_order(tmp_path: Path) -> None:
    model = arpa(tmp_path / "in.arpa", INSIDE, -0.125)
    lines = [" ".join("abc"[i % 3] for _ in range(i)) for i in range(LINES)]
    with open_language_model(model, kenlm.programs()) as ask:
        found = ask(lines)
        assert found == [value for line in lines for value in ask([line])]
    assert found[:2] == [-1.25, -0.25 - 1.0 - 0.125 - 1.0] and len(set(found)) > 0.9 * LINES


def score(pair: tuple[str, str], models: Models) -> int:
    return cross_entropy.score_pairs([pair], models, models)[0]


def test_a_pair_s_score_is_the_sum_of_both_sides_in_fixed_point(models: Models) -> None:
    nats = sum(models.differences(["a b", "c unknown"]))
    assert score(("a b", "c unknown"), models) == round(nats * 10_000)
    assert score(("a", "a"), models) < score(("c", "c"), models)
    assert score(("", "a"), models) == score(("a", " "), models) == DROPPED


def random_pairs(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Few words, so that scores tie; some pairs dropped."""
    draw = random.Random(seed)
    words = [" ".join(draw.choices("abc", k=draw.choice([1, 1, 2]))) for _ in range(2 * count)]
    return [("", "") if draw.random() < 0.05 else (words[i], words[count + i]) for i in range(count)]


class Shard(NamedTuple):
    corpus: str
    number: int
    source: Path
    target: Path


def make_shards(folder: Path, corpus: str, pairs: list[tuple[str, str]], shards: int) -> list[Shard]:
    folder.mkdir(parents=True, exist_ok=True)
    result = []
    for number in range(shards):
        own = [pair for i, pair in enumerate(pairs) if shard_of(i, shards) == number]
        sides = write_pairs(folder, f"{corpus}.{number}", own)
        result.append(Shard(corpus, number, *sides))
    return result


Scored = dict[str, list[Path]]


def score_all(shards: list[Shard], models: Models) -> Scored:
    result: Scored = {}
    for shard in shards:
        scores = shard.source.with_suffix(".scores.npy")
        cross_entropy.score(shard.source, shard.target, models, models, scores)
        result.setdefault(shard.corpus, []).append(scores)
    return result


def select(folder: Path, shards: list[Shard], scored: Scored, budget: int) -> list[tuple[str, str, str]]:
    cross_entropy.choose_threshold(scored, budget, folder / "threshold.json")
    threshold = read_settings(cross_entropy.Threshold, folder / "threshold.json")
    kept = []
    for shard in shards:
        sides = shard.source, shard.target
        scores = scored[shard.corpus][shard.number]
        pairs = [*cross_entropy.select_pairs(threshold, shard.corpus, shard.number, scores, sides)]
        assert len(pairs) == len([*read_lines(shard.source)])
        kept += [(shard.corpus, *pair) for pair in pairs if pair != ("", "")]
    assert threshold.pairs == len(kept)
    assert threshold.target_words == sum(len(target.split()) for _, _, target in kept) <= budget
    return kept


def in_order(corpora: dict[str, list[tuple[str, str]]], models: Models) -> list[tuple[str, str, str]]:
    """All pairs in memory, with their corpora, sorted by score."""
    ordered = []
    for order, (corpus, pairs) in enumerate(corpora.items()):
        for line, pair in enumerate(pairs):
            value = score(pair, models)
            if value != DROPPED:
                ordered.append((value, order, line, corpus, *pair))
    return [(corpus, source, target) for *_, corpus, source, target in sorted(ordered)]


@pytest.mark.parametrize("shards", [1, 3])
def test_the_threshold_takes_what_sorting_takes(tmp_path: Path, models: Models, shards: int) -> None:
    corpora = {"zeta": random_pairs(2 * BLOCK_LINES + 500), "alpha": random_pairs(3000, seed=2)}
    cut = make_shards(tmp_path / "x", "zeta", corpora["zeta"], shards)
    cut += make_shards(tmp_path / "x", "alpha", corpora["alpha"], 1)
    scored, best = score_all(cut, models), in_order(corpora, models)
    words = [*accumulate(len(target.split()) for *_, target in best)]
    for budget in (1, 777, 12_345, 30_000, 10**9):
        kept = best[: bisect_right(words, budget)]
        assert sorted(select(tmp_path, cut, scored, budget)) == sorted(kept)


def test_scores_of_another_text_are_refused(tmp_path: Path, models: Models) -> None:
    scored = score_all(make_shards(tmp_path, "c", [("a", "a"), ("b", "b")], 1), models)
    threshold = cross_entropy.choose_threshold(scored, 100, tmp_path / "threshold.json")
    for lines in (["a"], ["a", "b", "c"]):
        sides = write_text(tmp_path / "s", lines), write_text(tmp_path / "t", lines)
        with pytest.raises(UserError, match="2 scores"):
            list(cross_entropy.select_pairs(threshold, "c", 0, scored["c"][0], sides))


def test_the_sample_does_not_depend_on_the_shards(tmp_path: Path) -> None:
    pairs = random_pairs(2 * BLOCK_LINES + 500)
    samples = []
    for shards in (1, 3):
        cut = make_shards(tmp_path / str(shards), "c", pairs, shards)
        outputs = tmp_path / f"{shards}.en", tmp_path / f"{shards}.fr"
        assert language_models.sample_pairs({"c": [shard[2:] for shard in cut]}, 500, 7, *outputs) == 500
        samples.append([*zip(*map(read_lines, outputs), strict=True)])
    assert samples[0] == samples[1]
    assert all(source and target for source, target in samples[0])
    outputs = tmp_path / "other.en", tmp_path / "other.fr"
    language_models.sample_pairs({"c": [shard[2:] for shard in cut]}, 500, 8, *outputs)
    assert [*zip(*map(read_lines, outputs), strict=True)] != samples[0]


def test_a_sample_larger_than_the_corpus_takes_all(tmp_path: Path) -> None:
    cut = make_shards(tmp_path, "c", [("a", "b"), ("", ""), ("c", "d")], 1)
    assert (
        language_models.sample_pairs(
            {"c": [shard[2:] for shard in cut]}, 10, 1, tmp_path / "o.en", tmp_path / "o.fr"
        )
        == 2
    )


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.binary").write_text("no model")
    with (
        refused(),
        open_language_model(tmp_path / "x.binary", kenlm.programs()) as ask,
    ):
        time.sleep(0.5)  # the program has ended by then, and reads nothing
        ask(["a"])


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused():
        language_models.train_language_model({"c": [tmp_path / "a"]}, 4, tmp_path / "lm.binary", False, 500)


def test_the_memory_of_the_job_reaches_lmplz(tmp_path: Path) -> None:
    """Most of it sorts; the rest is for the vocabulary. `lmplz` is asked by its own name, and fails."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("lmplz", "build_binary"):
        (programs / name).write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/{name}.said\ncat > {tmp_path}/in\nexit 3\n'
        )
        (programs / name).chmod(0o755)
    text = write_text(tmp_path / "t.zst", ["a b", "", "c"])
    with refused():
        language_models.train_language_model({"c": [text]}, 4, tmp_path / "lm", False, 5000, programs)
    said = (tmp_path / "lmplz.said").read_text().split()
    assert said[said.index("--memory") + 1] == "3500M"
    assert (tmp_path / "in").read_bytes() == b"a b\nc\n"


def test_monolingual_text_stands_behind_and_ends_with_the_last_word_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(kenlm.programs()))
    text = write_text(tmp_path / "t.zst", [" ".join("abcdefgh"[: 1 + line % 8]) for line in range(200)])
    more = [write_text(tmp_path / f"{name}.zst", ["", f"{name}1 {name}2", f"{name}3"]) for name in ("m", "n")]
    known = {}
    for most in (None, 2, 3, 4, 99):
        output = tmp_path / f"{most}.binary"
        programs = kenlm.programs()
        language_models.train_language_model(
            {"": [text]}, 2, output, True, 500, programs, also=more, also_words=most
        )
        known[most] = kenlm.known_words([f"{name}{number}" for name in "mn" for number in (1, 2, 3)], output)
    assert known[2] == {"m1", "m2"} and known[3] == {"m1", "m2", "m3"}
    # a line is whole or not there
    assert known[4] == {"m1", "m2", "m3", "n1", "n2"}
    assert known[None] == known[99] and len(known[None]) == 6


def test_two_models_know_the_words_that_they_are_told(tmp_path: Path) -> None:
    draw = random.Random(3)
    domains = {"in": "abcdef", "out": "defghijk"}
    texts = {
        name: write_text(
            tmp_path / name, [" ".join(draw.choices(letters, k=12)) for _ in range(1000)] + ["rare"]
        )
        for name, letters in domains.items()
    }
    words = language_models.list_frequent_words([texts["in"]], 2)
    assert words == [*"abcdef"]
    assert language_models.list_frequent_words([texts["in"]], 1) == [*"abcdef", "rare"]
    models = {}
    for limited in (words, None):
        for name, text in texts.items():
            output = tmp_path / f"{name}.{limited is None}.binary"
            language_models.train_language_model(
                {name: [text]}, 3, output, True, 500, kenlm.programs(), words=limited
            )
            models[name, limited is None] = output
    known = {key: kenlm.known_words([*"abcdefghijk", "rare"], model) for key, model in models.items()}
    assert known["in", False] == {*"abcdef"}
    assert known["out", False] == {*"def"}
    assert known["in", True] == {*"abcdef", "rare"} and known["out", True] == {*"defghijk", "rare"}
    # to a limited model all other words are one
    with open_language_model(models["out", False], kenlm.programs()) as ask:
        assert ask(["g h d"]) == ask(["never seen d"])


def test_too_little_text_says_which_key_helps(tmp_path: Path) -> None:
    text = {"c": [write_text(tmp_path / "t", ["a b c"])]}
    with refused():
        language_models.train_language_model(text, 4, tmp_path / "lm.binary", False, 500, kenlm.programs())
    assert not (tmp_path / "lm.binary").exists()
