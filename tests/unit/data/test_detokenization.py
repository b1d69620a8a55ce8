"""From tokens to text: what Moses' rules do, what they lack for French, and real sentences there and back."""

from __future__ import annotations

import random

import pytest

from nmt.data.tokenization import Detokenizer, Tokenizer
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.grammar import Grammar
from tests.translators import MOSES

FRENCH = [
    "L'homme d'Alice n'aime pas l'été, et qu'il dit : « Bonjour ! » (50 %).",
    "Aujourd'hui, a-t-il dit, c'est l'heure ; n'est-ce pas ?",
    'Il a dit "oui", puis "non" : [peut-être] & < jamais > | 3,50.',
    "Il coûte 5 € par jour, ou 90 M$ l'année dernière, 82 ¢ par action ; même d'1 cent.",
    "À 160 km/h en 2011/12, dit S&P de Johnson & Johnson, d'AT&T et de 7,5 Md£ / 2.",
    "Qu’est-ce que c’est ? L’un d’eux, aujourd’hui.",
    "Ils paient 10 000 £",
    "Le Val-d’Oise, l'« ami » et l’“été” de 1’000 ans, n° 5.",
]
ENGLISH = [
    "Alice's dog doesn't bark, it's \"fine\" (really).",
    "The boys' books cost $5 & 3%.",
    "It’s what they’re saying: “yes” and “no”.",
    "The boys’ books.",
    "It costs $5 or 82¢ a share at 100 km/h, says S&P of Johnson & Johnson.",
]
OTHERS = [
    ("it", "Un po' di tempo, un po’ dell’anno, “così” e «così»."),
    ("ca", "L’home d'ell."),
    ("hi", "वह लड़का है।"),
    ("bn", "সে একটি ছেলে।"),
    ("ru", "Это «да», «нет»."),
    ("cs", "Je to „ano“."),
]


@pytest.mark.parametrize(
    ("language", "text"),
    [*(("fr", text) for text in FRENCH), *(("en", text) for text in ENGLISH), *OTHERS],
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
