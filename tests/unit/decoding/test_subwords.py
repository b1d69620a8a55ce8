"""Models of subword units: what they read and write is told in words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import nmt
from nmt.data.vocabulary import Vocabulary
from nmt.decoding.forced_decoding import compute_word_log_probabilities, score_translations
from nmt.decoding.sentence_sets import translate_file
from nmt.io.text_files import read_lines
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from pipeline.results.playground.page import explain_refusal
from tests.bitexts import write_text
from tests.messages import check
from tests.training_settings import decoding
from tests.translators import trained_model as train_small

UNITS = [(unit, 1) for unit in ("▁a", "ab", "▁aab", "▁", "a", "b", "c")]
SOURCES = [["aab", "c", "abab"], ["b"], ["aabab", "d"]]
TARGETS = [["ab", "aab"], ["cab", "c"], []]


@pytest.fixture(scope="module", params=["rnnsearch", "rnnencdec"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model whose vocabularies are those of units."""
    folder = train_small(tmp_path_factory.mktemp("units"), request.param, size=len(UNITS))
    for side in ("source", "target"):
        Vocabulary(UNITS, has_subwords=True).write(folder / f"{side}.tsv")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> TrainedModel:
    with mock.patch.object(trained_model, "check_vocabularies"):
        return trained_model.load_model(folder, torch.device("cpu"))


@torch.no_grad()
def score_units(model: TrainedModel, row: int) -> tuple[NDArray[np.float64], Any]:
    """Log-probabilities of all units of a pair, and attention."""
    batch = model.make_batch([SOURCES[row]], [TARGETS[row]])
    encoded = model.network.encode(batch.source, batch.source_lengths)
    log_probs, weights = compute_word_log_probabilities(model.network, encoded, batch)
    return log_probs.numpy(), None if weights is None else weights[:, 0].numpy()


def word_slices(start_indices: list[int]) -> list[slice]:
    """The units of each word and of the end symbol."""
    ends = [*start_indices[1:], start_indices[-1] + 1]
    return [slice(start, end) for start, end in zip(start_indices, ends, strict=True)]


@pytest.mark.parametrize("row", range(3))
def test_scores_of_units_add_up_to_those_of_words(model, row):
    scores = score_translations([model], [*zip(SOURCES, TARGETS, strict=True)], 8)[row]
    unit_scores, unit_attention = score_units(model, row)
    target_slices = word_slices(model.target_vocabulary.word_start_indices(TARGETS[row]))
    expected = [unit_scores[units].sum() for units in target_slices]
    np.testing.assert_allclose(scores.word_log_probabilities, expected, rtol=1e-5)
    assert (scores.attention is None) == (unit_attention is None)
    if scores.attention is not None:
        source_slices = word_slices(model.source_vocabulary.word_start_indices(SOURCES[row]))
        expected = [
            [unit_attention[target_units, units].sum(axis=1).mean() for units in source_slices]
            for target_units in target_slices
        ]
        np.testing.assert_allclose(scores.attention, expected, rtol=1e-4)
        np.testing.assert_allclose(scores.attention.sum(axis=1), 1, rtol=1e-5)


def test_attention_to_a_source_without_words(model):
    """If the model does not read the end symbol of the source, either, it has a row for each word and no column."""
    architecture = model.run.architecture.model_copy(update={"source_eos": False})
    model = replace(model, run=model.run.model_copy(update={"architecture": architecture}))
    (scores,) = score_translations([model], [([], ["ab", "cab"])], 1)
    assert scores.attention is None or scores.attention.shape == (3, 0)


def test_files_are_of_words(model, tmp_path):
    source = write_text(tmp_path / "source", map(" ".join, SOURCES))
    search = decoding(beam=3, n_best=2, unknown="excluded")
    translate_file([model], source, None, "all", search, tmp_path / "translations")
    entries = map(json.loads, read_lines(tmp_path / "translations"))
    for entry, source_words in zip(entries, SOURCES, strict=True):
        assert entry["source_unknown"] == source_words.count("d")
        word_count = len(entry["tokens"]) + entry["finished"]
        assert len(entry["word_log_probabilities"]) == word_count
        if entry["alignment"] is not None:
            assert np.shape(entry["alignment"]) == (word_count, len(source_words) + 1)


def test_python_and_playground(folder, monkeypatch):
    monkeypatch.setattr(trained_model, "check_vocabularies", lambda *_: None)
    translation = nmt.load(folder).translate("aab c abab")
    assert translation.source_tokens == ["aab", "c", "abab"]
    assert len(translation.token_scores) == len(translation.tokens) + translation.finished
    if translation.attention is not None:
        assert translation.attention.shape == (len(translation.tokens), 3)
    check(explain_refusal([folder], 16, megabytes=32))
