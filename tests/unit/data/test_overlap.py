"""Sentences of the test set in the training text: found, counted, dropped."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.overlap import letters, overlap
from nmt.io.text_files import read_pairs
from nmt.settings.text import Overlap
from tests.bitexts import write_pairs

Pairs = list[tuple[str, str]]
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


def found(folder: Path, train: Pairs, drop: str = "none", alike: bool = True) -> tuple[dict[str, int], Pairs]:
    held_out = {"test": [write_pairs(folder, "test", TEST)]}
    outputs = (folder / "kept.en.zst", folder / "kept.fr.zst")
    wish = Overlap.model_validate({"drop": drop, "alike": alike})
    counts = overlap(*write_pairs(folder, "train", train), held_out, wish, folder / "counts.json", outputs)
    assert json.loads((folder / "counts.json").read_text()) == counts
    return counts, list(read_pairs(*outputs))


def test_what_two_sentences_have_in_common() -> None:
    assert letters("It &apos;s « ÉTÉ » , 3.5 _ !") == "itsété35"
    assert letters("... !") == ""


@given(st.text(max_size=40))
def test_unicode_writes_one_text_in_several_ways(text: str) -> None:
    forms = ("NFC", "NFD", "NFKC", "NFKD")
    assert len({letters(unicodedata.normalize(form, text)) for form in forms}) == 1


def test_letters_in_pieces_are_those_in_one() -> None:
    assert letters("l&apos; e\u0301te\u0301") == letters("l&apos; \u00e9t\u00e9") == "l\u00e9t\u00e9"
    assert letters("\ufb01n 2\u00b2 \uff11") == "fin221"
    assert letters("\u00e9t\u00e9") != letters("ete")


@pytest.mark.parametrize(
    ("one", "other"),
    [("वह लड़का है ।", "वह लड़की है ।"), ("เขามี", "เขามา"), ("அவன் வந்தான்", "அவன் வந்தன்"), ("بَ", "بِ")],
)
def test_marks_tell_words_apart(one: str, other: str) -> None:
    assert letters(one) != letters(other)


def test_counts_by_hand(tmp_path: Path) -> None:
    counts, kept = found(tmp_path, TRAIN)
    assert counts == {
        "test_same_source": 2,
        "test_same_target": 1,
        "test_same_both": 1,
        "test_alike_source": 3,
        "test_alike_target": 2,
        "test_alike_both": 1,
        "dropped": 0,
    }
    assert kept == TRAIN


@pytest.mark.parametrize(
    ("drop", "alike", "gone"),
    [
        ("source", True, {0, 1, 3}),
        ("source", False, {0, 3}),
        ("target", True, {2, 3}),
        ("either", True, {0, 1, 2, 3}),
        ("both", True, {3}),
        ("none", True, set()),
    ],
)
def test_what_goes_leaves_empty_lines(tmp_path: Path, drop: str, alike: bool, gone: set[int]) -> None:
    counts, kept = found(tmp_path, TRAIN, drop, alike)
    assert counts["dropped"] == len(gone)
    assert kept == [("", "") if line in gone else pair for line, pair in enumerate(TRAIN)]


@pytest.mark.parametrize(("drop", "gone"), [("both", 0), ("either", 1)])
def test_both_sides_stand_in_one_set(tmp_path: Path, drop: str, gone: int) -> None:
    held_out = {
        name: [write_pairs(tmp_path, name, [pair])]
        for name, pair in {"dev": TEST[0], "test": TEST[1]}.items()
    }
    train = write_pairs(tmp_path, "train", [(TEST[0][0], TEST[1][1])])
    outputs = (tmp_path / "kept.en.zst", tmp_path / "kept.fr.zst")
    wish = Overlap.model_validate({"drop": drop, "alike": True})
    counts = overlap(*train, held_out, wish, tmp_path / "counts.json", outputs)
    assert counts["dev_same_source"] == counts["test_same_target"] == 1
    assert counts["dev_same_both"] == counts["test_same_both"] == 0
    assert counts["dropped"] == gone


@settings(max_examples=30)
@given(pairs=st.lists(st.sampled_from(TRAIN)), cut=st.integers(0, 10))
def test_shards_add_up_to_the_whole(pairs: Pairs, cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        whole, _ = found(Path(name), pairs, "either")
        parts = [found(Path(name), part, "either")[0] for part in (pairs[:cut], pairs[cut:])]
    assert whole == {key: sum(part[key] for part in parts) for key in whole}
