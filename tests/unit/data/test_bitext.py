from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nmt.data.batches import make_batch
from nmt.data.bitext import Bitext, binarize, fingerprint
from nmt.data.meta import BITEXT_FILES
from nmt.data.shards import shard_of
from nmt.data.vocabulary import WordVocabulary
from tests.bitexts import write_pairs
from tests.messages import refused
from tests.running import ROOT

WORDS = WordVocabulary([(f"w{i}", 1) for i in range(500)])


def numbered(pairs: int) -> list[tuple[str, str]]:
    return [(f"w{i % 500} w{i // 500}", " ".join([f"w{i % 500}"] * (1 + i % 3))) for i in range(pairs)]


def content(bitext: Bitext) -> list[tuple[list[int], list[int]]]:
    return [(bitext.source(i).tolist(), bitext.target(i).tolist()) for i in range(len(bitext))]


def test_pairs_come_back_in_order_without_empty_ones(tmp_path: Path) -> None:
    corpora = {
        "a": [write_pairs(tmp_path, "0", [("w0 no w1", "w2"), ("", ""), ("w3", "w3 w3")])],
        "b": [write_pairs(tmp_path, "1", [("w4", ""), ("", "w4"), ("w5", "w6")])],
    }
    bitext = binarize(corpora, WORDS, WORDS, tmp_path / "b")
    assert content(bitext) == [([2, 1, 3], [4]), ([5], [5, 5]), ([7], [8])]
    assert bitext.longer_lengths(np.arange(3)).tolist() == [3, 2, 1]
    assert bitext.source(0).dtype == np.uint16
    assert bitext.meta.pairs == 3
    assert (bitext.meta.source_words, bitext.meta.target_words) == (5, 4)
    assert bitext.meta.shuffled_seed is None
    assert bitext.meta.source_vocabulary_sha256 == WORDS.sha256
    assert bitext.meta.sha256 == fingerprint(tmp_path / "b")


@pytest.mark.parametrize("seed", [None, 1])
def test_a_side_with_more_words_than_16_bits_hold_has_ids_of_32(tmp_path: Path, seed: int | None) -> None:
    """The last id of 16 bits is that of word 65,534, since the specials take two."""
    many, few = (WordVocabulary([(f"w{i}", 1) for i in range(size)]) for size in (65_535, 65_534))
    text = [("w65534 w0", "w65533"), ("w65533 no", "w65534")]
    corpora = {"c": [write_pairs(tmp_path, "0", text)]}
    bitext = binarize(corpora, many, few, tmp_path / "b", seed)
    expected = [([65_536, 2], [65_535]), ([65_535, 1], [1])]
    assert sorted(content(Bitext.open(tmp_path / "b"))) == sorted(expected)
    assert (bitext.source(0).dtype, bitext.target(0).dtype) == (np.uint32, np.uint16)
    batch = make_batch(bitext, np.arange(2), source_eos=False)
    assert sorted(batch.source.t().tolist()) == [[65_535, 1], [65_536, 2]]


def test_shuffling_permutes_whole_pairs_by_the_seed_alone(tmp_path: Path) -> None:
    corpora = {"c": [write_pairs(tmp_path, "0", numbered(3000))]}
    straight = content(binarize(corpora, WORDS, WORDS, tmp_path / "straight"))
    first = content(binarize(corpora, WORDS, WORDS, tmp_path / "first", shuffle_seed=1))
    again = binarize(corpora, WORDS, WORDS, tmp_path / "again", shuffle_seed=1)
    other = content(binarize(corpora, WORDS, WORDS, tmp_path / "other", shuffle_seed=2))
    assert first == content(again)
    assert first != straight
    assert first != other
    assert sorted(first) == sorted(straight) == sorted(other)
    assert {path.name for path in (tmp_path / "again").iterdir()} == {*BITEXT_FILES}


@pytest.mark.parametrize("seed", [None, 1])
def test_shards_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int | None) -> None:
    monkeypatch.setattr("nmt.data.shards.BLOCK_LINES", 100)
    pairs = [("", "") if i % 7 == 0 else pair for i, pair in enumerate(numbered(1850))]
    made = []
    for shards in (1, 3, 16):
        own = [
            [pair for i, pair in enumerate(pairs) if shard_of(i, shards) == number]
            for number in range(shards)
        ]
        corpora = {"c": [write_pairs(tmp_path, f"{shards}.{i}", lines) for i, lines in enumerate(own)]}
        corpora["d"] = [write_pairs(tmp_path, "d", numbered(30))]
        made.append(binarize(corpora, WORDS, WORDS, tmp_path / str(shards), shuffle_seed=seed))
    for name in BITEXT_FILES:
        assert len({(bitext.folder / name).read_bytes() for bitext in made}) == 1
    if seed is None:
        assert content(made[2]) == content(
            binarize(
                {"c": [write_pairs(tmp_path, "c", pairs + numbered(30))]}, WORDS, WORDS, tmp_path / "straight"
            )
        )


def test_pieces_come_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora = {"c": [write_pairs(tmp_path, "0", numbered(3000))]}
    whole = content(binarize(corpora, WORDS, WORDS, tmp_path / "whole", shuffle_seed=1))
    monkeypatch.setattr("nmt.data.bitext._PAIRS_PER_CHUNK", 50)
    assert content(binarize(corpora, WORDS, WORDS, tmp_path / "pieces", shuffle_seed=1)) == whole


def test_a_run_that_was_killed_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    corpora = {"c": [write_pairs(tmp_path, "0", numbered(2000))]}
    binarize(corpora, WORDS, WORDS, tmp_path / "b", shuffle_seed=1)
    WORDS.write(tmp_path / "v.tsv")
    program = (
        "import os, signal, sys, nmt.data.bitext as b; from nmt.data.vocabulary import Vocabulary\n"
        "b.fingerprint = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
        "v = Vocabulary.read(sys.argv[3]); b.binarize({'c': [(sys.argv[1], sys.argv[2])]}, v, v, sys.argv[4], 2)"
    )
    arguments = [*map(str, corpora["c"][0]), str(tmp_path / "v.tsv"), str(tmp_path / "b")]
    code = subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, check=False).returncode
    assert code == -signal.SIGKILL
    with refused():
        Bitext.open(tmp_path / "b")
    assert content(binarize(corpora, WORDS, WORDS, tmp_path / "b")) == content(
        binarize(corpora, WORDS, WORDS, tmp_path / "c")
    )
    assert {path.name for path in (tmp_path / "b").iterdir()} == {*BITEXT_FILES}


def test_text_without_pairs_and_uneven_sides_are_refused(tmp_path: Path) -> None:
    with refused():
        binarize({"c": [write_pairs(tmp_path, "0", [("", "")])]}, WORDS, WORDS, tmp_path / "b")
    source, _ = write_pairs(tmp_path, "1", numbered(3))
    _, target = write_pairs(tmp_path, "2", numbered(4))
    with refused():
        binarize({"c": [(source, target)]}, WORDS, WORDS, tmp_path / "b")
    assert not (tmp_path / "b" / "meta.json").exists()
