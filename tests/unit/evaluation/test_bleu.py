"""BLEU against multi-bleu's arithmetic done by hand, and faulty files of translations."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.evaluation.bleu import (
    choose_tokenizer,
    corpus_bleu,
    count_matches,
    multi_bleu,
    score_model,
    score_plain_text,
)
from tests.bitexts import write_text
from tests.messages import refused

Triples = list[tuple[str, str, str]]
"""Source, reference and translation."""

TEXT: Triples = [
    ("the black cat sleeps .", "le chat noir dort .", "le chat noir dort ."),
    ("it is raining again", "il pleut encore", "il pleut"),
    ("a", "un", "une"),
]


def write_test_set(folder: Path, triples: Triples, no_unk_lines: set[int]) -> dict[str, Path]:
    """Token files and translations of a test set; `no_unk_lines` are those of the No-UNK column."""
    records, no_unk = [], []
    for line, (source, _, text) in enumerate(triples):
        tokens = {"source_tokens": source.split(), "tokens": text.split()}
        record = {"line": line, **tokens, "finished": "[UNK]" not in text}
        records.append(json.dumps(record | {"source_unknown": len(source.split())}))
        if line in no_unk_lines:
            no_unk.append(records[-1])
    return {
        "source": write_text(folder / "source.en", [source for source, _, _ in triples]),
        "reference": write_text(folder / "reference.fr", [reference for _, reference, _ in triples]),
        "all": write_text(folder / "all.jsonl", records),
        "no_unk": write_text(folder / "no_unk.jsonl", no_unk),
    }


def score_files(files: dict[str, Path]) -> dict[str, Any]:
    return score_model("m", files["all"], files["no_unk"], (files["source"], files["reference"]))


def score_triples(folder: Path, triples: Triples, no_unk_lines: set[int]) -> dict[str, Any]:
    return score_files(write_test_set(folder, triples, no_unk_lines))


def test_bleu_by_hand(tmp_path):
    # matches 5+2+0, 4+1+0, 3+0+0, 2+0+0 of 8, 5, 3, 2 n-grams; 8 words against 9
    precisions = [7 / 8, 5 / 5, 3 / 3, 2 / 2]
    expected = 100 * math.exp(1 - 9 / 8) * math.prod(precisions) ** 0.25
    result = score_triples(tmp_path, TEXT, no_unk_lines={0})
    assert result["bleu_all"] == pytest.approx(expected, abs=1e-6)
    assert result["bleu_no_unk"] == pytest.approx(100)
    assert (result["sentences_all"], result["sentences_no_unk"]) == (3, 1)
    choices = "nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version:"
    assert result["signature"].startswith(choices)


def test_unknown_word_is_a_wrong_word(tmp_path):
    pair = ("s", "un deux trois quatre cinq", "un deux trois quatre [UNK]")
    result = score_triples(tmp_path, [pair], no_unk_lines=set())
    assert result["bleu_all"] == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25, abs=1e-6)
    assert (result["unknown_words_written"], result["unfinished_all"]) == (1, 1)


LINES = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=8))
def test_counts_add_up_to_the_corpus(pairs):
    counts = [count_matches(hypothesis, reference) for hypothesis, reference in pairs]
    hypotheses, references = zip(*pairs, strict=True)
    expected = multi_bleu().corpus_score(hypotheses, [references])
    assert corpus_bleu(counts) == pytest.approx(expected.score, abs=1e-6)


@pytest.mark.parametrize("name", ["all", "source"])
def test_missing_or_other_translation_is_refused(tmp_path, name):
    files = write_test_set(tmp_path, TEXT, no_unk_lines=set())
    lines = files[name].read_text().splitlines()[:-1]
    write_text(files[name], [*lines, "b"] if name == "source" else lines)
    with refused():
        score_files(files)


def test_values_of_each_sentence(tmp_path):
    triples = [("a b", "un", "un"), ("c", "un deux", "un"), ("d e", "trois", "quatre"), ("", "", "un")]
    sentences = score_triples(tmp_path, triples, no_unk_lines=set())["by_sentence"]
    keys = ("source_length", "reference_length", "reference_words", "source_unknown")
    rows = [tuple(sentence[key] for key in keys) for sentence in sentences]
    assert rows == [(2, 1, 1, 2), (1, 2, 2, 1), (2, 1, 1, 2), (0, 0, 0, 0)]
    assert [row["correct"] for row in sentences] == [[1, 0, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]


def test_plain_text_is_scored_like_a_model(tmp_path):
    triples = [*TEXT, ("[UNK] cat", "chat", "chat")]
    files = write_test_set(tmp_path, triples, no_unk_lines={0, 2})
    test = files["source"], files["reference"]
    model_scores = score_files(files)
    text = write_text(tmp_path / "translations.txt", [f"{output} " for _, _, output in triples])
    system_scores = score_plain_text("m", text, files["no_unk"], test)
    for row in (*model_scores["by_sentence"], *model_scores["by_sentence_no_unk"]):
        row["source_unknown"] = 0
    assert system_scores == model_scores and len(system_scores["by_sentence_no_unk"]) == 2
    write_text(text, ["un"])
    with refused():
        score_plain_text("m", text, files["no_unk"], test)


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        ("我昨天在学校图书馆借了三本书 。", "zh"),
        ("私は昨日学校で本を借りました 。", "char"),
        ("ខ្ញុំទៅផ្សារ ។", "char"),
        ("ꦏꦸꦭꦤꦸꦮꦸꦤ꧀ꦥꦺꦴꦠꦾꦤ꧀ꦠꦶꦒ ꧉", "char"),
        ("나는 학교에 갔습니다 .", "13a"),
        ("the word 東京 is here .", "13a"),
    ],
)
def test_letters_are_words_in_scripts_without_spaces(text, tokenizer):
    """Otherwise a clause would be a single word, and a perfect translation would have a BLEU of 0."""
    assert corpus_bleu([count_matches(text, text)]) == 100
    assert choose_tokenizer([text]) == tokenizer
