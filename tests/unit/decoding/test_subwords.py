"""Models of subword units: what they read and write is told in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import nmt
from nmt.data.vocabulary import SubwordVocabulary
from nmt.decoding import beam_search, test_set
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import score_translations, word_log_probabilities
from nmt.decoding.test_set import align_file, translate_file
from nmt.decoding.translator import TextTranslator
from nmt.io.text_files import read_lines
from nmt.settings.decoding import ComputeOptions, TranslateOptions
from nmt.settings.model_types import ModelTypeName
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from pipeline.results.playground.page import explain_refusal
from tests.messages import check
from tests.training_settings import decoding
from tests.translators import text_settings
from tests.translators import trained_model as train_small

UNITS = [(unit, 1) for unit in ("▁a", "ab", "▁aab", "▁", "a", "b", "c")]
SOURCES = [["aab", "c", "abab"], ["b"], ["aabab", "d"]]
TARGETS = [["ab", "aab"], ["cab", "c"], []]


@pytest.fixture(scope="module", params=["rnnsearch", "rnnencdec"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model whose vocabularies are those of units."""
    model_type: ModelTypeName = request.param
    made = train_small(tmp_path_factory.mktemp("units"), model_type, size=len(UNITS))
    for side in ("source", "target"):
        SubwordVocabulary(UNITS).write(made / f"{side}.tsv")
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> TrainedModel:
    from unittest import mock

    with mock.patch.object(trained_model, "check_vocabularies"):
        return trained_model.load_model(folder, torch.device("cpu"))


def by_hand(model: TrainedModel, row: int) -> tuple[NDArray[np.float64], Any]:
    """Log-probabilities of all units of a pair, and attention."""
    batch = model.make_batch([SOURCES[row]], [TARGETS[row]])
    encoded = model.network.encode(batch.source, batch.source_lengths)
    with torch.no_grad():
        values, weights = word_log_probabilities(model.network, encoded, batch)
    return values.numpy(), None if weights is None else weights[:, 0].numpy()


@pytest.mark.parametrize("row", range(3))
def test_scores_and_attention_of_units_add_up_to_those_of_words(model: TrainedModel, row: int) -> None:
    pairs = [*zip(SOURCES, TARGETS, strict=True)]
    forced, (values, weights) = score_translations([model], pairs, 8)[row], by_hand(model, row)
    source, target = (
        model.source.word_start_indices(SOURCES[row]),
        model.target.word_start_indices(TARGETS[row]),
    )
    rows = [*zip(target, [*target[1:], target[-1] + 1], strict=True)]
    columns = [*zip(source, [*source[1:], source[-1] + 1], strict=True)]
    expected = [values[slice(*ends)].sum() for ends in rows]
    np.testing.assert_allclose(forced.word_log_probabilities, expected, rtol=1e-5)
    assert forced.log_probability == pytest.approx(values.sum(), rel=1e-5)
    if weights is None:
        assert forced.attention is None
        return
    means = [[weights[slice(*up), slice(*along)].sum(axis=1).mean() for along in columns] for up in rows]
    assert forced.attention is not None
    np.testing.assert_allclose(forced.attention, means, rtol=1e-4)
    np.testing.assert_allclose(forced.attention.sum(axis=1), 1, rtol=1e-5)


def test_translations_and_alignments_are_of_words(model: TrainedModel, tmp_path: Path) -> None:
    for side, lines in (("source", SOURCES), ("target", TARGETS)):
        (tmp_path / side).write_text("".join(" ".join(line) + "\n" for line in lines))
    search = decoding(beam=3, n_best=2, unknown="excluded")
    translate_file([model], tmp_path / "source", None, "all", search, tmp_path / "records")
    records = map(json.loads, read_lines(tmp_path / "records"))
    for found, source in zip(records, SOURCES, strict=True):
        assert found["source_unknown"] == source.count("d")
        written = len(found["tokens"]) + found["finished"]
        assert len(found["word_log_probabilities"]) == written
        if found["alignment"] is not None:
            assert np.shape(found["alignment"]) == (written, len(source) + 1)
    assert not test_set.in_vocabulary(SOURCES[2], model.source)
    align_file(model, tmp_path / "source", tmp_path / "target", 2, tmp_path / "aligned")
    assert len(list(read_lines(tmp_path / "aligned"))) == len(SOURCES)


def test_pieces_of_a_line_are_ranked_as_the_search_ranks_their_units(
    model: TrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, short = (model.target.ids([word]) for word in ("cab", "a"))
    assert len(long) > len(short)
    ranked = [
        Hypothesis(ids, per_unit * (len(ids) + 1), True, [per_unit] * (len(ids) + 1))
        for ids, per_unit in ((long, -0.8), (short, -0.9))
    ]
    monkeypatch.setattr(beam_search, "search", lambda model, encoded, **others: [ranked] * len(encoded))
    text = text_settings(decoding(normalize_by_length=True))
    options = TranslateOptions(tokenized=True, max_words=1)
    (line,) = TextTranslator([model], text, options, ComputeOptions(), n_best=2)(["a b"])
    assert line[0].tokens == ["cab", "cab"]
    assert line[0].token_scores == pytest.approx([-0.8 * len(long), -0.8] * 2)


def test_python_tells_words_and_the_playground_says_what_it_cannot(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained_model, "check_vocabularies", lambda *_: None)
    translation = nmt.load(folder).translate("aab c abab")
    assert translation.source_tokens == ["aab", "c", "abab"]
    assert len(translation.token_scores) in (len(translation.tokens), len(translation.tokens) + 1)
    if translation.attention is not None:
        assert translation.attention.shape == (len(translation.tokens), 3)
    check(explain_refusal([folder], 16, megabytes=32))
