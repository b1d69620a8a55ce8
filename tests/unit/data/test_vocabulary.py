import pytest

from nmt.data.vocabulary import END, UNKNOWN, Vocabulary, build_vocabulary, count_words
from nmt.io.files import sha256
from tests.bitexts import write_text
from tests.messages import refused


def test_words_are_ranked_by_count_then_code_point(tmp_path):
    shards = [write_text(tmp_path / "0.zst", ["b a é a", "", "z b"]), write_text(tmp_path / "1.zst", ["c Z"])]
    vocabulary = build_vocabulary(count_words(shards), 5, False, tmp_path / "v.tsv")
    table = "rank\tword\tcount\n1\ta\t2\n2\tb\t2\n3\tZ\t1\n4\tc\t1\n5\tz\t1\n"
    assert (tmp_path / "v.tsv").read_text() == table
    loaded = Vocabulary.read(tmp_path / "v.tsv")
    assert loaded.counts == vocabulary.counts
    assert loaded.sha256 == vocabulary.sha256 == sha256(tmp_path / "v.tsv")
    assert len(loaded) == 7
    assert loaded.ids(["a", "b", "é", "z"]) == vocabulary.ids(["a", "b", "é", "z"]) == [2, 3, UNKNOWN, 6]
    assert loaded.words([END, UNKNOWN, 2]) == ["</s>", "[UNK]", "a"]


def test_vocabulary_size_with_specials(tmp_path):
    counts = {"a": 3, "b": 2, "c": 1}
    for size in (3, 4):
        assert len(build_vocabulary(counts, size, True, tmp_path / "v")) == size
    with refused():
        build_vocabulary(counts, 2, True, tmp_path / "v")


def test_special_symbols_in_text_are_unknown_words(tmp_path):
    vocabulary = build_vocabulary({"</s>": 1, "[UNK]": 1, "a": 1}, 10, False, tmp_path / "v")
    assert vocabulary.ids(["</s>", "[UNK]", "a"]) == [UNKNOWN, UNKNOWN, 2]
    assert "[UNK]" not in vocabulary
    assert "a" in vocabulary


@pytest.mark.parametrize("subwords", [False, True])
def test_text_without_words_is_refused(tmp_path, subwords):
    counts = count_words([write_text(tmp_path / "text", [""])])
    with refused():
        build_vocabulary(counts, 10, False, tmp_path / "v", subwords)
