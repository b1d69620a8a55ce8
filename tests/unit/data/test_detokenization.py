"""Tokens back to text: what Moses' rules do, and what they lack."""

import random

import pytest

from nmt.data.detokenization import Detokenizer
from nmt.data.tokenization import Tokenizer
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.grammar import Grammar
from tests.translators import MOSES

TEXTS = [
    ("fr", "L'homme d'Alice n'aime pas l'été, et qu'il dit : « Bonjour ! » (50 %)."),
    ("fr", "Aujourd'hui, a-t-il dit, c'est l'heure ; n'est-ce pas ?"),
    ("fr", 'Il a dit "oui", puis "non" : [peut-être] & < jamais > | 3,50.'),
    ("fr", "Il coûte 5 € par jour, ou 90 M$ l'année dernière, 82 ¢ par action ; même d'1 cent."),
    ("fr", "À 160 km/h en 2011/12, dit S&P de Johnson & Johnson, d'AT&T et de 7,5 Md£ / 2."),
    ("fr", "Qu’est-ce que c’est ? L’un d’eux, aujourd’hui."),
    ("fr", "Ils paient 10 000 £"),
    ("fr", "Le Val-d’Oise, l'« ami » et l’“été” de 1’000 ans, n° 5."),
    ("en", "Alice's dog doesn't bark, it's \"fine\" (really)."),
    ("en", "The boys' books cost $5 & 3%."),
    ("en", "It’s what they’re saying: “yes” and “no”."),
    ("en", "The boys’ books."),
    ("en", "It costs $5 or 82¢ a share at 100 km/h, says S&P of Johnson & Johnson."),
    ("it", "Un po' di tempo, un po’ dell’anno, “così” e «così»."),
    ("ca", "L’home d'ell."),
    ("hi", "वह लड़का है।"),
    ("bn", "সে একটি ছেলে।"),
    ("ru", "Это «да», «нет»."),
    ("cs", "Je to „ano“."),
]


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_detokenized_text_equals_original(language: str, text: str) -> None:
    assert Detokenizer(language, MOSES)(Tokenizer(language, MOSES)(text).split()) == text


def test_demo_french_equals_original() -> None:
    grammar = Grammar(GrammarSettings(seed=1, max_words=60, lexicon=500, zipf_exponent=1.0))
    rng = random.Random(3)
    tokenize, detokenize = Tokenizer("fr", MOSES), Detokenizer("fr", MOSES)
    for _ in range(300):
        text = grammar.generate_pair(rng).french_text()
        assert detokenize(tokenize(text).split()) == text


def test_entities_without_escaping_are_words() -> None:
    unescaped = MOSES.model_copy(update={"escape": False})
    assert Detokenizer("fr", unescaped)(["l'", "&apos;"]) == "l' &apos;"


def test_unknown_words_and_empty_lines() -> None:
    detokenize = Detokenizer("fr", MOSES)
    assert detokenize(["Le", "[UNK]", ",", "l&apos;", "[UNK]", "."]) == "Le [UNK], l' [UNK]."
    assert detokenize([]) == ""
