"""Sentences of the test set in the training text."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.preparation import HeldOut, letters
from tests.bitexts import write_pairs


def test_what_two_sentences_have_in_common() -> None:
    assert letters("It &apos;s « ÉTÉ » , 3.5 _ !") == "itsété35"
    assert letters("... !") == ""


@given(st.text(max_size=40))
def test_unicode_writes_one_text_in_several_ways(text: str) -> None:
    forms = ("NFC", "NFD", "NFKC", "NFKD")
    assert len({letters(unicodedata.normalize(form, text)) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("वह लड़का है ।", "वह लड़की है ।"), ("เขามี", "เขามา"), ("அவன் வந்தான்", "அவன் வந்தன்"), ("بَ", "بِ"), ("été", "ete")],
)
def test_marks_tell_words_apart(one: str, other: str) -> None:
    assert letters(one) != letters(other)


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


def test_counts_by_hand(tmp_path: Path) -> None:
    held_out = HeldOut({"test": [write_pairs(tmp_path, "test", TEST)]})
    for pair in TRAIN:
        held_out.count(*pair)
    assert held_out.counts == {
        "test_same_source": 2,
        "test_same_target": 1,
        "test_same_both": 1,
        "test_alike_source": 3,
        "test_alike_target": 2,
        "test_alike_both": 1,
    }


def test_both_sides_stand_in_one_set(tmp_path: Path) -> None:
    sets = {"dev": TEST[0], "test": TEST[1]}
    held_out = HeldOut({name: [write_pairs(tmp_path, name, [pair])] for name, pair in sets.items()})
    held_out.count(TEST[0][0], TEST[1][1])
    counts = held_out.counts
    assert counts["dev_same_source"] == counts["test_same_target"] == 1
    assert counts["dev_same_both"] == counts["test_same_both"] == 0
