"""One letter that is written in several ways is one letter after normalization."""

import unicodedata

import pytest

from nmt.data.normalization import normalize
from nmt.data.tokenization import RawText, Tokenizer
from tests.translators import MOSES

PUNCTUATION = MOSES.model_copy(update={"normalization": "punctuation"})
FRENCH = "L'école où l'élève âgé a fêté Noël."


@pytest.mark.parametrize(
    "line",
    [
        unicodedata.normalize("NFD", FRENCH),
        FRENCH.replace("'", "’"),
        FRENCH.replace("'", "\u02bc"),
        FRENCH.replace("'", "\u2032"),
        "\ufeff" + FRENCH.replace("é", "\u00ad\u2060é"),
        FRENCH.replace("l", "l\u200d\u200b"),
        FRENCH.replace(" ", "\u200e \u202c"),
        FRENCH.replace("e", "e\x7f\x92"),
        FRENCH.replace("e", "e\u180e\ufe00\u3164\U000e0100"),
    ],
)
def test_normalized_text_has_the_same_tokens(line):
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
        ("mn", "ᠬᠠᠷ\u180eᠠ"),
    ],
)
def test_joiners_and_marks_stay_in_words(language, words):
    assert Tokenizer(language, PUNCTUATION)(words) == unicodedata.normalize("NFC", words)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "東京 서울 🇫🇷 👍🏽 1️⃣ 👨\u200d👩\u200d👧 ❤️"),
        ("ff", "𞤀𞤣𞤤𞤢𞤥"),
        ("ka", "ᲥᲐᲠᲗᲣᲚᲘ"),
        ("chr", "ꮳꮃꭹ"),
        ("uk", "п'ять"),
        ("mt", "ta' 'l"),
        ("sv", "EU:s"),
        ("hy", "Ինչպե՞ս"),
        ("my", "၎င်း"),
    ],
)
def test_words_stay_whole(language, words):
    assert Tokenizer(language, PUNCTUATION)(words) == words.replace("'", "&apos;")


def test_quotation_marks_do_not_join_korean_words():
    assert RawText("ko", PUNCTUATION).tokenize("‘평화’를 위한") == ["&apos;", "평화", "&apos;", "를", "위한"]


def test_line_may_have_more_emoji_than_placeholders():
    flags = [chr(0x1F1E6 + i // 26) + chr(0x1F1E6 + i % 26) for i in range(300)]
    tokens = Tokenizer("en", PUNCTUATION)(" ".join([*flags, flags[0]]))
    assert tokens.split()[:256] == flags[:256]


def test_mark_at_the_start_of_any_line_is_left_out():
    """Training text is cleaned of it; so is each line that a model translates."""
    assert Tokenizer("en", MOSES)("\ufeff\ufeffThe king.") == "The king ."
    assert RawText("en", MOSES).tokenize("\ufeffThe king.") == ["The", "king", "."]


def test_forms_of_normalization():
    assert normalize("« l’e\u0301te\u0301 »", "unicode") == "« l’été »"
    assert normalize("« l’e\u0301te\u0301 »…", "punctuation") == '" l\'été "...'
    assert normalize("l’e\u0301te\u0301\u200b", "none") == "l’e\u0301te\u0301\u200b"


@pytest.mark.parametrize("settings", [MOSES, PUNCTUATION])
def test_printed_unknown_words_are_read_again(settings):
    text = RawText("fr", settings)
    for tokens in (["L&apos;", "[UNK]", "chante", "."], ["[UNK]"], ["Une", "[UNK]", ",", "et", "[UNK]", "."]):
        assert text.tokenize(text.detokenize(tokens)) == tokens
