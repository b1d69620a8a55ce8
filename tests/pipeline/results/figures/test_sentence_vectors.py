"""The figure of sentence vectors: every sentence is written out, none over another."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from nmt.evaluation.principal_components import Projection
from pipeline.results.figures import sentence_vectors


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0])
def test_sentence_vector_labels_do_not_overlap(spread: float) -> None:
    vectors = np.random.default_rng(3).normal(size=(12, 5)).astype(np.float32)
    vectors[:, :2] *= spread
    sentences = [f"In the garden , sentence {number} is this one" for number in range(12)]
    projections = [
        Projection.from_vectors(sentences[:6], vectors[:6]),
        Projection.from_vectors(sentences, vectors),
    ]
    inputs: Any = SimpleNamespace(package=SimpleNamespace(vectors=None))
    with patch.object(sentence_vectors, "read_projections", lambda _: projections):
        figure = sentence_vectors.plot_sentence_vectors(inputs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert [len(axes.texts) for axes in figure.axes] == [6, 12]
    for axes in figure.axes:
        assert sorted(text.get_text() for text in axes.texts) == sorted(sentences[: len(axes.texts)])
        boxes = [Text.get_window_extent(text, canvas.get_renderer()) for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert "% of the variance" in figure.axes[0].get_xlabel()
