"""Text to text: pieces, order, groups, n-best lists, unknown words, scores; ensembles that do not fit together."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from nmt.backend.products import processor_supports
from nmt.data.tokenization import RawText, TokenText
from nmt.data.vocabulary import UNKNOWN
from nmt.decoding import forced_decoding
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.formats import format_json_line, format_n_best, format_text, pharaoh, soft
from nmt.decoding.translation import pieces
from nmt.decoding.translator import TextTranslator, choose_text_processors, translation
from nmt.settings.decoding import ComputeOptions, TranslateOptions
from nmt.settings.model_types import ModelTypeName
from nmt.store.tensors import save_tensors
from nmt.store.trained_model import TrainedModel, check_compatible, load_model
from tests.messages import refused
from tests.training_settings import decoding
from tests.translators import MOSES, text_settings, trained_model

LINES = ["w3 w4 w5.", "", "w2", "w7 strange, w8", "  ", "w9 w10 w11 w12 w13"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("translator"))


@pytest.fixture
def model(folder: Path) -> TrainedModel:
    return load_model(folder, torch.device("cpu"))


def translator(
    *models: TrainedModel,
    search: dict[str, Any] | None = None,
    n_best: int = 1,
    attention: bool = False,
    **options: Any,
) -> TextTranslator:
    text = text_settings(
        decoding(**{"beam": 3, "max_length_factor": 2, "min_length": "half"} | (search or {}))
    )
    return TextTranslator(
        models, text, TranslateOptions(**options), ComputeOptions(), n_best=n_best, attention=attention
    )


def test_each_line_gives_one_translation_however_they_are_grouped(model: TrainedModel) -> None:
    whole = translator(model)(LINES)
    alone = [found for line in LINES for found in translator(model, search={"batch_size": 1})([line])]
    assert [found.source for found, *_ in whole] == LINES
    assert [found.text for found, *_ in whole] == [found.text for found, *_ in alone]
    assert [bool(found.tokens) for found, *_ in whole] == [True, False, True, True, False, True]
    assert whole[1][0].score == 0.0


def test_the_n_best_are_those_of_the_search_and_their_scores_are_scores(model: TrainedModel) -> None:
    found = translator(model, n_best=3, search={"min_length": "none"}, attention=True)(LINES)
    for n_best in found:
        assert [entry.score for entry in n_best] == sorted((entry.score for entry in n_best), reverse=True)
        for entry in n_best:
            assert sum(entry.token_scores) == pytest.approx(entry.score, abs=1e-4)
            assert entry.attention is not None
            assert entry.attention.shape == (len(entry.tokens), len(entry.source_tokens))
            if entry.finished and entry.source_tokens:
                (reading,) = score_translations([model], [(entry.source_tokens, entry.tokens)], 4)
                assert reading.word_log_probabilities == pytest.approx(entry.token_scores, abs=1e-4)
                assert reading.attention is not None
                between_words = reading.attention[: len(entry.tokens), : len(entry.source_tokens)]
                assert np.allclose(entry.attention, between_words, atol=1e-5)


def test_what_is_asked_for_unknown_words_happens(model: TrainedModel) -> None:
    with torch.no_grad():
        model.network.readout.b_o[UNKNOWN] += 10.0
    lines = ["w7 strange, w8", "O'Neill & co."]
    assert all("[UNK]" in found.text for found, *_ in translator(model)(lines))
    for search in ({}, {"if_no_eos": "retry"}):
        forbidden = translator(model, unknown="forbid", search=search)(lines)
        assert not any("[UNK]" in found.tokens for found, *_ in forbidden)
    kept = translator(model, attention=True)(lines)
    for (found,), (keeping,) in zip(translator(model, unknown="copy")(lines), kept, strict=True):
        assert keeping.attention is not None and found.attention is None
        expected = [
            found.source_tokens[row.argmax()] if word == "[UNK]" else word
            for word, row in zip(keeping.tokens, keeping.attention, strict=True)
        ]
        assert found.tokens == expected
        assert "[UNK]" not in found.text and "&apos;" not in found.text


def test_a_long_line_is_translated_in_pieces(model: TrainedModel) -> None:
    line = "w3 w4, " * 30
    ((found,),) = translator(model, max_words=9, attention=True)([line])
    assert found.pieces == [9] * 10 and found.piece_attention is not None
    assert sum(len(block) for block in found.piece_attention) == len(found.tokens)
    assert all(block.shape[1] == 9 for block in found.piece_attention)
    assert found.score == pytest.approx(sum(found.token_scores), abs=1e-3)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_first_of_the_n_best_is_the_plain_translation(model: TrainedModel, normalize: bool) -> None:
    lines = ["w3 w4 w9, w21 w8. w2 w5 w3, w7", "w10 w11, w2. w4"]
    search = {"normalize_by_length": normalize, "beam": 4, "min_length": "none"}
    plain = translator(model, search=search, max_words=3)(lines)
    several = translator(model, search=search, n_best=4, max_words=3)(lines)
    for (one,), other in zip(plain, several, strict=True):
        assert len(one.pieces) > 1 and len(other) > 1
        assert other[0].tokens == one.tokens


def test_batches_do_not_change_attention_and_copied_words(model: TrainedModel) -> None:
    with torch.no_grad():
        model.network.readout.b_o[UNKNOWN] += 10.0
    lines = [f"w{3 + number % 9} strange w{5 + number % 7}" for number in range(16)]
    options: dict[str, Any] = {"unknown": "copy", "attention": True, "n_best": 2}
    alone = [found for line in lines for found in translator(model, **options)([line])]
    whole = translator(model, **options)(lines)
    for one, other in zip(alone, whole, strict=True):
        assert [found.tokens for found in one] == [found.tokens for found in other]
        for found, expected in zip(other, one, strict=True):
            assert found.token_scores == pytest.approx(expected.token_scores, abs=1e-4)
            assert found.attention is not None and expected.attention is not None
            assert np.allclose(found.attention, expected.attention, atol=1e-4)


def test_a_model_of_text_that_came_tokenized_reads_tokens() -> None:
    """Its quotes are no words of Moses' such as &quot;, which it has never seen."""
    raw, tokens = (text_settings().model_copy(update={"tokenized": came}) for came in (False, True))
    assert choose_text_processors(raw, False)[0].tokenize('so"') == ["so", "&quot;"]
    assert choose_text_processors(tokens, False)[0].tokenize('so"') == ['so"']
    assert "tokenized" not in raw.model_dump()


@pytest.mark.parametrize(
    ("settings", "option", "used"),
    [("cpu", None, "cpu"), ("cpu", "auto", "auto"), ("auto", "cpu", "cpu"), ("cuda", None, "auto")],
)
def test_the_device_is_the_models_unless_an_option_names_one(settings: Any, option: Any, used: str) -> None:
    text = text_settings(decoding(device=settings))
    assert text.decoding_settings(ComputeOptions(device=option), TranslateOptions()).device == used


def test_surrogates_and_control_characters_are_no_text() -> None:
    line = "a\ud800b \x00c\x1b\u2028d e\x7ff \x9b31m\x85g"
    assert TokenText().tokenize(line) == ["a\ufffd\ufffd\ufffdb", "c", "d", "ef", "31m", "g"]
    raw = RawText("en", MOSES)
    assert raw.detokenize(raw.tokenize(line)).encode().decode().endswith("c d ef 31m g")


def test_without_attention_nothing_can_be_copied(tmp_path: Path) -> None:
    model = load_model(trained_model(tmp_path, "rnnencdec"), torch.device("cpu"))
    with refused():
        translator(model, unknown="copy")
    ((found,),) = translator(model, attention=True)(["w3 w4"])
    assert found.attention is None and found.token_scores


def test_models_of_other_vocabularies_are_no_ensemble(folder: Path, tmp_path: Path) -> None:
    other = load_model(trained_model(tmp_path / "other", size=29), torch.device("cpu"))
    with refused():
        check_compatible([load_model(folder, torch.device("cpu")), other])


def test_models_that_read_the_source_in_another_way_are_no_ensemble(model: TrainedModel) -> None:
    architecture = model.run.architecture.model_copy(update={"source_eos": False})
    other = replace(model, run=model.run.model_copy(update={"architecture": architecture}))
    check_compatible([model, model])
    with refused():
        check_compatible([model, other])


def test_numbers_beyond_all_bounds_are_no_scores(folder: Path, tmp_path: Path) -> None:
    """Finite weights, but so large that what the model computes is not."""
    shutil.copytree(folder, tmp_path / "m")
    weights = {name: weight * 1e30 for name, weight in load_file(folder / "model.safetensors").items()}
    save_tensors(tmp_path / "m" / "model.safetensors", weights)
    model = load_model(tmp_path / "m", torch.device("cpu"))
    with refused():
        score_translations([model], [(["w3", "w4"], ["w5"])], 2)


def test_the_scores_of_a_long_pair_are_those_of_one_run(
    model: TrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many steps are in memory at once, with attention or without."""
    pairs = [(["w3", "w4", "w9"], ["w5", "w6"] * 9), (["w2"], ["w3"] * 4), ([], [])]
    whole = score_translations([model], pairs, 4)
    monkeypatch.setattr(forced_decoding, "STEPS", 5)
    for attention in (True, False):
        for one, other in zip(whole, score_translations([model], pairs, 4, attention), strict=True):
            assert one.word_log_probabilities == pytest.approx(other.word_log_probabilities, abs=1e-5)
            assert (other.attention is not None) == attention
            if one.attention is not None and other.attention is not None:
                assert np.allclose(one.attention, other.attention, atol=1e-5)


def test_several_models_have_the_mean_of_their_probabilities_and_of_their_attention(
    model: TrainedModel, tmp_path: Path
) -> None:
    other = load_model(trained_model(tmp_path, seed=6), torch.device("cpu"))
    pairs = [(["w3", "w4"], ["w5"]), (["w9"], ["w3", "odd", "w4"]), ([], []), (["w2"], [])]
    one, two, both = (score_translations(models, pairs, 2) for models in ([model], [other], [model, other]))
    for single, second, mean in zip(one, two, both, strict=True):
        probabilities = np.exp(single.word_log_probabilities), np.exp(second.word_log_probabilities)
        assert np.exp(mean.word_log_probabilities) == pytest.approx(np.mean(probabilities, axis=0))
        assert single.attention is not None and second.attention is not None and mean.attention is not None
        assert np.allclose(mean.attention, (single.attention + second.attention) / 2, atol=1e-6)
    assert [len(reading.word_log_probabilities) for reading in one] == [2, 4, 1, 1]


def test_what_is_written(model: TrainedModel) -> None:
    (found,) = translator(model, n_best=2, attention=True)(["w3\u2028w4"])
    best = found[0]
    assert format_text(best, None) == best.text
    assert format_text(best, "pharaoh").startswith(f"{best.text} ||| ")
    rows = format_n_best(7, found, "weights").split("\n")
    assert len(rows) == 2
    number, text, feature, probability, weights = rows[0].split(" ||| ")
    assert (number, text, probability) == ("7", best.text, f"{best.score:.4f}")
    assert feature == f"NMT0= {probability}"
    assert len(weights.split(" ")) == len(best.tokens)
    assert "\u2028" not in format_json_line(7, found)


def test_alignments_in_both_forms() -> None:
    weights = np.array([[0.25, 0.75], [0.5, 0.125]], np.float32)
    assert pharaoh([weights]) == "1-0 0-1"
    assert pharaoh([weights, weights]) == "1-0 0-1 3-2 2-3"
    assert soft([weights]) == "0.25000,0.75000 0.50000,0.12500"
    assert pharaoh([]) == soft([]) == ""


@pytest.mark.parametrize(
    ("model_type", "precision"), [("rnnsearch", "bf16"), ("rnnsearch", "int8"), ("lstm", "int8")]
)
def test_other_precisions_say_nearly_the_same(
    tmp_path: Path, model_type: ModelTypeName, precision: str
) -> None:
    if not processor_supports(precision):  # type: ignore[arg-type]
        pytest.skip("the processor has no instructions for it")
    folder = trained_model(tmp_path, model_type=model_type)
    exact = translator(load_model(folder, torch.device("cpu")))(LINES)
    rough = translator(load_model(folder, torch.device("cpu"), precision))(LINES)  # type: ignore[arg-type]
    for (line,), (other,) in zip(exact, rough, strict=True):
        assert other.score == pytest.approx(line.score, rel=0.02)
    assert [line.score for line, *_ in exact] != [line.score for line, *_ in rough]


@given(st.lists(st.sampled_from(["a", ",", ".", ";"]), max_size=60), st.integers(1, 12))
def test_pieces_are_the_line(words: list[str], limit: int) -> None:
    found = pieces(words, limit)
    assert [word for piece in found for word in piece] == words
    assert all(1 <= len(piece) <= limit for piece in found)


def test_cuts_fall_behind_the_last_full_stop_or_comma_of_the_second_half() -> None:
    assert pieces(["a", ".", "b", "c", ".", "d", "e", "f"], 6) == [["a", ".", "b", "c", "."], ["d", "e", "f"]]
    assert pieces(["a", ".", "b", ",", "c", "d", "e", "f"], 6) == [["a", ".", "b", ","], ["c", "d", "e", "f"]]
    assert pieces(["a", "b", "c", "d", "e"], 2) == [["a", "b"], ["c", "d"], ["e"]]
    assert pieces([], 3) == []


def hypothesis(model: TrainedModel, words: list[str], score: float, attention: np.ndarray) -> Hypothesis:
    """What a search may find, with a number of its own for every word and the end symbol."""
    scores = [score / (len(words) + 1)] * (len(words) + 1)
    return Hypothesis(model.target.ids(words), score, True, scores, attention)


def test_a_line_joins_what_was_found_for_its_pieces(model: TrainedModel) -> None:
    one, other = np.full((3, 4), 0.5, np.float32), np.full((2, 3), 0.25, np.float32)  # with end symbols
    hypotheses = [hypothesis(model, ["w3", "w4"], -3.0, one), hypothesis(model, ["w5"], -4.0, other)]
    found = translation(model, "x y z u v", [[*"xyz"], [*"uv"]], hypotheses, text=TokenText())
    assert found.text == "w3 w4 w5" and found.pieces == [3, 2] and found.score == -7.0
    assert found.token_scores == [-1.0] * 3 + [-2.0] * 2
    assert found.attention is not None
    assert found.attention.tolist() == [[0.5] * 3 + [0] * 2] * 2 + [[0] * 3 + [0.25] * 2]
    last = replace(hypotheses[1], finished=False)
    assert not translation(model, "", [["u"]], [last], text=TokenText()).finished


def test_translations_can_be_compared_and_kept_in_sets(model: TrainedModel) -> None:
    one, again = (translator(model, attention=True)(["w3 w4 w5."])[0][0] for _ in range(2))
    assert one == again and {one, again} == {one}
    assert one != replace(one, score=one.score - 1)


def test_models_without_attention_leave_that_of_the_others_in_an_ensemble(
    model: TrainedModel, tmp_path: Path
) -> None:
    blind = load_model(trained_model(tmp_path, "rnnencdec"), torch.device("cpu"))
    ((found,),) = translator(model, blind, attention=True)(["w3 w4 w5"])
    (reading,) = score_translations([model, blind], [(found.source_tokens, found.tokens)], 1)
    assert found.attention is not None and reading.attention is not None
    assert np.allclose(found.attention, reading.attention[: len(found.tokens), :3], atol=1e-5)
