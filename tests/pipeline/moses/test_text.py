"""Text for Moses."""

import pytest

from nmt.data import shards
from nmt.errors import UserError
from pipeline.moses.text import write_text
from tests.bitexts import write_pairs


def test_pairs_with_words_on_both_sides(tmp_path):
    text = {
        "first": [write_pairs(tmp_path, "0", [("a b", "x y"), ("", ""), ("lonely", "")])],
        "second": [write_pairs(tmp_path, "1", [("a b c", "x"), ("d", "w x y z"), ("e", "v")])],
    }
    source, target = tmp_path / "out.en", tmp_path / "out.fr"
    assert write_text(text, (source, target), max_words=3) == 3
    assert source.read_text() == "a b\na b c\ne\n"
    assert target.read_text() == "x y\nx\nv\n"
    assert write_text(text, (source, target)) == 4


@pytest.mark.parametrize(
    ("sentences", "kept"),
    [(1, "8"), (3, "3 6 8"), (99, "1 2 3 4 5 6 7 8")],
)
def test_sentences_are_spread_over_shards(tmp_path, sentences, kept, monkeypatch):
    monkeypatch.setattr(shards, "BLOCK_LINES", 6)
    files = [
        write_pairs(tmp_path, "0", [*((f"{line}", "x") for line in range(1, 6)), ("", "y")]),
        write_pairs(tmp_path, "1", [*((f"{line}", "x") for line in range(6, 9)), ("too many words", "x")]),
    ]
    source = tmp_path / "out.en"
    pair_count = write_text({"corpus": files}, (source, tmp_path / "out.fr"), 2, sentences)
    assert pair_count == len(kept.split())
    assert source.read_text().split() == kept.split()


@pytest.mark.parametrize("character", ["|", "<", "["])
def test_characters_of_moses_are_refused(tmp_path, character):
    pair = write_pairs(tmp_path, "0", [("a", "x"), (f"a {character} b", "x")])
    with pytest.raises(UserError, match=r"0\.en\.zst, line 2: holds "):
        write_text({"corpus": [pair]}, (tmp_path / "s", tmp_path / "t"))
    assert not (tmp_path / "s").exists() and not (tmp_path / "t").exists()
