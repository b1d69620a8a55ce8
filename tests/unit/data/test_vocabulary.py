from __future__ import annotations

from pathlib import Path

from nmt.data.vocabulary import END, UNKNOWN, Vocabulary, build, count_words
from nmt.io.files import sha256
from tests.bitexts import write_text
from tests.messages import refused


def test_rank_is_by_count_then_code_point(tmp_path: Path) -> None:
    shards = [write_text(tmp_path / "0.zst", ["b a é a", "", "z b"]), write_text(tmp_path / "1.zst", ["c Z"])]
    vocabulary = build(count_words(shards), 5, False, tmp_path / "v.tsv")
    assert (
        tmp_path / "v.tsv"
    ).read_text() == "rank\tword\tcount\n1\ta\t2\n2\tb\t2\n3\tZ\t1\n4\tc\t1\n5\tz\t1\n"
    assert len(vocabulary) == 7
    assert vocabulary.ids(["a", "b", "é", "z"]) == [2, 3, UNKNOWN, 6]
    assert vocabulary.words([END, UNKNOWN, 2]) == ["</s>", "[UNK]", "a"]


def test_specials_count_among_the_words_when_asked(tmp_path: Path) -> None:
    shard = write_text(tmp_path / "0", ["a a a b b c"])
    assert [len(build(count_words([shard]), words, True, tmp_path / "v")) for words in (3, 4)] == [3, 4]
    with refused():
        build(count_words([shard]), 2, True, tmp_path / "v")


def test_names_of_specials_in_the_text_are_unknown_words(tmp_path: Path) -> None:
    vocabulary = build(count_words([write_text(tmp_path / "0", ["</s> [UNK] a"])]), 10, False, tmp_path / "v")
    assert vocabulary.ids(["</s>", "[UNK]", "a"]) == [UNKNOWN, UNKNOWN, 2]
    assert "[UNK]" not in vocabulary
    assert "a" in vocabulary


def test_reading_gives_the_same_vocabulary_and_sum(tmp_path: Path) -> None:
    path = tmp_path / "v.tsv"
    built = build(count_words([write_text(tmp_path / "0", ["le la le &apos; «"])]), 10, False, path)
    read = Vocabulary.read(path)
    assert read.words(range(len(read))) == built.words(range(len(built)))
    assert read.counts == built.counts
    assert read.sha256 == built.sha256 == sha256(path)
