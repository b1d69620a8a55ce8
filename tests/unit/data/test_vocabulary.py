from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.vocabulary import (
    END,
    SPECIALS,
    UNKNOWN,
    WORD_START,
    BytePairEncoder,
    Vocabulary,
    build_vocabulary,
    count_words,
    join_subwords,
    learn_subwords,
)
from nmt.io.files import sha256
from tests.bitexts import write_text
from tests.messages import refused


def test_rank_is_by_count_then_code_point(tmp_path: Path) -> None:
    shards = [write_text(tmp_path / "0.zst", ["b a é a", "", "z b"]), write_text(tmp_path / "1.zst", ["c Z"])]
    vocabulary = build_vocabulary(count_words(shards), 5, False, tmp_path / "v.tsv")
    assert (
        tmp_path / "v.tsv"
    ).read_text() == "rank\tword\tcount\n1\ta\t2\n2\tb\t2\n3\tZ\t1\n4\tc\t1\n5\tz\t1\n"
    assert len(vocabulary) == 7
    assert vocabulary.ids(["a", "b", "é", "z"]) == [2, 3, UNKNOWN, 6]
    assert vocabulary.words([END, UNKNOWN, 2]) == ["</s>", "[UNK]", "a"]


def test_specials_count_among_the_words_when_asked(tmp_path: Path) -> None:
    shard = write_text(tmp_path / "0", ["a a a b b c"])
    assert [len(build_vocabulary(count_words([shard]), words, True, tmp_path / "v")) for words in (3, 4)] == [
        3,
        4,
    ]
    with refused():
        build_vocabulary(count_words([shard]), 2, True, tmp_path / "v")


def test_names_of_specials_in_the_text_are_unknown_words(tmp_path: Path) -> None:
    vocabulary = build_vocabulary(
        count_words([write_text(tmp_path / "0", ["</s> [UNK] a"])]), 10, False, tmp_path / "v"
    )
    assert vocabulary.ids(["</s>", "[UNK]", "a"]) == [UNKNOWN, UNKNOWN, 2]
    assert "[UNK]" not in vocabulary
    assert "a" in vocabulary


def test_a_word_twice_is_refused(tmp_path: Path) -> None:
    Vocabulary([("a", 3), ("b", 2), ("a", 1)]).write(tmp_path / "words.tsv")
    with refused():
        Vocabulary.read(tmp_path / "words.tsv")


def test_reading_gives_the_same_vocabulary_and_sum(tmp_path: Path) -> None:
    path = tmp_path / "v.tsv"
    built = build_vocabulary(
        count_words([write_text(tmp_path / "0", ["le la le &apos; «"])]), 10, False, path
    )
    read = Vocabulary.read(path)
    assert read.words(range(len(read))) == built.words(range(len(built)))
    assert read.counts == built.counts
    assert read.sha256 == built.sha256 == sha256(path)


# --- subword units: nothing lost, cut as SentencePiece cuts, and unknown words whole ---

STEMS = [
    "haus", "schul", "kind", "er", "ung", "lich", "frei", "heit",
    "arbeit", "s", "ärz", "te", "1", "2", ".",
]  # fmt: skip


def words(count: int = 800) -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices(STEMS, k=draw.randint(1, 4))) for _ in range(count)]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vocabulary]:
    folder = tmp_path_factory.mktemp("units")
    text, output = folder / "text", folder / "units.tsv"
    text.write_text("\n".join(words()) + "\n")
    built = build_vocabulary(count_words([text]), 120, False, output, subwords=True)
    read = Vocabulary.read(output)
    assert read.sha256 == built.sha256
    assert len(read) == 122
    yield read


LETTERS = "".join(sorted(set("".join(STEMS))))


@given(tokens=st.lists(st.text(LETTERS, min_size=1)))
def test_words_of_known_characters_come_back(vocabulary: Vocabulary, tokens: list[str]) -> None:
    ids = vocabulary.ids(tokens)
    assert UNKNOWN not in ids
    assert vocabulary.words(ids) == tokens
    beginnings = vocabulary.word_start_indices(tokens)
    assert beginnings[-1] == len(ids)
    assert [vocabulary.words(ids[slice(*ends)]) for ends in pairwise(beginnings)] == [
        [token] for token in tokens
    ]


@given(
    tokens=st.lists(
        st.text(
            st.characters(max_codepoint=0xDFF, exclude_categories=["Z", "C"]) | st.sampled_from(LETTERS),
            min_size=1,
        )
    )
)
def test_a_word_with_another_character_is_one_unknown_word(vocabulary: Vocabulary, tokens: list[str]) -> None:
    expected = [token if set(token) <= set(LETTERS) else "[UNK]" for token in tokens]
    assert vocabulary.words(vocabulary.ids(tokens)) == expected
    assert [token in vocabulary for token in tokens] == [token != "[UNK]" for token in expected]


def test_words_are_cut_as_sentencepiece_cuts_them(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("\n".join(words()) + "\n")
    settings = {
        "model_type": "bpe",
        "vocab_size": 121,
        "normalization_rule_name": "identity",
        "minloglevel": 2,
    }
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=f"{text}", bos_id=-1, eos_id=-1, **settings
    )
    theirs = sentencepiece.SentencePieceProcessor(model_file=f"{text}.model")
    cut = BytePairEncoder([theirs.id_to_piece(number) for number in range(1, theirs.get_piece_size())])
    draw = random.Random(2)
    for _ in range(500):
        word = "".join(draw.choices(LETTERS, k=draw.randint(1, 30)))
        assert list(cut(word)) == theirs.encode(word, out_type=str)


def test_text_of_few_words_has_fewer_units_and_too_few_are_refused() -> None:
    assert len(learn_subwords({"ab": 3, "abc": 2}, 1000)) < 12
    with refused():
        learn_subwords(dict.fromkeys(words(), 1), 3)


def test_no_words_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n", encoding="utf-8")
    with refused():
        build_vocabulary(
            count_words([tmp_path / "text"]), 10, False, tmp_path / "vocabulary.tsv", subwords=True
        )
    with refused():
        build_vocabulary(
            count_words([tmp_path / "text"]), 2, True, tmp_path / "vocabulary.tsv", subwords=True
        )


def test_specials_and_marks_inside_of_words_are_no_units(vocabulary: Vocabulary) -> None:
    assert vocabulary.ids([*SPECIALS, f"er{WORD_START}", "er" * 200]) == [UNKNOWN] * 4


def test_without_spaces_a_clause_keeps_its_units_beside_unknown_characters() -> None:
    units = Vocabulary([(unit, 1) for unit in ("▁", "天", "气", "好", "天气", "a")], subwords=True)
    assert units.segment(["天气很好", "ab"]) == ["▁", "天气", "[UNK]", "好", "ab"]
    assert units.ids(["天气很坏好"]) == [2, 6, UNKNOWN, 5], "one for neighbours"
    assert [word in units for word in ("天气很好", "天气好", "很")] == [False, True, False]
    assert units.ids(["很", "a" * 201]) == [UNKNOWN] * 2
    assert units.words(units.ids(["好" * 450])) == ["好" * 450]
    assert units.word_start_indices(["天气很好", "a"]) == [0, 4, 6]


def test_pieces_without_a_beginning_join_what_is_before_unless_it_is_whole() -> None:
    assert join_subwords(["ab", "c", "▁d", "[UNK]", "e", "▁", "▁f"], SPECIALS)[0] == [
        "abc",
        "d",
        "[UNK]",
        "e",
        "f",
    ]
