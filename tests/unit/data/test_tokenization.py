"""Tokens are those of Moses."""

import re

import pytest
import sacremoses
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.tokenization import Tokenizer, tokenize_file
from nmt.io.text_files import read_lines
from tests.bitexts import write_text
from tests.running import run_python
from tests.translators import MOSES

UNESCAPED = MOSES.model_copy(update={"escape": False})
SPLIT_HYPHENS = MOSES.model_copy(update={"split_hyphens": True})

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
def test_english_as_moses(line, expected):
    assert Tokenizer("en", MOSES)(line) == expected


@pytest.mark.parametrize(("line", "expected"), FRENCH)
def test_french_as_moses(line, expected):
    assert Tokenizer("fr", MOSES)(line) == expected


def test_switches():
    assert Tokenizer("fr", UNESCAPED)("l'un & [x]") == "l' un & [ x ]"
    assert Tokenizer("en", SPLIT_HYPHENS)("well-known") == "well @-@ known"


def sacremoses_tokens(language: str, line: str) -> str:
    """What sacremoses alone gives; it takes for spaces what Moses deletes."""
    return " ".join(SACREMOSES[language].tokenize(re.sub("^\ufeff+|[\x1c-\x1f]", "", line)))


SACREMOSES = {language: sacremoses.MosesTokenizer(language) for language in ("en", "fr")}
# not made anew for each line, since what one line leaves in the cache must not change another
TOKENIZERS = {language: Tokenizer(language, MOSES) for language in ("en", "fr")}

CHARACTERS = st.sampled_from("aBé.,'\"-&|<[ \u00a0\u2028\x855№…!?:;()\x01") | st.characters(codec="utf-8")
WORDS = (
    "a B 7 No. no. U.S. Mr. art. A A. é ß ª. l'un (a b) \"c ' 'y x' x.' ... a... .b ,5 5, 5,5 , ,, "
    "DOTMULTI DOTDOTMULTI"
)
LINES = st.text(CHARACTERS) | st.lists(st.sampled_from(WORDS.split()) | st.text(CHARACTERS, max_size=3)).map(
    " ".join
)


@pytest.mark.parametrize("language", ["en", "fr"])
@settings(max_examples=300)
@given(line=LINES)
def test_tokens_equal_sacremoses(language, line):
    assert TOKENIZERS[language](line) == sacremoses_tokens(language, line)


def test_tokenized_file_keeps_its_lines(tmp_path):
    write_text(tmp_path / "a.zst", ["Hello, world.", "", "a\u2028b", "\x85", "Bye!"])
    assert tokenize_file(tmp_path / "a.zst", tmp_path / "b.zst", "en", MOSES) == 5
    assert list(read_lines(tmp_path / "b.zst")) == ["Hello , world .", "", "a b", "", "Bye !"]


def test_import_without_shared_memory_warns_of_nothing():
    code = (
        "import _multiprocessing\n"
        "def refuse(*_, **__): raise PermissionError(13, 'Permission denied')\n"
        "_multiprocessing.SemLock = refuse\n"
        "import nmt.data.tokenization, pipeline.results.playground.text_rules"
    )
    assert run_python("-c", code, check=True).stderr == ""
