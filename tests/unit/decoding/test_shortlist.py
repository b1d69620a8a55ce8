"""Searches among likely words alone: what they find, in any batch, and what is refused."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import nmt
from nmt.cli import commands
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END, UNKNOWN
from nmt.decoding import shortlist
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.shortlist import Shortlist
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import ModelTypeName
from nmt.store.trained_model import load_model, read_vocabularies
from tests.bitexts import Pair, write_bitext
from tests.messages import refused
from tests.small_models import SOURCE_VOCABULARY, TARGET_VOCABULARY, small_model
from tests.translators import trained_model
from tests.unit.decoding.test_beam_search import n_best_of

SOURCES = [[2, 3, 4], [5], [6, 7], [8, 2, 5, 3]]
LIKELY = torch.tensor([[END, END]] * 2 + [[2 + i % 5, 2 + 3 * i % 5] for i in range(SOURCE_VOCABULARY - 2)])
SHORTLIST = Shortlist(LIKELY, 2, TARGET_VOCABULARY)
LINES = ["w3 w4 w5.", "", "w2", "w7 strange, w8", "w9 w10 w11 w12 w13"]


def search(
    model: EncoderDecoder | Ensemble, sources: list[list[int]], words: Shortlist | None, forbid: bool = False
) -> list[list[Hypothesis]]:
    """Beams of 3, all that finish."""
    return n_best_of(model, sources, forbid, words, beam=3, n_best=3, max_length_factor=2, min_length="half")


def allowed(source: list[int]) -> list[int]:
    """The words that a sentence may be translated with, by plain loops."""
    return sorted({END, UNKNOWN} | {int(word) for i in source for word in LIKELY[i]})


def test_a_sentence_is_translated_as_if_there_were_no_other_words_whatever_its_batch(
    model_type: ModelTypeName,
) -> None:
    model = small_model(model_type)
    together = search(model, SOURCES, SHORTLIST)
    plain = [hypotheses[0].ids for hypotheses in search(model, SOURCES, None)]
    assert [hypotheses[0].ids for hypotheses in together] != plain
    start = model.readout.b_o.detach().clone()
    for source, hypotheses in zip(SOURCES, together, strict=True):
        others = torch.ones(TARGET_VOCABULARY, dtype=torch.bool)
        others[allowed(source)] = False
        with torch.no_grad():
            model.readout.b_o.copy_(start.masked_fill(others, -1e9))
        (expected,) = search(model, [source], None)
        with torch.no_grad():
            model.readout.b_o.copy_(start)
        assert [found.ids for found in hypotheses] == [found.ids for found in expected]
        found = [found.log_probability for found in hypotheses]
        assert found == pytest.approx([other.log_probability for other in expected], rel=1e-9)


def test_with_all_words_nothing_changes() -> None:
    everything = Shortlist(LIKELY, TARGET_VOCABULARY, TARGET_VOCABULARY)
    for model in (small_model("rnnsearch"), Ensemble([small_model("rnnsearch"), small_model("rnnencdec")])):
        assert search(model, SOURCES, everything) == search(model, SOURCES, None)


def test_an_ensemble_and_a_forbidden_unknown_word_know_the_words_too() -> None:
    ensemble = Ensemble([small_model("rnnsearch"), small_model("lstm")])
    for source, hypotheses in zip(SOURCES, search(ensemble, SOURCES, SHORTLIST, forbid=True), strict=True):
        for found in hypotheses:
            assert set(found.ids) <= set(allowed(source)) - {UNKNOWN}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("shortlist"))


def test_from_the_text_to_the_translation(folder: Path, tmp_path: Path) -> None:
    """By the command and from Python."""
    made, text = tmp_path / "shortlist.safetensors", tmp_path / "text"
    text.write_text("\n".join(LINES) + "\n")
    options = ["--model", str(folder), "--bitext", str(folder.parent / "bitext"), "--frequent", "0"]
    run = CliRunner().invoke(commands, ["shortlist", *options, "--likely", "2", "--output", str(made)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(
        commands, ["translate", "--model", str(folder), str(text), "--shortlist", str(made), "--n-best", "5"]
    )
    assert run.exit_code == 0, run.output
    written = [line.split(" ||| ") for line in run.output.splitlines()]
    model = load_model(folder, torch.device("cpu"))
    words = shortlist.load_shortlist(made, [model])
    likely = words.likely.numpy()
    found = nmt.load(folder, shortlist=made).translate(LINES)
    for one in found:
        assert sum(one.token_scores) == pytest.approx(one.score, abs=1e-4)
    best = [next(row[1] for row in written if row[0] == str(number)) for number in range(len(LINES))]
    assert [one.text for one in found] == best
    for number, line in enumerate(LINES):
        source = model.source.ids(line.replace(".", " .").replace(",", " ,").split())
        expected = {"[UNK]"} | set(model.target.words([i for row in likely[source] for i in row if i]))
        for row in written:
            if row[0] == str(number):
                assert set(row[1].split()) <= expected


def test_what_is_no_shortlist_of_the_model_is_refused(folder: Path, tmp_path: Path) -> None:
    model, bitext = load_model(folder, torch.device("cpu")), Bitext.open(folder.parent / "bitext")
    made = tmp_path / "shortlist.safetensors"
    shortlist.make_shortlist((model.source, model.target), bitext, 3, 10, made)
    assert shortlist.load_shortlist(made, [model]).frequent == 10
    other = trained_model(tmp_path / "other", size=31)
    with refused():
        shortlist.load_shortlist(made, [load_model(other, torch.device("cpu"))])
    with refused():
        shortlist.make_shortlist(read_vocabularies(other), bitext, 3, 10, tmp_path / "none")
    with refused():
        shortlist.load_shortlist(tmp_path / "none", [model])
    with refused():
        shortlist.load_shortlist(folder / "model.safetensors", [model])
    with refused():
        shortlist.load_shortlist(folder, [model])


SIZE = 6
WORDS = st.lists(st.integers(1, SIZE + 1), min_size=1, max_size=5)


def by_loops(pairs: list[Pair], word: int, each: int) -> list[int]:
    """The same by the definition."""
    own = [set(target) for source, target in pairs if word in source]
    scores = dict[int, float]()
    for other in range(SIZE + 2):
        together = sum(other in target for target in own)
        if together:
            holding = sum(other in target for _, target in pairs)
            scores[other] = 2 * together / (len(own) + holding)
    ranked = sorted(scores, key=lambda other: (-scores[other], other))[:each]
    return ranked + [END] * (each - len(ranked))


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12),
    each=st.integers(1, 5),
    counted=st.integers(1, 15),
)
def test_words_are_those_with_the_largest_dice_coefficients(
    pairs: list[Pair], each: int, counted: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(shortlist, "MOST_PAIRS", counted):
        bitext = write_bitext(Path(folder), pairs, SIZE)
        found = shortlist.likely_words(bitext, SIZE + 2, SIZE + 2, each)
    assert found.tolist() == [by_loops(pairs[:counted], word, each) for word in range(SIZE + 2)]
