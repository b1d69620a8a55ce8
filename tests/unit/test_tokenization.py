from __future__ import annotations

from pathlib import Path

import pytest
import sacremoses
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.settings import Tokenization
from nmt.text import read_lines, write_lines
from nmt.tokenization import Tokenizer, tokenize_file

MOSES = Tokenization(tokenizer="moses", escape=True, split_hyphens=False)
UNESCAPED = Tokenization(tokenizer="moses", escape=False, split_hyphens=False)
SPLIT_HYPHENS = Tokenization(tokenizer="moses", escape=True, split_hyphens=True)

# what Moses' own tokenizer.perl v1.1 gives
ENGLISH = [
    ("It's the U.S. and/or Mr. Smith's.", "It &apos;s the U.S. and / or Mr. Smith &apos;s ."),
    ("a [b] | <c> & \"d\" 'e'", "a &#91; b &#93; &#124; &lt; c &gt; &amp; &quot; d &quot; &apos; e&apos;"),
    ("Hello...  World.... no", "Hello ... World .... no"),
    ("1,000,5 a,b", "1,000,5 a , b"),
    ("No. 7 and No. way", "No. 7 and No. way"),
    ("foo-bar", "foo-bar"),
]
FRENCH = [
    (
        "L'homme qu'on n'a pas vu, aujourd'hui : « oui » !",
        "L&apos; homme qu&apos; on n&apos; a pas vu , aujourd&apos; hui : « oui » !",
    ),
    ("a\u00a0b\u202fc", "a b c"),
    ("a\x1cb\x01c\td", "abc d"),
    ("a\u2028b\u00a0c\x85d", "a b c d"),
]


@pytest.mark.parametrize(("line", "expected"), ENGLISH)
def test_english_as_moses(line: str, expected: str) -> None:
    assert Tokenizer("en", MOSES)(line) == expected


@pytest.mark.parametrize(("line", "expected"), FRENCH)
def test_french_as_moses(line: str, expected: str) -> None:
    assert Tokenizer("fr", MOSES)(line) == expected


def test_switches() -> None:
    assert Tokenizer("fr", UNESCAPED)("l'un & [x]") == "l' un & [ x ]"
    assert Tokenizer("en", SPLIT_HYPHENS)("well-known") == "well @-@ known"


@pytest.mark.parametrize("line", ["", " ", "\t \u00a0\u2028", "\x01\x1f"])
def test_a_line_without_words_becomes_empty(line: str) -> None:
    assert Tokenizer("en", MOSES)(line) == ""


@settings(deadline=None)
@given(st.text(st.sampled_from("aBé.,'\"-&|<[ \u00a0\u2028\x855№…!?:;()") | st.characters(codec="utf-8")))
def test_tokens_are_those_of_sacremoses(line: str) -> None:
    line = "".join(character for character in line if not "\x1c" <= character <= "\x1f")
    for language in ("en", "fr"):
        expected = STOCK[language].tokenize(line)
        assert Tokenizer(language, MOSES)(line).split() == expected


STOCK = {language: sacremoses.MosesTokenizer(language) for language in ("en", "fr")}


def test_a_file_keeps_its_lines(tmp_path: Path) -> None:
    lines = ["Hello, world.", "", "a\u2028b", "\x85", "Bye!"]
    with write_lines(tmp_path / "a.zst") as writer:
        for line in lines:
            writer.write(line)
    assert tokenize_file(tmp_path / "a.zst", tmp_path / "b.zst", "en", MOSES) == 5
    assert [*read_lines(tmp_path / "b.zst")] == ["Hello , world .", "", "a b", "", "Bye !"]
