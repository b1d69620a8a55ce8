import random
from itertools import pairwise

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.subwords import WORD_START, BytePairEncoder, join_subwords, learn_subwords
from nmt.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary, build_vocabulary
from tests.messages import refused

STEMS = "haus schul kind er ung lich frei heit arbeit s ärz te 1 2 ."
LETTERS = "".join(sorted({*STEMS} - {" "}))


def random_words() -> list[str]:
    rng = random.Random(1)
    return ["".join(rng.choices(STEMS.split(), k=rng.randint(1, 4))) for _ in range(800)]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    path = tmp_path_factory.mktemp("subwords") / "subwords.tsv"
    counts = dict.fromkeys(random_words(), 1)
    built = build_vocabulary(counts, 120, False, path, subwords=True)
    loaded = Vocabulary.read(path)
    assert loaded.sha256 == built.sha256
    assert len(loaded) == 122
    return loaded


@given(tokens=st.lists(st.text(LETTERS, min_size=1)))
def test_words_of_known_characters_round_trip(vocabulary, tokens):
    ids = vocabulary.ids(tokens)
    assert UNKNOWN not in ids
    assert vocabulary.words(ids) == tokens
    starts = vocabulary.word_start_indices(tokens)
    assert starts[-1] == len(ids)
    for token, (start, end) in zip(tokens, pairwise(starts), strict=True):
        assert vocabulary.words(ids[start:end]) == [token]


SPACED_TEXT = st.characters(max_codepoint=0xDFF, exclude_categories=["Z", "C"]) | st.sampled_from(LETTERS)


@given(tokens=st.lists(st.text(SPACED_TEXT, min_size=1)))
def test_word_with_unknown_character_is_one_unknown_word(vocabulary, tokens):
    expected = [token if set(token) <= set(LETTERS) else "[UNK]" for token in tokens]
    assert vocabulary.words(vocabulary.ids(tokens)) == expected
    assert [token in vocabulary for token in tokens] == [token != "[UNK]" for token in expected]


def test_subwords_equal_sentencepiece(tmp_path):
    text = tmp_path / "text"
    text.write_text("\n".join(random_words()) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(text),
        model_type="bpe",
        vocab_size=121,
        normalization_rule_name="identity",
        bos_id=-1,
        eos_id=-1,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=f"{text}.model")
    subwords = [processor.id_to_piece(i) for i in range(1, processor.get_piece_size())]
    encoder = BytePairEncoder(subwords, "[UNK]")
    rng = random.Random(2)
    for _ in range(500):
        word = "".join(rng.choices(LETTERS, k=rng.randint(1, 30)))
        assert list(encoder.segment(word)) == processor.encode(word, out_type=str)


def test_number_of_learned_subwords():
    assert len(learn_subwords([("ab", 3), ("abc", 2)], 1000)) < 12
    with refused():
        learn_subwords([(word, 1) for word in random_words()], 3)


def test_special_symbols_marks_and_long_words_are_unknown(vocabulary):
    assert vocabulary.ids([*SPECIALS, f"er{WORD_START}", "er" * 200]) == [UNKNOWN] * 4


def test_unknown_characters_of_unspaced_scripts():
    vocabulary = Vocabulary(
        [(subword, 1) for subword in ("▁", "天", "气", "好", "天气", "a")], has_subwords=True
    )
    assert vocabulary.segment(["天气很好", "ab"]) == ["▁", "天气", "[UNK]", "好", "ab"]
    assert vocabulary.ids(["天气很坏好"]) == [2, 6, UNKNOWN, 5], "one for neighbours"
    assert [word in vocabulary for word in ("天气很好", "天气好", "很")] == [False, True, False]
    assert vocabulary.ids(["很", "a" * 201]) == [UNKNOWN] * 2
    assert vocabulary.words(vocabulary.ids(["好" * 450])) == ["好" * 450]
    assert vocabulary.word_start_indices(["天气很好", "a"]) == [0, 4, 6]


def test_join_subwords():
    words, starts = join_subwords(["ab", "c", "▁d", "[UNK]", "e", "▁", "▁f"], SPECIALS)
    assert words == ["abc", "d", "[UNK]", "e", "f"]
    assert starts == [0, 2, 3, 4, 6]
