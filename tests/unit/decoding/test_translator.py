"""Text to text: pieces, order, batches, n-best lists, unknown words; ensembles that do not fit together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.backend.matmul import processor_supports
from nmt.data.characters import count_letters_or_word
from nmt.data.tokenization import RawText, Tokenizer, TokenText
from nmt.data.vocabulary import UNKNOWN
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.translation import Translation, split_into_pieces
from nmt.decoding.translator import TextTranslator, choose_text_codecs
from nmt.settings.decoding import ComputeOptions, TranslateOptions
from nmt.store.trained_model import TrainedModel, check_compatible, load_model
from tests.messages import refused
from tests.training_settings import decoding
from tests.translators import MOSES, text_settings, trained_model

LINES = ["w3 w4 w5.", "", "w2", "w7 strange, w8", "  ", "w9 w10 w11 w12 w13"]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("translator"))


@pytest.fixture
def model(folder: Path) -> TrainedModel:
    return load_model(folder, CPU)


def make_translator(
    models: TrainedModel | list[TrainedModel],
    n_best: int = 1,
    attention: bool = False,
    search: dict[str, Any] | None = None,
    **options: Any,
) -> TextTranslator:
    settings = decoding(**{"beam": 3, "max_length_factor": 2, "min_length": "half"} | (search or {}))
    return TextTranslator(
        models=models if isinstance(models, list) else [models],
        text_settings=text_settings(settings),
        options=TranslateOptions(**options),
        compute=ComputeOptions(),
        n_best=n_best,
        keep_attention=attention,
    )


def translate(
    models: TrainedModel | list[TrainedModel], lines: list[str], **options: Any
) -> list[list[Translation]]:
    return make_translator(models, **options)(lines)


def test_one_translation_per_line(model):
    results = translate(model, LINES)
    assert [best.source for (best,) in results] == LINES
    assert [bool(best.tokens) for (best,) in results] == [True, False, True, True, False, True]
    assert results[1][0].score == 0.0


def test_n_best_matches_teacher_forcing(model):
    for n_best in translate(model, LINES, n_best=3, search={"min_length": "none"}, attention=True):
        scores = [translation.score for translation in n_best]
        assert scores == sorted(scores, reverse=True)
        for translation in n_best:
            assert sum(translation.token_scores) == pytest.approx(translation.score, abs=1e-4)
            source_tokens, tokens = translation.source_tokens, translation.tokens
            assert translation.attention.shape == (len(tokens), len(source_tokens))
            if translation.finished and source_tokens:
                (forced,) = score_translations([model], [(source_tokens, tokens)], 4)
                assert forced.word_log_probabilities == pytest.approx(translation.token_scores, abs=1e-4)
                attention = forced.attention[: len(tokens), : len(source_tokens)]
                assert np.allclose(translation.attention, attention, atol=1e-5)


def test_unknown_words(model):
    with torch.no_grad():
        model.network.readout.b_o[UNKNOWN] += 10.0
    lines = ["w7 strange, w8", "O'Neill & co."]
    assert all("[UNK]" in best.text for (best,) in translate(model, lines))
    for search in ({}, {"if_no_eos": "retry"}):
        assert not any(
            "[UNK]" in best.tokens for (best,) in translate(model, lines, unknown="forbid", search=search)
        )
    keeping = translate(model, lines, attention=True)
    for (copied,), (kept,) in zip(translate(model, lines, unknown="copy"), keeping, strict=True):
        assert copied.attention is None
        expected = [
            copied.source_tokens[row.argmax()] if word == "[UNK]" else word
            for word, row in zip(kept.tokens, kept.attention, strict=True)
        ]
        assert copied.tokens == expected
        assert "[UNK]" not in copied.text and "&apos;" not in copied.text


def test_model_of_tokenized_text_reads_tokens():
    """Its quotes are no words of Moses' such as &quot;, which it has never seen."""
    raw, tokens = (text_settings().model_copy(update={"tokenized": value}) for value in (False, True))
    assert choose_text_codecs(raw, False)[0].tokenize('so"') == ["so", "&quot;"]
    assert choose_text_codecs(tokens, False)[0].tokenize('so"') == ['so"']
    assert "tokenized" not in raw.model_dump()


@pytest.mark.parametrize(
    ("model_device", "option", "expected"),
    [("cpu", None, "cpu"), ("cpu", "auto", "auto"), ("auto", "cpu", "cpu"), ("cuda", None, "auto")],
)
def test_device_of_an_option(model_device, option, expected):
    text = text_settings(decoding(device=model_device))
    assert text.decoding_settings(ComputeOptions(device=option), TranslateOptions()).device == expected


def test_surrogates_and_control_characters():
    line = "\ufeffa\ud800b \x00c\x1b\u2028d e\x7ff \x9b31m\x85g"
    assert TokenText().tokenize(line) == ["a\ufffdb", "c", "d", "e\x7ff", "\x9b31m", "g"]
    assert TokenText().detokenize(TokenText().tokenize(line)) == "a\ufffdb c d ef 31m g"
    raw = RawText("en", MOSES)
    assert raw.tokenize(line) == Tokenizer("en", MOSES)(line).split(), "as the training text"
    assert raw.detokenize(raw.tokenize(line)) == "a \ufffd b c d e f 31m g"


def test_incompatible_models_are_no_ensemble(model, tmp_path):
    """Of other vocabularies, or that read the source in another way."""
    architecture = model.run.architecture.model_copy(update={"source_eos": False})
    other_run = model.run.model_copy(update={"architecture": architecture})
    check_compatible([model, model])
    for other in (load_model(trained_model(tmp_path, size=29), CPU), replace(model, run=other_run)):
        with refused():
            check_compatible([model, other])


@pytest.mark.parametrize(
    ("model_type", "precision"), [("rnnsearch", "bf16"), ("rnnsearch", "int8"), ("lstm", "int8")]
)
def test_other_precisions(tmp_path, model_type, precision):
    """Scores are nearly the same."""
    if not processor_supports(precision):
        pytest.skip("the processor has no instructions for it")
    folder = trained_model(tmp_path, model_type)
    rounding_model = load_model(folder, CPU, precision)
    exact, rounded = (translate(model, LINES) for model in (load_model(folder, CPU), rounding_model))
    for (expected,), (translation,) in zip(exact, rounded, strict=True):
        assert translation.score == pytest.approx(expected.score, rel=0.02)
    assert [best.score for (best,) in exact] != [best.score for (best,) in rounded]


@given(st.lists(st.sampled_from(["a", ",", ".", ";"]), max_size=60), st.integers(1, 12))
def test_pieces_are_the_line(words, max_words):
    pieces = split_into_pieces(words, max_words)
    assert [word for piece in pieces for word in piece] == words
    assert all(1 <= len(piece) <= max_words for piece in pieces)


def test_pieces_end_with_punctuation():
    for line, expected in (
        ("a . b c . d e f", ["a . b c .", "d e f"]),
        ("a . b , c d e f", ["a . b ,", "c d e f"]),
        ("a b c d e f g", ["a b c d e f", "g"]),
        ("", []),
    ):
        assert [" ".join(piece) for piece in split_into_pieces(line.split(), 6)] == expected


def test_translation_joins_pieces(model):
    def hypothesis(words: list[str], score: float, attention: np.ndarray) -> Hypothesis:
        scores = [score] * (len(words) + 1)  # and of the end symbol
        return Hypothesis(model.target_vocabulary.ids(words), sum(scores), True, scores, attention)

    hypotheses = [  # attention has a row and a column for the end symbols
        hypothesis(["w3", "w4"], -1.0, np.full((3, 4), 0.5, np.float32)),
        hypothesis(["w5"], -2.0, np.full((2, 3), 0.25, np.float32)),
    ]
    pieces = [[*"xyz"], [*"uv"]]
    translator = make_translator(model, attention=True)
    translation = translator.make_translation("x y z u v", pieces, hypotheses)
    assert (
        translation.text == "w3 w4 w5" and translation.piece_lengths == [3, 2] and translation.score == -7.0
    )
    assert translation.token_scores == [-1.0] * 3 + [-2.0] * 2
    assert translation.attention.tolist() == [[0.5] * 3 + [0] * 2] * 2 + [[0] * 3 + [0.25] * 2]
    unfinished = replace(hypotheses[1], finished=False)
    assert not translator.make_translation("", [["u"]], [unfinished]).finished


def test_model_without_attention(model, tmp_path):
    """Alone it cannot copy; in an ensemble, the attention is that of the others."""
    other = load_model(trained_model(tmp_path, "rnnencdec"), CPU)
    with refused():
        translate(other, ["w3"], unknown="copy")
    ((translation,),) = translate(other, ["w3 w4"], attention=True)
    assert translation.attention is None and translation.token_scores
    ((translation,),) = translate([model, other], ["w3 w4 w5"], attention=True)
    pairs = [(translation.source_tokens, translation.tokens)]
    (forced,) = score_translations([model, other], pairs, 1)
    assert np.allclose(translation.attention, forced.attention[: len(translation.tokens), :3], atol=1e-5)


def test_clause_without_spaces_is_cut():
    words = ["我昨天在学校看三本书" * 20, "。", "ខ្ញុំទៅផ្សារ" * 30, "word"]
    pieces = split_into_pieces(words, 50)
    assert "".join(map("".join, pieces)) == "".join(words)
    assert max(sum(map(count_letters_or_word, piece)) for piece in pieces) == 50
    assert split_into_pieces(["x" * 300], 50) == [["x" * 300]]
