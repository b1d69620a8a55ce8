"""Attention against gold alignments."""

import json
from pathlib import Path
from typing import Any

import pytest

from nmt.evaluation.alignment_error_rate import (
    compute_alignment_error_rate,
    link_by_attention,
    link_diagonal,
    link_same_position,
)
from tests.messages import refused


def test_link_by_attention():
    weights = [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]]
    # two source words and the end symbol, three target words and the end symbol: the third looks at the end
    assert link_by_attention(weights, source_words=2, target_words=3) == {(1, 0), (0, 1)}


def test_links_by_position():
    assert link_diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert link_diagonal(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert link_diagonal(4, 2) == {(1, 0), (3, 1)}
    assert link_diagonal(0, 2) == set()
    assert link_same_position(2, 4) == link_same_position(4, 2) == {(0, 0), (1, 1)}


def error_rate(folder: Path, gold: str) -> dict[str, Any]:
    """The error rate of attention that links 1-0, 0-1 and 1-2."""
    record = {
        "line": 0,
        "source_tokens": ["european", "area", "."],
        "tokens": ["zone", "européenne", "."],
        "alignment": [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
    }
    (folder / "alignments.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "gold.align").write_text(gold)
    return compute_alignment_error_rate("m", folder / "alignments.jsonl", folder / "gold.align")


def test_error_rate_by_hand(tmp_path):
    # two of three links are among four gold links, so 1 - 2*2 / (3+4)
    result = error_rate(tmp_path, "1-0 0-1 2-2 0-0\n")
    assert result["alignment_error_rate"] == pytest.approx(1 - 4 / 7, abs=1e-6)
    assert result["precision"] == pytest.approx(2 / 3, abs=1e-6)
    assert result["recall"] == pytest.approx(2 / 4)
    # the diagonal finds 0-0 and 2-2
    assert result["baselines"]["diagonal"]["alignment_error_rate"] == pytest.approx(1 - 4 / 7, abs=1e-6)
    assert (result["sentences"], result["links"], result["gold_links"]) == (1, 3, 4)


def test_possible_links(tmp_path):
    # sure 1-0 2-2, possible 0-1 too: A and S 1, A and P 2, so 1 - (1 + 2) / (3 + 2)
    result = error_rate(tmp_path, "1-0 2-2 0?1\n")
    assert result["alignment_error_rate"] == pytest.approx(1 - 3 / 5, abs=1e-6)
    assert (result["precision"], result["recall"]) == (pytest.approx(2 / 3, abs=1e-6), pytest.approx(1 / 2))


def test_model_without_attention_is_refused(tmp_path):
    (tmp_path / "alignments").write_text('{"line": 0, "source_tokens": ["a"], "tokens": ["b"]}\n')
    (tmp_path / "gold").write_text("0-0\n")
    with refused():
        compute_alignment_error_rate("m", tmp_path / "alignments", tmp_path / "gold")
