"""What is done to text before it is tokenized: one letter in several writings is one letter."""

from __future__ import annotations

import unicodedata

import pytest

from nmt.data.normalization import normalize
from nmt.data.tokenization import RawText, Tokenizer
from nmt.settings.text import Tokenization
from tests.translators import MOSES

PUNCTUATION = MOSES.model_copy(update={"normalization": "punctuation"})
FRENCH = "L'école où l'élève âgé a fêté Noël."


@pytest.mark.parametrize(
    "line",
    [
        unicodedata.normalize("NFD", FRENCH),
        FRENCH.replace("'", "’"),
        FRENCH.replace("'", "\u02bc"),
        "\ufeff" + FRENCH.replace("é", "\u00ad\u2060é"),
        FRENCH.replace("l", "l\u200d\u200b"),
        FRENCH.replace(" ", "\u200e \u202c"),
        FRENCH.replace("e", "e\x7f\x92"),
    ],
)
def test_all_writings_are_the_same_tokens(line: str) -> None:
    assert Tokenizer("fr", PUNCTUATION)(line) == Tokenizer("fr", MOSES)(FRENCH)
    assert Tokenizer("fr", MOSES)(line) != Tokenizer("fr", MOSES)(FRENCH)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fa", "کتاب\u200cها را می\u200cخواند"),
        ("ml", "അവന\u0d4d\u200d വന്നു"),
        ("km", "ខ្ញុំ\u200bទៅ ផ្សារ"),
        ("th", "น้ำท่วม ไม่"),
        ("yo", "ẹ\u0301kọ\u0301 kan"),
        ("lt", "la\u0303pas"),
    ],
)
def test_joiners_and_marks_stay_in_their_word(language: str, words: str) -> None:
    assert Tokenizer(language, PUNCTUATION)(words) == unicodedata.normalize("NFC", words)


def test_quotes_stay_unless_they_are_asked_for() -> None:
    assert normalize("« l’e\u0301te\u0301 »", "unicode") == "« l’été »"
    assert normalize("« l’e\u0301te\u0301 »…", "punctuation") == '" l\'été "...'
    assert normalize("l’e\u0301te\u0301\u200b", "none") == "l’e\u0301te\u0301\u200b"


def test_text_without_normalization_has_the_settings_that_it_always_had() -> None:
    assert "normalization" not in MOSES.model_dump() and '"normalization"' in PUNCTUATION.model_dump_json()


@pytest.mark.parametrize("settings", [MOSES, PUNCTUATION])
def test_an_unknown_word_that_was_printed_is_one_unknown_word(settings: Tokenization) -> None:
    raw = RawText("fr", settings)
    for tokens in (["L&apos;", "[UNK]", "chante", "."], ["[UNK]"], ["Une", "[UNK]", ",", "et", "[UNK]", "."]):
        assert raw.tokenize(raw.detokenize(tokens)) == tokens
