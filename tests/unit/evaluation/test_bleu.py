"""BLEU against multi-bleu's arithmetic done by hand, and records that are at fault."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.evaluation.bleu import (
    BleuCounts,
    multi_bleu,
    score_model,
    score_other_system,
    sentence_counts,
)
from tests.messages import refused

Pairs = list[tuple[str, str, str]]
"""Source, reference and translation."""

TEXT: Pairs = [
    ("the black cat sleeps .", "le chat noir dort .", "le chat noir dort ."),
    ("it is raining again", "il pleut encore", "il pleut"),
    ("a", "un", "une"),
]


def write_test_set(folder: Path, pairs: Pairs, known: set[int]) -> dict[str, Path]:
    """Token files and translations of a test set; `known` are the lines of the No-UNK column."""
    files = {name: folder / name for name in ("source.en", "reference.fr", "all.jsonl", "no_unk.jsonl")}
    files["source.en"].write_text("".join(f"{source}\n" for source, _, _ in pairs), encoding="utf-8")
    files["reference.fr"].write_text("".join(f"{reference}\n" for _, reference, _ in pairs), encoding="utf-8")
    records = [
        {"line": line, "source": source, "text": text, "finished": "[UNK]" not in text, "alignment": None}
        | {"source_unknown": len(source.split())}
        for line, (source, _, text) in enumerate(pairs)
    ]
    write_records(files["all.jsonl"], records)
    write_records(files["no_unk.jsonl"], [record for record in records if record["line"] in known])
    return files


def write_records(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def scored(folder: Path, pairs: Pairs, known: set[int]) -> dict[str, Any]:
    files = write_test_set(folder, pairs, known)
    test = (files["source.en"], files["reference.fr"])
    return score_model("m", files["all.jsonl"], files["no_unk.jsonl"], test)


def test_bleu_is_what_multi_bleu_computes(tmp_path: Path) -> None:
    # matches 5+2+0, 4+1+0, 3+0+0, 2+0+0 of 8, 5, 3, 2 n-grams; 8 words against 9
    precisions = [7 / 8, 5 / 5, 3 / 3, 2 / 2]
    expected = 100 * math.exp(1 - 9 / 8) * math.prod(precisions) ** 0.25
    result = scored(tmp_path, TEXT, known={0})
    assert result["bleu_all"] == pytest.approx(expected, abs=1e-6)
    assert result["bleu_no_unk"] == pytest.approx(100)
    assert (result["sentences_all"], result["sentences_no_unk"]) == (3, 1)


def test_clipped_counts_and_zero_without_a_common_four_gram(tmp_path: Path) -> None:
    result = scored(tmp_path, [("s", "le chat dort bien ici", "le le chat dort")], known=set())
    assert result["bleu_all"] == 0
    assert result["by_sentence"][0]["correct"] == [3, 2, 1, 0]
    assert result["bleu_no_unk"] is None


def test_case_counts_and_tokens_stay_as_they_are(tmp_path: Path) -> None:
    different = scored(tmp_path, [("s", "Le chat dort bien", "le chat dort bien")], known=set())
    assert different["bleu_all"] == 0
    escaped = scored(tmp_path, [("s", "l &apos; un , 1.5 deux", "l &apos; un , 1.5 deux")], known=set())
    assert escaped["by_sentence"][0]["total"] == [6, 5, 4, 3]


def test_the_unknown_word_is_a_wrong_word(tmp_path: Path) -> None:
    pair = ("s", "un deux trois quatre cinq", "un deux trois quatre [UNK]")
    result = scored(tmp_path, [pair], known=set())
    assert result["bleu_all"] == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25, abs=1e-6)
    assert (result["unknown_words_written"], result["unfinished_all"]) == (1, 1)


def test_signature_names_every_choice(tmp_path: Path) -> None:
    signature = scored(tmp_path, TEXT, known={0})["signature"]
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version:")


WORDS = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8))
def test_counts_of_sentences_add_up_to_the_corpus(pairs: list[tuple[str, str]]) -> None:
    counts = [sentence_counts(hypothesis, reference) for hypothesis, reference in pairs]
    total = BleuCounts(0, (0,) * 4, (0,) * 4, 0, 0)
    for count in counts:
        total += count
    whole = multi_bleu().corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
    assert total.bleu == pytest.approx(whole.score, abs=1e-6)
    assert total.sentences == len(pairs)
    assert BleuCounts.from_dict(total.as_dict()) == total


@pytest.mark.parametrize("file", ["all.jsonl", "source.en"])
def test_a_translation_that_is_missing_or_of_another_text_is_refused(tmp_path: Path, file: str) -> None:
    files = write_test_set(tmp_path, TEXT, known=set())
    lines = files[file].read_text().splitlines(keepends=True)
    files[file].write_text("".join([*lines[:-1], *(["b\n"] if file == "source.en" else [])]))
    with refused():
        score_model(
            "m", files["all.jsonl"], files["no_unk.jsonl"], (files["source.en"], files["reference.fr"])
        )


def test_counts_are_kept_for_each_sentence(tmp_path: Path) -> None:
    pairs = [("a b", "un", "un"), ("c", "un deux", "un"), ("d e", "trois", "quatre"), ("", "", "un")]
    found = scored(tmp_path, pairs, known=set())["by_sentence"]
    keys = ("source_length", "reference_length", "sentences", "reference_words", "source_unknown")
    rows = [tuple(row[key] for key in keys) for row in found]
    assert rows == [(2, 1, 1, 1, 2), (1, 2, 1, 2, 1), (2, 1, 1, 1, 2), (0, 0, 1, 0, 0)]
    assert [row["correct"] for row in found] == [[1, 0, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]


def test_another_system_is_scored_as_a_model_that_wrote_the_same(tmp_path: Path) -> None:
    pairs = [*TEXT, ("[UNK] cat", "chat", "chat")]
    files = write_test_set(tmp_path, pairs, known={0, 2})
    test = (files["source.en"], files["reference.fr"])
    mine = score_model("m", files["all.jsonl"], files["no_unk.jsonl"], test)
    text = tmp_path / "translations.txt"
    text.write_text("".join(f"{output} \n" for _, _, output in pairs), encoding="utf-8")
    theirs = score_other_system("m", text, files["no_unk.jsonl"], test)
    for row in (*mine["by_sentence"], *mine["by_sentence_no_unk"]):
        row["source_unknown"] = 0
    assert theirs == mine and len(theirs["by_sentence_no_unk"]) == 2
    text.write_text("un\n", encoding="utf-8")
    with refused():
        score_other_system("m", text, files["no_unk.jsonl"], test)
