"""The figure of sentence vectors: every sentence is written out, none over another."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from pipeline.results.figures.sentence_vectors import plot_sentence_vectors
from pipeline.results.inputs import Inputs
from tests.running import ROOT


def test_sentence_vector_labels_do_not_overlap() -> None:
    inputs = Inputs(ROOT / "results" / "packages" / "sutskever2014-demo")
    assert inputs.config.sentence_vectors
    figure = plot_sentence_vectors(inputs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes, sentences in zip(figure.axes, inputs.config.sentence_vectors.panels, strict=True):
        assert sorted(text.get_text() for text in axes.texts) == sorted(sentences)
        boxes = [Text.get_window_extent(text, canvas.get_renderer()) for text in axes.texts]
        assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
