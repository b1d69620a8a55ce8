"""Attention against known alignments, in both forms in which these come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmt.evaluation.alignment_error_rate import (
    attended_links,
    compute_alignment_error_rate,
    diagonal_links,
    read_gold_alignments,
)
from tests.messages import refused


def test_most_attended_words_are_linked() -> None:
    weights = [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]]
    # two source words and the end symbol, three target words and the end symbol: the third looks at the end
    assert attended_links(weights, source_words=2, target_words=3) == {(1, 0), (0, 1)}


def test_the_diagonal_is_stretched() -> None:
    assert diagonal_links(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal_links(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal_links(4, 2) == {(1, 0), (3, 1)}
    assert diagonal_links(0, 2) == set()


def aligned(folder: Path, gold: str) -> dict[str, Any]:
    record = {
        "line": 0,
        "source": "european area .",
        "target": "zone européenne .",
        "alignment": [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
    }
    (folder / "alignments.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "gold.align").write_text(gold)
    return compute_alignment_error_rate("m", folder / "alignments.jsonl", folder / "gold.align")


def test_alignment_error_rate_by_hand(tmp_path: Path) -> None:
    # found 1-0 0-1 1-2; gold 1-0 0-1 2-2 0-0: two right, so 1 - 2*2 / (3+4)
    result = aligned(tmp_path, "1-0 0-1 2-2 0-0\n")
    assert result["alignment_error_rate"] == pytest.approx(1 - 4 / 7, abs=1e-6)
    assert result["precision"] == pytest.approx(2 / 3, abs=1e-6)
    assert result["recall"] == pytest.approx(2 / 4)
    # the diagonal finds 0-0 and 2-2
    assert result["baselines"]["diagonal"]["alignment_error_rate"] == pytest.approx(1 - 4 / 7, abs=1e-6)
    assert (result["sentences"], result["links"], result["gold_links"]) == (1, 3, 4)


def test_possible_links_are_right_but_not_missed(tmp_path: Path) -> None:
    # found 1-0 0-1 1-2; sure 1-0 2-2, possible 0-1 too: A and S 1, A and P 2, so 1 - (1 + 2) / (3 + 2)
    result = aligned(tmp_path, "1-0 2-2 0?1\n")
    assert result["alignment_error_rate"] == pytest.approx(1 - 3 / 5, abs=1e-6)
    assert (result["precision"], result["recall"]) == (pytest.approx(2 / 3, abs=1e-6), pytest.approx(1 / 2))


def links(path: Path) -> dict[int, tuple[set[tuple[int, int]], set[tuple[int, int]]]]:
    found = read_gold_alignments(path, 3)
    return {line: (gold.sure, gold.possible) for line, gold in found.items() if gold.possible}


NUMBERED = {
    "wpt": "{0:04} 2 1 S\n{0:04} 3 3\n{0:04} 1 2 P 0.5\n{2} 1 1 S\n",
    "pharaoh": "{0:04}\t1-0 2-2 0p1\n{1}\n{2} 0-0\n",
}


@pytest.mark.parametrize("first", [0, 1, 2, 1001])
@pytest.mark.parametrize("form", NUMBERED)
def test_all_forms_say_the_same_from_whatever_number_they_count(
    tmp_path: Path, form: str, first: int
) -> None:
    (tmp_path / "plain").write_text("1-0 2-2 0p1\n\n0-0\n")
    (tmp_path / "numbered").write_text(NUMBERED[form].format(first, first + 1, first + 2))
    assert links(tmp_path / "numbered") == links(tmp_path / "plain")


def test_numbers_of_pharaoh_that_may_begin_at_0_or_1_are_refused_until_a_line_says_it(tmp_path: Path) -> None:
    path = tmp_path / "pharaoh"
    path.write_text("1 0-0\n2 1-1\n")
    with refused():
        links(path)
    for line, lines in {"0": [1, 2], "3": [0, 1]}.items():
        path.write_text(f"1 0-0\n2 1-1\n{line}\n")
        assert [*links(path)] == lines


def test_sentences_without_a_line_come_before_the_first_one_too(tmp_path: Path) -> None:
    (tmp_path / "wpt").write_text("2 1 1 S\n3 1 1 S\n")
    assert [*links(tmp_path / "wpt")] == [1, 2]
    (tmp_path / "wpt").write_text("2 1 1 S\n5 1 1 S\n")
    with refused():
        links(tmp_path / "wpt")


def test_a_model_without_attention_has_no_error_rate(tmp_path: Path) -> None:
    (tmp_path / "alignments").write_text('{"line": 0, "source": "a", "target": "b", "alignment": null}\n')
    (tmp_path / "gold").write_text("0-0\n")
    with refused():
        compute_alignment_error_rate("m", tmp_path / "alignments", tmp_path / "gold")
