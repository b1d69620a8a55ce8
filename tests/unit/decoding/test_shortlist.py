"""Searches with a shortlist: what they find, in any batch, and what is refused."""

import tempfile
from pathlib import Path
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nmt
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END, UNKNOWN
from nmt.decoding import shortlist
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.shortlist import Shortlist, find_likely_words, load_shortlist, make_shortlist
from nmt.io.text_files import read_lines
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import ModelTypeName
from nmt.store.trained_model import load_model, read_vocabularies
from tests.bitexts import Pair, write_bitext, write_text
from tests.messages import refused
from tests.odd_values import said
from tests.small_models import SOURCE_VOCABULARY, TARGET_VOCABULARY, small_model
from tests.translators import trained_model
from tests.unit.decoding.test_beam_search import search_n_best

SOURCES = [[2, 3, 4], [5], [6, 7], [8, 2, 5, 3]]
LIKELY = torch.tensor([[END, END]] * 2 + [[2 + i % 5, 2 + 3 * i % 5] for i in range(SOURCE_VOCABULARY - 2)])
SHORTLIST = Shortlist(LIKELY, 2, TARGET_VOCABULARY)
LINES = ["w3 w4 w5.", "", "w2", "w7 strange, w8", "w9 w10 w11 w12 w13"]
CPU = torch.device("cpu")


def search(
    model: EncoderDecoder | Ensemble,
    sources: list[list[int]],
    words: Shortlist | None,
    forbid: bool = False,
) -> list[list[Hypothesis]]:
    options = {"beam": 3, "n_best": 3, "max_length_factor": 2, "min_length": "half"}
    return search_n_best(model, sources, forbid, words, **options)


def allowed_words(source: list[int]) -> list[int]:
    """The words that a sentence may be translated with, by plain loops."""
    return sorted({END, UNKNOWN} | {int(word) for i in source for word in LIKELY[i]})


def test_search_as_without_the_other_words(model_type: ModelTypeName) -> None:
    """In any batch."""
    model = small_model(model_type)
    results = search(model, SOURCES, SHORTLIST)
    unrestricted = search(model, SOURCES, None)
    assert [n_best[0].ids for n_best in results] != [n_best[0].ids for n_best in unrestricted]
    bias = model.readout.b_o.detach().clone()
    for source, n_best in zip(SOURCES, results, strict=True):
        is_omitted = torch.ones(TARGET_VOCABULARY, dtype=torch.bool)
        is_omitted[allowed_words(source)] = False
        with torch.no_grad():
            model.readout.b_o.copy_(bias.masked_fill(is_omitted, -1e9))
        (expected,) = search(model, [source], None)
        for hypothesis, other in zip(n_best, expected, strict=True):
            assert hypothesis.ids == other.ids
            assert hypothesis.log_probability == pytest.approx(other.log_probability, rel=1e-9)


def test_shortlist_with_an_ensemble_and_forbidden_unknown_word() -> None:
    ensemble = Ensemble([small_model("rnnsearch"), small_model("lstm")], "probability")
    for source, n_best in zip(SOURCES, search(ensemble, SOURCES, SHORTLIST, forbid=True), strict=True):
        for hypothesis in n_best:
            assert set(hypothesis.ids) <= set(allowed_words(source)) - {UNKNOWN}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("shortlist"))


def test_from_text_to_translation(folder: Path, tmp_path: Path) -> None:
    """By the command and from Python."""
    path = tmp_path / "shortlist.safetensors"
    text, output = write_text(tmp_path / "text", LINES), tmp_path / "translations"
    options = ["--bitext", folder.parent / "bitext", "--frequent", "0", "--likely", "2", "--output", path]
    said("shortlist", "--model", folder, *options)
    said("translate", "--model", folder, text, "--shortlist", path, "--n-best", "5", "--output", output)
    rows = [line.split(" ||| ") for line in read_lines(output)]
    translations = nmt.load(folder, shortlist=path).translate(LINES)
    model = load_model(folder, CPU)
    likely = load_shortlist(path, [model]).likely_ids.numpy()
    for number, line in enumerate(LINES):
        texts = [row[1] for row in rows if row[0] == str(number)]
        assert translations[number].text == texts[0]
        assert sum(translations[number].token_scores) == pytest.approx(translations[number].score, abs=1e-4)
        source = model.source_vocabulary.ids(line.replace(".", " .").replace(",", " ,").split())
        allowed = {
            "[UNK]",
            *model.target_vocabulary.words([word for row in likely[source] for word in row if word]),
        }
        assert all(set(text.split()) <= allowed for text in texts)


def test_shortlist_of_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    model, bitext = load_model(folder, CPU), Bitext.open(folder.parent / "bitext")
    path = tmp_path / "shortlist.safetensors"
    make_shortlist((model.source_vocabulary, model.target_vocabulary), bitext, 3, 10, path)
    assert load_shortlist(path, [model]).frequent_count == 10
    other_folder = trained_model(tmp_path / "other", size=31)
    with refused():
        load_shortlist(path, [load_model(other_folder, CPU)])
    with refused():
        make_shortlist(read_vocabularies(other_folder), bitext, 3, 10, tmp_path / "missing")
    for other_file in (tmp_path / "missing", folder / "model.safetensors", folder):
        with refused():
            load_shortlist(other_file, [model])


SIZE = 6
WORDS = st.lists(st.integers(1, SIZE + 1), min_size=1, max_size=5)


def likely_words_by_loops(pairs: list[Pair], source_word: int, words_each: int) -> list[int]:
    """The same by the definition of Dice's coefficient."""
    targets = [target for source, target in pairs if source_word in source]
    scores = dict[int, float]()
    for word in range(SIZE + 2):
        joint_count = sum(word in target for target in targets)
        if joint_count:
            target_count = sum(word in target for _, target in pairs)
            scores[word] = 2 * joint_count / (len(targets) + target_count)
    ranked = sorted(scores, key=lambda word: (-scores[word], word))[:words_each]
    return ranked + [END] * (words_each - len(ranked))


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12),
    words_each=st.integers(1, 5),
    max_pairs=st.integers(1, 15),
)
def test_likely_words_match_loops(pairs: list[Pair], words_each: int, max_pairs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(shortlist, "MAX_PAIRS", max_pairs):
        bitext = write_bitext(Path(folder), pairs, SIZE)
        likely = find_likely_words(bitext, SIZE + 2, SIZE + 2, words_each)
    expected = [likely_words_by_loops(pairs[:max_pairs], word, words_each) for word in range(SIZE + 2)]
    assert likely.tolist() == expected
