"""Tokens back to text: what Moses' rules do, and what they lack."""

import random

import pytest

from nmt.data.detokenization import Detokenizer
from nmt.data.tokenization import RawText, Tokenizer
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
    ("en", "It begins at 12:30."),
    ("ar", "مرحبا، كيف حالك؟"),
    ("el", "Ο λόγος· και τι;"),
]
ANY_LANGUAGE = [
    ("uk", "П'ять м'ячів дерев'яні."),
    ("tr", "Saat 5'te Ankara'da."),
    ("mt", "L-iskola ta' Malta u ma' Ġanni."),
    ("nl", "'s Avonds zei hij 'nee' en 's morgens 'ja'."),
    ("haw", "Hawai'i a me ʻOkina."),
    ("he", 'צה"ל וד"ר: צ\'יפס בבית־ספר?'),
    ("fi", "EU:n 20:een asti."),
    ("ca", "La col·lecció de l'home."),
    ("de", "Die 'Katze', 1'000 Lehrer:innen, so'n Ding."),
    ("hy", "Ինչպե՞ս ես, բարև՛։"),
    ("ar", "العدد ٣٫١٤ و١٬٠٠٠؛ نعم؟"),
    ("hi", "वह डॉ॰ है।"),
    ("km", "គាត់មកហើយ៖ ល្អ។ តើអ្នកទៅណា?"),
    ("my", "၎င်းသည် သူ၏ အိမ်၊ ဟုတ်ကဲ့။"),
    ("bo", "བོད་ཡིག་སློབ་དགོས། ང་བོད་པ་ཡིན།"),
    ("am", "ሰላም፣ እንዴት ነህ።"),
    ("zh", '他说"好"然后走了。3.5公里，（2019年）！《书》'),
    ("ja", "「はい」と言った。東京（日本）へ行く！"),
    ("ko", '그는 "네"! 서울 부산.'),
    ("en", "The words 東京 大阪, 서울 부산, ᏣᎳᎩ ꮳꮃꭹ: 🇫🇷, 👍🏽, 1️⃣ or 👨‍👩‍👧!"),
]


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_detokenized_text_equals_original(language, text):
    assert Detokenizer(language, MOSES)(Tokenizer(language, MOSES)(text).split()) == text


@pytest.mark.parametrize(("language", "text"), ANY_LANGUAGE)
def test_text_of_any_language_equals_original(language, text):
    """No word has spaces within it. Text without normalization, as that of the papers, has Moses' tokens."""
    codec = RawText(language, MOSES.model_copy(update={"normalization": "punctuation"}))
    tokens = codec.tokenize(text)
    assert codec.detokenize(tokens) == text


def test_demo_french_equals_original():
    grammar = Grammar(GrammarSettings(seed=1, max_words=60, lexicon=500, zipf_exponent=1.0))
    rng = random.Random(3)
    tokenize, detokenize = Tokenizer("fr", MOSES), Detokenizer("fr", MOSES)
    for _ in range(300):
        text = grammar.generate_pair(rng).french_text()
        assert detokenize(tokenize(text).split()) == text


def test_entities_without_escaping_are_words():
    unescaped = MOSES.model_copy(update={"escape": False})
    assert Detokenizer("fr", unescaped)(["l'", "&apos;"]) == "l' &apos;"


def test_unknown_words_and_empty_lines():
    detokenize = Detokenizer("fr", MOSES)
    assert detokenize(["Le", "[UNK]", ",", "l&apos;", "[UNK]", "."]) == "Le [UNK], l' [UNK]."
    assert detokenize([]) == ""
