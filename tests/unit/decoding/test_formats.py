"""Translations as text, n-best lists, alignments and JSON."""

import json
from dataclasses import replace

import numpy as np

from nmt.decoding.formats import (
    format_alignment,
    format_json_line,
    format_n_best,
    format_text,
)
from nmt.decoding.translation import Translation

WEIGHTS = np.array([[0.25, 0.75], [0.5, 0.125]], np.float32)
TRANSLATION = Translation(
    source="a\u2028b",
    text="x\u2028y",
    score=-1.25,
    source_tokens=["a", "b"],
    tokens=["x", "y"],
    token_scores=[-0.5, -0.25, -0.5],
    piece_lengths=[2],
    piece_attention=[WEIGHTS],
)


def test_alignments():
    two_pieces = replace(TRANSLATION, piece_attention=[WEIGHTS, WEIGHTS])
    assert format_alignment(two_pieces) == "1-0 0-1 3-2 2-3"
    assert format_alignment(replace(TRANSLATION, piece_attention=[])) == ""


def test_text_and_n_best():
    assert format_text(7, [TRANSLATION], False) == "x\u2028y"
    assert format_text(7, [TRANSLATION], True) == "x\u2028y ||| 1-0 0-1"
    line = "7 ||| x\u2028y ||| NMT0= -1.2500 ||| -1.2500"
    assert format_n_best(7, [TRANSLATION, TRANSLATION], False) == f"{line}\n{line}"
    assert format_n_best(7, [TRANSLATION], True) == f"{line} ||| 1-0 0-1"


def test_json():
    line = format_json_line(7, [TRANSLATION, TRANSLATION], False)
    assert "\u2028" not in line, "some programs take it for the end of a line"
    entry = json.loads(line)
    assert (entry["line"], entry["text"], entry["alignment"]) == (7, "x\u2028y", WEIGHTS.tolist())
    assert entry["n_best"][1]["word_log_probabilities"] == [-0.5, -0.25, -0.5]
