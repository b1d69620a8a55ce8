"""BLEU against length of source, reference and both: panels, curves."""

import numpy as np

from pipeline.results.figures.length_curves import plot_length_curves
from tests.pipeline.results.figures.test_bleu_curves import LABELS, figure_inputs


def test_length_curves_panels() -> None:
    panels = plot_length_curves(figure_inputs(70)).get_axes()
    assert [panel.get_title() for panel in panels] == [*LABELS.values(), "Moses"]
    source, reference, both = panels[0].lines
    assert [line.get_linestyle() for line in (source, reference, both)] == ["-", ":", "--"]
    # references have five words more, so their windows hold the sentences of five words fewer
    assert list(source.get_xdata()) == list(range(3, 61))
    np.testing.assert_array_equal(np.asarray(reference.get_ydata()), np.asarray(source.get_ydata())[:-5])
    assert np.isfinite(np.asarray(both.get_ydata(), float)).any()
