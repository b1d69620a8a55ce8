"""A shard from raw text to tokens, what is counted on the way, and its overlap with held-out text."""

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.io.files import read_json
from nmt.io.text_files import read_lines
from pipeline.config.text import Cleaning
from pipeline.preparation import (
    REASONS,
    Cleaner,
    HeldOutSentences,
    count_overlap,
    matching_key,
    prepare_monolingual_shard,
    prepare_shard,
    read_word_counts,
)
from tests.bitexts import write_pairs


def prepare_text(
    folder: Path, source: bytes, target: bytes, tokenized: bool = False, **limits: Any
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Prepare a shard, and return its pairs of tokens and the counts."""
    raw = (folder / "s", folder / "t")
    tokens, words = (folder / "s.zst", folder / "t.zst"), (folder / "s.words.zst", folder / "t.words.zst")
    for file, text in zip(raw, (source, target), strict=True):
        file.write_bytes(text)
    prepare_shard(
        raw=raw,
        settings={
            "languages": {"source": "en", "target": "fr"},
            "cleaning": limits,
            "tokenization": None if tokenized else {},
        },
        tokens=tokens,
        word_counts=words,
        counts=folder / "counts.json",
    )
    pairs = [*zip(*map(read_lines, tokens), strict=True)]
    for side, file in enumerate(words):
        kept_words = " ".join(pair[side] for pair in pairs if all(pair)).split()
        assert read_word_counts([file]) == Counter(kept_words)
    return pairs, read_json(folder / "counts.json")


def test_prepare_a_shard(tmp_path):
    source = b"It's me.\r\nit 's ME\n\nToo long a line.\nNew.\n"
    target = "C'est moi.\nautre\u2028chose\nseul\nTrop.\nNeuf.\n".encode()
    pairs, counts = prepare_text(tmp_path, source, target, max_ratio=3.0)
    assert pairs == [
        ("It &apos;s me .", "C&apos; est moi ."),
        ("it &apos; s ME", "autre chose"),
        ("", ""),
        ("", ""),
        ("New .", "Neuf ."),
    ]
    clean = {name: number for name, number in counts["clean"].items() if number}
    assert clean == {
        "pairs": 5, "kept": 3, "empty": 1, "ratio": 1,
        "kept_source_words": 6, "kept_target_words": 5,
    }  # fmt: skip
    assert counts["stage"] == {
        "name": "tokens",
        "pairs": 3,
        "source": {"words": 10},
        "target": {"words": 8},
    }


def test_tokens_stay_as_they_are(tmp_path):
    pairs, _ = prepare_text(tmp_path, b"don't  &quot; a.b\n", b"l'un\n", tokenized=True)
    assert pairs == [("don't  &quot; a.b", "l'un")]


@pytest.mark.parametrize(("tokenization", "tokens"), [({}, "L&apos; un"), (None, "L'un")])
def test_text_of_one_language(tmp_path, tokenization, tokens):
    (tmp_path / "raw").write_text("L'un\ntrop long\n", encoding="utf-8")
    settings = {
        "languages": {"source": "en", "target": "fr"},
        "cleaning": {"max_words": 1},
        "tokenization": tokenization,
    }
    prepare_monolingual_shard(tmp_path / "raw", settings, tmp_path / "tokens")
    assert list(read_lines(tmp_path / "tokens")) == [tokens, ""]


LIMITS = Cleaning(max_words=4, max_ratio=2.0)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("a", "b", None),
        ("", "b", "empty"),
        ("a", " \u00a0\t", "empty"),
        ("\0\r", "b", "empty"),
        ("a b c d", "a b c d", None),
        ("a b c d e", "a b c d", "too_long"),
        ("a b c d", "a b c d e", "too_long"),
        ("a\u00a0b\u3000c d", "a b c d", None),
        ("a b", "a b c d", None),
        ("a", "a b c", "ratio"),
        ("a b c", "a", "ratio"),
    ],
)
def test_reasons_to_remove_a_pair(source, target, reason):
    cleaner = Cleaner(LIMITS)
    assert (cleaner.clean_pair(source, target) is None) == (reason is not None)
    assert {name for name in REASONS if cleaner.counts[name]} == {reason} - {None}


def test_without_limits_empty_pairs_are_removed():
    cleaner = Cleaner(Cleaning())
    assert cleaner.clean_pair("a " * 500, "b" * 10_000)
    assert cleaner.clean_pair("a", "") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a\xe9b \xff", "a\ufffdb \ufffd"),
        ("\ufeffa b".encode(), "a b"),
        (b"a b\r\r", "a b"),
        ("a\u2028b\x85c\rd\x0be".encode(), "a b c d e"),
        (b"a\0b \x1cc\x07", "ab c"),
    ],
)
def test_malformed_characters_are_repaired(text, expected):
    pair = text.decode("utf-8", "surrogateescape"), "deux «b»"
    assert Cleaner(Cleaning()).clean_pair(*pair) == (expected, pair[1])


def test_matching_key():
    assert matching_key("It &apos;s « ÉTÉ » , 3.5 _ !") == "itsété35"
    assert matching_key("... !") == ""


@given(st.text(max_size=40))
def test_matching_key_of_unicode_forms(text):
    forms = ("NFC", "NFD", "NFKC", "NFKD")
    assert len({matching_key(unicodedata.normalize(form, text)) for form in forms}) == 1


@pytest.mark.parametrize(
    ("sentence", "other_sentence"),
    [("वह लड़का है ।", "वह लड़की है ।"), ("เขามี", "เขามา"), ("அவன் வந்தான்", "அவன் வந்தன்"), ("بَ", "بِ"), ("été", "ete")],
)
def test_matching_key_keeps_marks(sentence, other_sentence):
    assert matching_key(sentence) != matching_key(other_sentence)


TEST = [("It &apos;s me .", "C&apos; est moi ."), ("yes", "oui"), ("", ""), ("...", "!")]
TRAIN = [
    ("It &apos;s me .", "autre"),  # source, token by token
    ("it 's ME !", "autre"),  # source, by its letters
    ("other", "OUI"),  # target, by its letters
    ("yes", "oui"),  # both
    ("", ""),
    ("...", "!"),  # no letters: no sentence
    ("new", "nouveau"),
]


def test_count_overlap(tmp_path):
    held_out = HeldOutSentences({"test": [write_pairs(tmp_path, "test", TEST)]})
    assert count_overlap(held_out, write_pairs(tmp_path, "train", TRAIN)) == {
        "test_same_source": 2,
        "test_same_target": 1,
        "test_same_both": 1,
        "test_alike_source": 3,
        "test_alike_target": 2,
        "test_alike_both": 1,
    }


def test_overlap_of_both_sides_is_in_one_set(tmp_path):
    sets = {"dev": TEST[0], "test": TEST[1]}
    held_out = HeldOutSentences({name: [write_pairs(tmp_path, name, [pair])] for name, pair in sets.items()})
    pair = TEST[0][0], TEST[1][1]
    counts = count_overlap(held_out, write_pairs(tmp_path, "train", [pair]))
    assert counts["dev_same_source"] == counts["test_same_target"] == 1
    assert counts["dev_same_both"] == counts["test_same_both"] == 0
