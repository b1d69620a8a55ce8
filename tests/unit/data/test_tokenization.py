"""Tokens as Moses makes them, and back to text: what Moses' rules do, and what they lack."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import sacremoses
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data import tokenization
from nmt.data.detokenization import Detokenizer
from nmt.data.tokenization import Tokenizer, tokenize_file
from nmt.io.text_files import read_lines
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.grammar import Grammar
from tests.bitexts import write_text
from tests.running import MIRROR, NO_MIRROR, ROOT
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
def test_english_as_moses(line: str, expected: str) -> None:
    assert Tokenizer("en", MOSES)(line) == expected


@pytest.mark.parametrize(("line", "expected"), FRENCH)
def test_french_as_moses(line: str, expected: str) -> None:
    assert Tokenizer("fr", MOSES)(line) == expected


def test_switches() -> None:
    assert Tokenizer("fr", UNESCAPED)("l'un & [x]") == "l' un & [ x ]"
    assert Tokenizer("en", SPLIT_HYPHENS)("well-known") == "well @-@ known"


def stock(language: str, line: str) -> str:
    """What sacremoses alone gives; it takes for spaces what Moses deletes."""
    return " ".join(STOCK[language].tokenize(re.sub("[\x1c-\x1f]", "", line)))


STOCK = {language: sacremoses.MosesTokenizer(language) for language in ("en", "fr")}
# never made anew: what one line leaves behind must not change another
LONG_LIVED = {language: Tokenizer(language, MOSES) for language in ("en", "fr")}

CHARACTERS = st.sampled_from("aBé.,'\"-&|<[ \u00a0\u2028\x855№…!?:;()\x01") | st.characters(codec="utf-8")
WORDS = st.one_of(
    st.sampled_from(["a", "B", "7", "No.", "no.", "U.S.", "Mr.", "art.", "A", "A.", "é", "ß", "ª.", "l'un"]),
    st.sampled_from(
        ["(a", "b)", '"c', "'", "'y", "x'", "x.'", "...", "a...", ".b", ",5", "5,", "5,5", ",", ",,"]
    ),
    st.sampled_from(["DOTMULTI", "DOTDOTMULTI"]),
)
LINES = st.text(CHARACTERS) | st.lists(WORDS | st.text(CHARACTERS, max_size=3)).map(" ".join)


@pytest.mark.parametrize("language", ["en", "fr"])
@settings(max_examples=300)
@given(line=LINES)
def test_tokens_are_those_of_sacremoses(language: str, line: str) -> None:
    assert LONG_LIVED[language](line) == stock(language, line)


def test_remembering_few_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenization, "_CACHED_WORDS", 8)
    tokenizer = Tokenizer("en", MOSES)
    lines = [f"(a{i}) b{i}, c{i % 3}. d{i}! e." for i in range(50)]
    assert [tokenizer(line) for line in lines] == [stock("en", line) for line in lines]


@pytest.mark.skipif(not MIRROR.is_dir(), reason=NO_MIRROR)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_real_text_gives_the_tokens_of_sacremoses(language: str) -> None:
    with tarfile.open(MIRROR / "wmt14" / "training-parallel-nc-v9.tgz") as archive:
        member = archive.extractfile(f"training/news-commentary-v9.fr-en.{language}")
        assert member is not None
        lines = member.read().decode("utf-8", errors="replace").split("\n")
    tokenizer = Tokenizer(language, MOSES)
    assert [tokenizer(line) for line in lines] == [stock(language, line) for line in lines]


def test_a_file_keeps_its_lines(tmp_path: Path) -> None:
    lines = ["Hello, world.", "", "a\u2028b", "\x85", "Bye!"]
    write_text(tmp_path / "a.zst", lines)
    assert tokenize_file(tmp_path / "a.zst", tmp_path / "b.zst", "en", MOSES) == 5
    assert [*read_lines(tmp_path / "b.zst")] == ["Hello , world .", "", "a b", "", "Bye !"]


def test_shared_memory_that_cannot_be_written_is_not_a_warning_of_every_command() -> None:
    refuse = (
        "import _multiprocessing\n"
        "def refuse(*_, **__): raise PermissionError(13, 'Permission denied')\n"
        "_multiprocessing.SemLock = refuse\n"
        "import nmt.data.tokenization, nmt.data.tokenization, pipeline.results.playground.moses"
    )
    done = subprocess.run(
        [sys.executable, "-c", refuse], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


WRITTEN_FRENCH = [
    "L'homme d'Alice n'aime pas l'été, et qu'il dit : « Bonjour ! » (50 %).",
    "Aujourd'hui, a-t-il dit, c'est l'heure ; n'est-ce pas ?",
    'Il a dit "oui", puis "non" : [peut-être] & < jamais > | 3,50.',
    "Il coûte 5 € par jour, ou 90 M$ l'année dernière, 82 ¢ par action ; même d'1 cent.",
    "À 160 km/h en 2011/12, dit S&P de Johnson & Johnson, d'AT&T et de 7,5 Md£ / 2.",
    "Qu’est-ce que c’est ? L’un d’eux, aujourd’hui.",
    "Ils paient 10 000 £",
    "Le Val-d’Oise, l'« ami » et l’“été” de 1’000 ans, n° 5.",
]
WRITTEN_ENGLISH = [
    "Alice's dog doesn't bark, it's \"fine\" (really).",
    "The boys' books cost $5 & 3%.",
    "It’s what they’re saying: “yes” and “no”.",
    "The boys’ books.",
    "It costs $5 or 82¢ a share at 100 km/h, says S&P of Johnson & Johnson.",
]
WRITTEN_IN_OTHERS = [
    ("it", "Un po' di tempo, un po’ dell’anno, “così” e «così»."),
    ("ca", "L’home d'ell."),
    ("hi", "वह लड़का है।"),
    ("bn", "সে একটি ছেলে।"),
    ("ru", "Это «да», «нет»."),
    ("cs", "Je to „ano“."),
]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        *(("fr", text) for text in WRITTEN_FRENCH),
        *(("en", text) for text in WRITTEN_ENGLISH),
        *WRITTEN_IN_OTHERS,
    ],
)
def test_text_comes_back_as_it_was(language: str, text: str) -> None:
    assert Detokenizer(language, MOSES)(Tokenizer(language, MOSES)(text).split()) == text


def test_private_characters_stay_what_they_are() -> None:
    """Those of the source that were copied into the text."""
    assert Detokenizer("fr", MOSES)(["\ue000", "\ue001", "5", "€", "\ue003"]) == "\ue000 \ue001 5 € \ue003"


def test_the_demos_french_comes_back_as_it_was() -> None:
    grammar = Grammar(GrammarSettings(seed=1, max_words=60, lexicon=500, zipf_exponent=1.0))
    rng = random.Random(3)
    tokenize, detokenize = Tokenizer("fr", MOSES), Detokenizer("fr", MOSES)
    for _ in range(300):
        text = grammar.sentence(rng).french_text()
        assert detokenize(tokenize(text).split()) == text


def test_without_escaping_entities_are_words() -> None:
    plain = MOSES.model_copy(update={"escape": False})
    assert Detokenizer("fr", plain)(["l'", "&apos;"]) == "l' &apos;"
    assert Detokenizer("fr", MOSES)(["l&apos;", "un"]) == "l'un"
    assert Detokenizer("fr", MOSES)([]) == ""


def test_the_unknown_word_stays_one() -> None:
    assert Detokenizer("fr", MOSES)(["Le", "[UNK]", ",", "l&apos;", "[UNK]", "."]) == "Le [UNK], l' [UNK]."
