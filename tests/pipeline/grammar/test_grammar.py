"""The demo's grammar: French forms, alignments over Moses' tokens, splits that share nothing."""

import hashlib
import json
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from nmt.io.text_files import read_lines
from pipeline.config.catalogue import GrammarSettings, Split
from pipeline.grammar.corpus import generate_pairs, write_corpus
from pipeline.grammar.grammar import Grammar, SentencePair

DEMO = GrammarSettings(seed=1, max_words=60, lexicon=4000, zipf_exponent=1.0)
ENGLISH, FRENCH = MosesTokenizer("en"), MosesTokenizer("fr")


@cache
def demo_pairs(split: Split, count: int) -> list[SentencePair]:
    return list(generate_pairs(DEMO, split, count))


def english_texts(pairs: Iterable[SentencePair]) -> list[str]:
    return [pair.english_text() for pair in pairs]


# --- alignments and tokens ----------------------------------------------------


@pytest.mark.parametrize(
    ("split", "count", "expected"),
    [
        ("train", 6000, "2dbb166bc6d63dcd245f3f27c561f101ef99b35941d09d49bf7605af80c02554"),
        ("dev", 500, "3b57f5d319cb501b93298ba3fd44ab61452ef5554880a558950145450dc737d5"),
        ("test", 500, "04870fb4eca2e5e8c80ac45efe748bf4266d84c2f6c4333eadec1b3b9e1bc7ff"),
    ],
)
def test_demo_text_is_unchanged(split, count, expected):
    """Trained models of the demo depend on it: any other word, link or order would train them again."""
    lines = (
        f"{pair.english_text()}\t{pair.french_text()}\t{pair.format_pharaoh()}\n"
        for pair in demo_pairs(split, count)
    )
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == expected


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), lexicon_size=st.integers(1, 3000), text_seed=st.integers(0, 10_000))
def test_text_tokenizes_to_aligned_tokens(seed, lexicon_size, text_seed):
    grammar = Grammar(GrammarSettings(seed=seed, max_words=60, lexicon=lexicon_size, zipf_exponent=0.3))
    rng = random.Random(text_seed)
    for _ in range(10):
        pair = grammar.generate_pair(rng)
        for tokenizer, tokens, text in (
            (ENGLISH, pair.english, pair.english_text()),
            (FRENCH, pair.french, pair.french_text()),
        ):
            escaped_tokens = [token.replace("'", "&apos;") for token in tokens]
            assert tokenizer.tokenize(text, escape=True) == escaped_tokens
            assert text[0].isupper() and text.endswith(".") and "  " not in text and " '" not in text


# --- lengths, splits, determinism ---------------------------------------------


@pytest.mark.parametrize("max_words", [12, 50])
def test_english_stays_within_max_words(max_words):
    grammar = GrammarSettings(seed=2, max_words=max_words, lexicon=100, zipf_exponent=1.2)
    assert max(len(pair.english) for pair in generate_pairs(grammar, "train", 1500)) <= max_words


def test_splits_share_no_sentence():
    train, dev, test = (set(english_texts(demo_pairs(split, 2000))) for split in ("train", "dev", "test"))
    assert not (train & dev or train & test or dev & test)
    assert len(dev) == len(test) == 2000


# --- files --------------------------------------------------------------------


def write_train_text(folder: Path, pairs: int, shard_count: int) -> None:
    """Write training text as the rule does."""
    sides = [
        [folder / f"{shard}.{side}.zst" for shard in range(shard_count)] for side in ("en", "fr", "align")
    ]
    write_corpus(DEMO, "train", pairs, *sides, folder / "counts.json")


def test_text_is_equal_for_any_number_of_shards(tmp_path):
    whole_text, halves = tmp_path / "whole", tmp_path / "halves"
    write_train_text(whole_text, 12_500, 1)
    write_train_text(halves, 12_500, 2)
    for extension in ("en", "fr", "align"):
        lines = list(read_lines(whole_text / f"0.{extension}.zst"))
        assert list(read_lines(halves / f"0.{extension}.zst")) == lines[:10_000]
        assert list(read_lines(halves / f"1.{extension}.zst")) == lines[10_000:]
    assert (whole_text / "counts.json").read_bytes() == (halves / "counts.json").read_bytes()
    source_words = sum(len(line.split()) for line in read_lines(whole_text / "0.en.zst"))
    counts = json.loads((whole_text / "counts.json").read_text())
    assert (counts["pairs"], counts["source_words"]) == (12_500, source_words)
