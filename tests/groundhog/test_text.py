"""Vocabulary, ids and batches are those of the authors' own code."""

import json
from itertools import islice

import pytest

from nmt.data.batches import PairsWithinLimit, training_batches
from nmt.data.vocabulary import build_vocabulary, count_words
from tests.authors_numbers import (
    ID_COUNT,
    list_pairs,
)
from tests.bitexts import write_bitext

UPDATES, BATCH_SIZE, BATCHES_PER_SORT, MAX_WORDS = 100, 10, 4, 9
"""The training in programs/models.py."""


@pytest.mark.parametrize("side", ["source", "target"])
def test_vocabulary_and_ids_are_groundhogs(groundhog, side, tmp_path):
    text = groundhog.make_text()
    theirs = json.loads((text / f"{side}.vocabulary.json").read_text())
    special_ids = {word: theirs.pop(word) for word in ("<s>", "</s>", "UNK")}
    assert special_ids == {"<s>": 0, "</s>": 0, "UNK": 1}

    counts = count_words([text / side])
    frequencies = sorted(counts.values(), reverse=True)[:18]
    assert len(set(frequencies)) == 18, "equally frequent words have no defined order there"
    vocabulary = build_vocabulary(counts, ID_COUNT - 1, specials_included=True, output=tmp_path / "words")
    ours = {word: vocabulary.ids([word])[0] for word in counts if word in vocabulary}
    assert ours == theirs
    lines = (text / side).read_text().splitlines()
    assert [vocabulary.ids(line.split()) for line in lines] == json.loads(
        (text / f"{side}.ids.json").read_text()
    )


def test_what_groundhog_takes_for_words(groundhog, tmp_path):
    """An empty line has a word there, an unknown one. Names of special symbols have their ids, if they are rare."""
    lines = [["a", "a", "b"], [], ["a", "</s>", "UNK", "z"], *[["a", "b"]] * 20]
    lines += [[f"word{number}"] * 2 for number in range(16)]
    groundhog.prepare_text(tmp_path, lines, lines)
    ids = json.loads((tmp_path / "source.ids.json").read_text())
    assert ids[:3] == [[2, 2, 3], [1], [2, 0, 1, 1]]


def test_batches_are_groundhogs(groundhog, tmp_path):
    """Pairs of equal length have no defined order there, so batches are compared by their lengths."""
    results = groundhog.load("training", "rnnencdec")
    text = groundhog.make_text()
    sides = [json.loads((text / f"shuffled.{side}.json").read_text()) for side in ("source", "target")]
    bitext = write_bitext(tmp_path, list(zip(*sides, strict=True)))
    pairs = PairsWithinLimit(bitext, MAX_WORDS)
    assert 2 * len(pairs) < UPDATES * BATCH_SIZE and len(pairs) < len(bitext) - 20

    batches = islice(training_batches(pairs, BATCH_SIZE, BATCHES_PER_SORT, True, 0), UPDATES)
    ours, theirs = [], []
    for number, batch in enumerate(batches):
        for column, lengths in enumerate(zip(batch.source_lengths, batch.target_lengths, strict=True)):
            sentences = (batch.source[: lengths[0], column], batch.target[: lengths[1], column])
            ours.append((sentences[0].tolist(), sentences[1].tolist()))
        theirs += list_pairs(results, f"batch/{number}/")
        if (number + 1) % BATCHES_PER_SORT == 0:
            longer = [[max(map(len, pair)) for pair in side] for side in (ours, theirs)]
            assert longer[0] == longer[1]
            assert sorted(ours) == sorted(theirs)
            ours, theirs = [], []


def test_shuffled_text_is_a_permutation(groundhog):
    """There and here the text is shuffled once, pair by pair, before the training."""
    text = groundhog.make_text()
    before = [json.loads((text / f"{side}.ids.json").read_text()) for side in ("source", "target")]
    after = [json.loads((text / f"shuffled.{side}.json").read_text()) for side in ("source", "target")]
    pairs_before, pairs_after = list(zip(*before, strict=True)), list(zip(*after, strict=True))
    assert pairs_before != pairs_after and sorted(pairs_before) == sorted(pairs_after)
