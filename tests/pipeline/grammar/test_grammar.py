"""The demo's grammar: French as it must be, alignments over Moses' tokens, splits that share nothing."""

from __future__ import annotations

import hashlib
import json
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from nmt.io.text_files import read_lines, read_pairs
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.corpus import sentence_pairs, split_of, write_corpus
from pipeline.grammar.elision import join_words
from pipeline.grammar.grammar import Grammar, SentencePair

DEMO = GrammarSettings(seed=1, max_words=60, lexicon=4000, zipf_exponent=1.0)
ENGLISH, FRENCH = MosesTokenizer("en"), MosesTokenizer("fr")


@cache
def sample(split: str = "train", count: int = 6000) -> list[SentencePair]:
    return list(sentence_pairs(DEMO, split, count))  # type: ignore[arg-type]


def french_of(*words: str) -> list[str]:
    return [word for word, _ in join_words([(word, ()) for word in words])]


# --- sounds -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("le homme", "l' homme"),
        ("le héros", "le héros"),
        ("de les amis", "des amis"),
        ("à les reines", "aux reines"),
        ("près de des arbres", "près d' arbres"),
        ("sa image", "son image"),
        ("si il", "s' il"),
        ("si Alice", "si Alice"),
        ("parce que elle ne a pas", "parce qu' elle n' a pas"),
    ],
)
def test_words_meet_as_in_french(parts: str, expected: str) -> None:
    assert " ".join(french_of(*parts.split())) == expected


def test_contraction_keeps_the_links_of_both_words() -> None:
    assert join_words([("de", (3,)), ("le", (4,)), ("roi", (5,))]) == [("du", (3, 4)), ("roi", (5,))]


# --- alignments and tokens ----------------------------------------------------


@pytest.mark.parametrize(
    ("split", "count", "expected"),
    [
        ("train", 6000, "2dbb166bc6d63dcd245f3f27c561f101ef99b35941d09d49bf7605af80c02554"),
        ("dev", 500, "3b57f5d319cb501b93298ba3fd44ab61452ef5554880a558950145450dc737d5"),
        ("test", 500, "04870fb4eca2e5e8c80ac45efe748bf4266d84c2f6c4333eadec1b3b9e1bc7ff"),
    ],
)
def test_the_demos_text_stays_as_it_is(split: str, count: int, expected: str) -> None:
    """Trained models of the demo depend on it: any other word, link or order would train them again."""
    lines = (
        f"{pair.english_text()}\t{pair.french_text()}\t{pair.pharaoh()}\n" for pair in sample(split, count)
    )
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == expected


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 3000), draw=st.integers(0, 10_000))
def test_text_tokenizes_to_the_tokens_of_the_alignment(seed: int, size: int, draw: int) -> None:
    grammar = Grammar(GrammarSettings(seed=seed, max_words=60, lexicon=size, zipf_exponent=0.3))
    rng = random.Random(draw)
    for _ in range(10):
        pair = grammar.sentence(rng)
        for tokenizer, tokens, text in (
            (ENGLISH, pair.english, pair.english_text()),
            (FRENCH, pair.french, pair.french_text()),
        ):
            assert tokenizer.tokenize(text, escape=True) == [t.replace("'", "&apos;") for t in tokens]
        assert text[0].isupper() and text.endswith(".") and "  " not in text and " '" not in text


def test_one_english_sentence_has_one_french_one_and_one_alignment() -> None:
    short = GrammarSettings(seed=3, max_words=12, lexicon=1, zipf_exponent=1.0)
    grammar, rng = Grammar(short), random.Random(5)
    translations: dict[str, tuple[str, str]] = {}
    repeated = 0
    for _ in range(40_000):
        pair = grammar.sentence(rng)
        translation = pair.french_text(), pair.pharaoh()
        repeated += pair.english_text() in translations
        assert translations.setdefault(pair.english_text(), translation) == translation, pair.english_text()
    assert repeated > 1000


# --- lengths, splits, determinism ---------------------------------------------


@pytest.mark.parametrize("limit", [12, 20, 50])
def test_english_stays_within_the_limit(limit: int) -> None:
    short = GrammarSettings(seed=2, max_words=limit, lexicon=100, zipf_exponent=1.2)
    assert max(len(pair.english) for pair in sentence_pairs(short, "train", 1500)) <= limit


def test_splits_share_no_sentence_and_hold_no_duplicate() -> None:
    splits = "train", "dev", "test"
    english = {split: [pair.english_text() for pair in sample(split, 2000)] for split in splits}
    for split, sentences in english.items():
        assert {split_of(sentence) for sentence in sentences} == {split}
    assert len(set(english["dev"])) == len(set(english["test"])) == 2000
    assert not set(english["train"]) & set(english["test"])
    assert not set(english["dev"]) & set(english["test"])


def test_a_longer_draw_begins_with_the_shorter_and_seeds_differ() -> None:
    texts = [pair.english_text() for pair in sentence_pairs(DEMO, "test", 40)]
    assert texts[:20] == [pair.english_text() for pair in sentence_pairs(DEMO, "test", 20)]
    other = DEMO.model_copy(update={"seed": 2})
    assert not set(texts) & {pair.english_text() for pair in sentence_pairs(other, "test", 40)}


# --- the subcommand -----------------------------------------------------------


def write(folder: Path, pairs: int, shards: int) -> None:
    """Write training text as the rule does."""
    sides = [[folder / f"{shard}.{side}.zst" for shard in range(shards)] for side in ("en", "fr", "align")]
    write_corpus(DEMO, "train", pairs, *sides, folder / "counts.json")


def test_the_text_is_the_same_for_any_number_of_shards(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, 12_500, 1)
    write(two, 12_500, 2)
    for extension in ("en", "fr", "align"):
        whole = list(read_lines(one / f"0.{extension}.zst"))
        assert list(read_lines(two / f"0.{extension}.zst")) == whole[:10_000]
        assert list(read_lines(two / f"1.{extension}.zst")) == whole[10_000:]
    assert (one / "counts.json").read_bytes() == (two / "counts.json").read_bytes()
    pairs = list(read_pairs(one / "0.en.zst", one / "0.fr.zst"))
    assert json.loads((one / "counts.json").read_text()) == {
        "pairs": 12_500,
        "source_words": sum(len(english.split()) for english, _ in pairs),
        "target_words": sum(len(french.split()) for _, french in pairs),
    }
