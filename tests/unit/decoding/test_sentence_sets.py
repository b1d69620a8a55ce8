"""Translating files: what is written, in which order, and for which sentences; the subcommands as a user calls them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.data.vocabulary import UNKNOWN
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.sentence_sets import (
    align_file,
    translate_file,
)
from nmt.evaluation.translations import read_provenance
from nmt.io.files import sha256, write_json
from nmt.io.text_files import read_lines
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from tests import translators
from tests.bitexts import write_text
from tests.messages import refused
from tests.odd_values import said
from tests.training_settings import decoding

SOURCES = ["w3 w4 w5 w6", "w2", "w7 strange w8", "", "w9 w10 w11 w12 w13 w14"]
TARGETS = ["w4 w5", "odd w3", "w8 w9 w10", "", "w2 w3 w4 w5 w6"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model after a few updates, and a test set beside it."""
    folder = tmp_path_factory.mktemp("translation")
    translators.trained_model(folder)
    write_text(folder / "test.en", SOURCES)
    write_text(folder / "test.fr", TARGETS)
    return folder


def load_model(folder: Path, unknown_bias: float = 0.0) -> TrainedModel:
    """The model, with a change that makes it write the unknown word."""
    model = trained_model.load_model(folder / "model", torch.device("cpu"))
    with torch.no_grad():
        model.network.readout.b_o[UNKNOWN] += unknown_bias
    return model


@pytest.fixture(scope="module")
def model(folder: Path) -> TrainedModel:
    return load_model(folder)


def read_entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_lines(path)]


def test_translations_of_all_lines(folder, model, tmp_path):
    settings = decoding(beam=4, batch_size=2, max_length_factor=2)
    output = tmp_path / "out.jsonl"
    assert translate_file([model], folder / "test.en", None, "all", settings, output)["sentences"] == 5
    entries = read_entries(output)
    assert [entry["line"] for entry in entries] == [0, 1, 2, 3, 4]
    assert [" ".join(entry["source_tokens"]) for entry in entries] == SOURCES
    assert [entry["source_unknown"] for entry in entries] == [0, 0, 1, 0, 0]
    for entry in entries:
        assert entry["n_best"][0]["tokens"] == entry["tokens"] and "text" not in entry
        assert sum(entry["word_log_probabilities"]) == pytest.approx(entry["log_probability"], abs=1e-3)
        rows, columns = len(entry["tokens"]) + entry["finished"], len(entry["source_tokens"]) + 1
        assert np.shape(entry["alignment"]) == (rows, columns)


@pytest.mark.parametrize("unknown", ["allowed", "excluded"])
def test_unknown_word_is_forbidden(folder, tmp_path, unknown):
    """In `no_unk`, and if the settings say so."""
    models, output = [load_model(folder, unknown_bias=10.0)], tmp_path / "out.jsonl"
    settings = decoding(beam=2, max_length_factor=2, min_length="half", unknown=unknown)
    translate_file(models, folder / "test.en", None, "all", settings, output)
    assert any("[UNK]" in entry["tokens"] for entry in read_entries(output)) == (unknown == "allowed")
    translate_file(models, folder / "test.en", folder / "test.fr", "no_unk", settings, output)
    entries = read_entries(output)
    assert [entry["line"] for entry in entries] == [0, 3, 4]
    assert not any("[UNK]" in entry["tokens"] for entry in entries)


def test_alignments_of_given_translations(folder, model, tmp_path):
    align_file(model, folder / "test.en", folder / "test.fr", 2, tmp_path / "out.jsonl")
    entries = read_entries(tmp_path / "out.jsonl")
    for entry, source, target in zip(entries, SOURCES, TARGETS, strict=True):
        assert (entry["source_tokens"], entry["tokens"]) == (source.split(), target.split())
        assert np.shape(entry["alignment"]) == (len(target.split()) + 1, len(source.split()) + 1)
    (scores,) = score_translations([model], [(SOURCES[0].split(), TARGETS[0].split())], 1)
    assert scores.attention == pytest.approx(np.array(entries[0]["alignment"]), abs=1e-4)


def test_provenance_of_translations(folder, tmp_path):
    settings = decoding(beam=3, max_length_factor=2)
    output = tmp_path / "out.jsonl"
    options = ["--model", folder / "model", "--source", folder / "test.en", "--output", output]
    assert not said("test-set", "decode", *options, "--settings", settings.model_dump_json())
    provenance = read_provenance(output)
    assert (provenance["mode"], provenance["sentences"]) == ("all", 5)
    assert provenance["settings"] == settings.model_dump()
    weights = {"name": "model", "sha256": sha256(folder / "model" / "model.safetensors")}
    assert provenance["models"] == [weights]
    write_json(tmp_path / "out.provenance.json", provenance | {"models": [3]})
    with refused():
        read_provenance(output)
