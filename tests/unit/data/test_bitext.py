from pathlib import Path

import numpy as np
import pytest

from nmt.data.batches import make_batch
from nmt.data.bitext import Bitext, binarize, compute_arrays_checksum
from nmt.data.meta import BITEXT_FILES
from nmt.data.shards import compute_shard_number
from nmt.data.vocabulary import Vocabulary
from tests.bitexts import write_pairs
from tests.messages import refused

WORDS = Vocabulary([(f"w{i}", 1) for i in range(500)])


def different_pairs(count: int) -> list[tuple[str, str]]:
    return [(f"w{i % 500} w{i // 500}", f"w{i % 500} " * (1 + i % 3)) for i in range(count)]


def read_pairs(bitext: Bitext) -> list[tuple[list[int], list[int]]]:
    return [(bitext.source(i).tolist(), bitext.target(i).tolist()) for i in range(len(bitext))]


def test_binarized_pairs_are_in_order(tmp_path):
    corpora = {
        "a": [write_pairs(tmp_path, "0", [("w0 no w1", "w2"), ("", ""), ("w3", "w3 w3")])],
        "b": [write_pairs(tmp_path, "1", [("w4", ""), ("", "w4"), ("w5", "w6")])],
    }
    bitext = binarize(corpora, WORDS, WORDS, tmp_path / "b")
    assert read_pairs(bitext) == [([2, 1, 3], [4]), ([5], [5, 5]), ([7], [8])]
    assert bitext.compute_longer_lengths(np.arange(3)).tolist() == [3, 2, 1]
    meta = bitext.meta
    assert (meta.pairs, meta.source_words, meta.target_words, meta.shuffled_seed) == (3, 5, 4, None)
    assert meta.source_vocabulary_sha256 == WORDS.sha256
    assert meta.sha256 == compute_arrays_checksum(tmp_path / "b")


@pytest.mark.parametrize("seed", [None, 1])
def test_large_vocabulary_has_32_bit_ids(tmp_path, seed):
    """The last id of 16 bits is that of word 65,534, since the specials take two."""
    large, small = (Vocabulary([(f"w{i}", 1) for i in range(size)]) for size in (65_535, 65_534))
    corpora = {"c": [write_pairs(tmp_path, "0", [("w65534 w0", "w65533"), ("w65533 no", "w65534")])]}
    bitext = binarize(corpora, large, small, tmp_path / "b", seed)
    expected = [([65_535, 1], [1]), ([65_536, 2], [65_535])]
    assert sorted(read_pairs(bitext)) == expected
    assert (bitext.source(0).dtype, bitext.target(0).dtype) == (np.uint32, np.uint16)
    batch = make_batch(bitext, np.arange(2), source_eos=False)
    assert sorted(batch.source.t().tolist()) == [source for source, _ in expected]


def test_shuffling_depends_on_seed(tmp_path, monkeypatch):
    corpora = {"c": [write_pairs(tmp_path, "0", different_pairs(3000))]}
    unshuffled = read_pairs(binarize(corpora, WORDS, WORDS, tmp_path / "unshuffled"))
    shuffled = read_pairs(binarize(corpora, WORDS, WORDS, tmp_path / "1", shuffle_seed=1))
    other = read_pairs(binarize(corpora, WORDS, WORDS, tmp_path / "2", shuffle_seed=2))
    assert unshuffled != shuffled != other
    assert sorted(shuffled) == sorted(unshuffled) == sorted(other)

    monkeypatch.setattr("nmt.data.bitext._PAIRS_PER_CHUNK", 50)
    repeated = binarize(corpora, WORDS, WORDS, tmp_path / "repeated", shuffle_seed=1)
    assert read_pairs(repeated) == shuffled
    assert {path.name for path in repeated.folder.iterdir()} == {*BITEXT_FILES}


@pytest.mark.parametrize("seed", [None, 1])
def test_number_of_shards_changes_nothing(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("nmt.data.shards.BLOCK_LINES", 100)
    pairs = [("", "") if i % 7 == 0 else pair for i, pair in enumerate(different_pairs(1850))]
    contents = []
    for shards in (1, 3, 16):
        corpora = {"c": [], "d": [write_pairs(tmp_path, "d", different_pairs(30))]}
        for shard in range(shards):
            pairs_of_shard = [
                pair for i, pair in enumerate(pairs) if compute_shard_number(i, shards) == shard
            ]
            corpora["c"].append(write_pairs(tmp_path, f"{shards}.{shard}", pairs_of_shard))
        folder = binarize(corpora, WORDS, WORDS, tmp_path / str(shards), shuffle_seed=seed).folder
        contents.append([(folder / name).read_bytes() for name in BITEXT_FILES])
    assert contents[0] == contents[1] == contents[2]


def test_killed_binarization_leaves_no_bitext(tmp_path, monkeypatch):
    corpora = {"c": [write_pairs(tmp_path, "0", different_pairs(20))]}
    binarize(corpora, WORDS, WORDS, tmp_path / "b", shuffle_seed=1)

    def end(folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nmt.data.bitext.compute_arrays_checksum", end)
    with pytest.raises(KeyboardInterrupt):
        binarize(corpora, WORDS, WORDS, tmp_path / "b", shuffle_seed=2)
    with refused():
        Bitext(tmp_path / "b")


def test_text_without_words_is_refused(tmp_path):
    with refused():
        binarize({"c": [write_pairs(tmp_path, "0", [("", "")])]}, WORDS, WORDS, tmp_path / "b")
