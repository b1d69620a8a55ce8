"""Language models of KenLM: their text, the words that they know, and what they answer."""

import random
from pathlib import Path

import pytest

from nmt.data.shards import BLOCK_LINES
from nmt.io.text_files import read_lines
from nmt.selection.language_models import (
    compute_log_probabilities,
    list_frequent_words,
    read_nonempty_lines,
    sample_pairs,
    train_language_model,
)
from tests import kenlm
from tests.bitexts import write_text
from tests.messages import refused
from tests.unit.selection.test_cross_entropy import IN_DOMAIN, OUT_OF_DOMAIN, random_pairs, write_shards


def write_arpa(path: Path, unigrams: dict[str, float], bigram_a_b: float) -> Path:
    lines = ["\\data\\", f"ngram 1={len(unigrams) + 1}", "ngram 2=1", "", "\\1-grams:", "-99\t<s>\t-0.25"]
    lines += [f"{value}\t{word}\t{'0' if word == '</s>' else '-0.125'}" for word, value in unigrams.items()]
    lines += ["", "\\2-grams:", f"{bigram_a_b}\ta b", "", "\\end\\"]
    return write_text(path, lines)


def test_log_probabilities_by_hand(tmp_path):
    # log10 p(a b </s>): <s> backs off to a, the bigram a b, then b backs off to </s>
    in_domain = (-0.25 - 0.5) + -0.125 + (-0.125 - 1.0)
    out_of_domain = (-0.25 - 1.5) + -1.5 + (-0.125 - 1.0)
    for domain, bigram, expected in ((IN_DOMAIN, -0.125, in_domain), (OUT_OF_DOMAIN, -1.5, out_of_domain)):
        model = write_arpa(tmp_path / "model.arpa", domain, bigram)
        first, empty, last = compute_log_probabilities(["a b", "", "a b"], model, kenlm.programs())
        assert first == last == pytest.approx(expected, abs=1e-6)
        assert empty == pytest.approx(-0.25 - 1.0, abs=1e-6)


def test_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "x.binary").write_text("no model")
    with refused():
        compute_log_probabilities(["a"] * 100_000, tmp_path / "x.binary", kenlm.programs())


def test_sample_does_not_depend_on_shards(tmp_path):
    pairs = [*random_pairs(2 * BLOCK_LINES + 500), *[("a", ""), ("", "b")] * 500]
    samples = []
    for shard_count, seed in ((1, 7), (3, 7), (3, 8)):
        shards = write_shards(tmp_path / str(shard_count), "c", pairs, shard_count)
        outputs = tmp_path / "sample.en", tmp_path / "sample.fr"
        assert sample_pairs({"c": [shard[2:] for shard in shards]}, 500, seed, *outputs) == 500
        samples.append([*zip(*map(read_lines, outputs), strict=True)])
    assert samples[0] == samples[1] != samples[2]
    assert all(source and target for source, target in samples[0])


def test_extra_text_ends_with_the_last_word_asked_for(tmp_path):
    """A line is used whole, and the number of shards does not matter."""
    lines = ["", *(f"{number} b" for number in range(2 * BLOCK_LINES))]
    shards = [
        write_text(tmp_path / "0", lines[:BLOCK_LINES] + lines[2 * BLOCK_LINES :]),
        write_text(tmp_path / "1", lines[BLOCK_LINES : 2 * BLOCK_LINES]),
    ]
    text = {"m": [write_text(tmp_path / "m", ["a"])], "n": shards}
    expected_lines = ["a", *lines[1:]]
    for max_words, line_count in {
        1: 1,
        2: 2,
        2 * BLOCK_LINES + 2: BLOCK_LINES + 2,
        None: 2 * BLOCK_LINES + 1,
    }.items():
        assert [*read_nonempty_lines(text, max_words)] == expected_lines[:line_count]


def test_models_know_their_vocabulary(tmp_path):
    generator = random.Random(3)
    texts, known_words, models = {}, {}, {}
    for name, letters in {"in": "abcdef", "out": "defghijk"}.items():
        lines = [" ".join(generator.choices(letters, k=12)) for _ in range(1000)]
        texts[name] = write_text(tmp_path / name, [*lines, "rare"])
    assert list_frequent_words([texts["in"]], 1) == [*"abcdef", "rare"]
    vocabulary = list_frequent_words([texts["in"]], 2)
    assert vocabulary == [*"abcdef"]
    for name, text in texts.items():
        for limit in (vocabulary, None):
            key = name, limit is None
            models[key] = tmp_path / f"{name}.{limit is None}.binary"
            train_language_model(
                {name: [text]}, 3, models[key], True, 500, kenlm.programs(), vocabulary=limit
            )
            known_words[key] = kenlm.known_words([*"abcdefghijk", "rare"], models[key])
    assert known_words["in", False] == {*"abcdef"} and known_words["in", True] == {*"abcdef", "rare"}
    assert known_words["out", False] == {*"def"} and known_words["out", True] == {*"defghijk", "rare"}
    # to a model with a vocabulary, all other words are one
    first, second = compute_log_probabilities(
        ["g h d", "never seen d"], models["out", False], kenlm.programs()
    )
    assert first == second


def test_model_has_its_order(tmp_path):
    """Only with trigrams, c follows a b, and e follows d b."""
    text = write_text(tmp_path / "t", ["a b c", "d b e"] * 100)
    for order in (2, 3):
        model = tmp_path / f"{order}.binary"
        train_language_model({"t": [text]}, order, model, True, 500, kenlm.programs())
        seen, unseen = compute_log_probabilities(["a b c", "a b e"], model, kenlm.programs())
        assert seen > unseen + 1 if order == 3 else seen == pytest.approx(unseen)


def test_too_little_text_is_refused(tmp_path):
    text = write_text(tmp_path / "t", ["a b c"])
    with refused():
        train_language_model({"c": [text]}, 4, tmp_path / "lm.binary", False, 500, kenlm.programs())
    assert not (tmp_path / "lm.binary").exists()
