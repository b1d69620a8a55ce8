"""BLEU against length of source, reference and both: panels, curves."""

import numpy as np

from pipeline.results.figures.length_curves import plot_length_curves
from tests.pipeline.results.figures.test_bleu_curves import WITH_MOSES, figure_inputs, scores


def test_length_curves_panels() -> None:
    systems = scores() | {"moses": scores()["rnnsearch-50"]}
    panels = plot_length_curves(figure_inputs(systems, WITH_MOSES)).get_axes()
    assert [panel.get_title() for panel in panels] == [
        *("RNNsearch-50", "RNNsearch-30", "RNNencdec-50", "RNNencdec-30", "Moses")
    ]
    for panel in panels:
        source, reference, both = panel.lines
        assert [line.get_linestyle() for line in panel.lines] == ["-", ":", "--"]
        # references have five words more, so their windows hold the sentences of five words fewer
        places, values = np.asarray(source.get_xdata()), np.asarray(source.get_ydata())
        assert list(places) == list(range(3, 61)) and panel.get_xlim()[1] == 60.5
        shifted = dict(zip(reference.get_xdata(), reference.get_ydata(), strict=True))
        assert all(shifted[place + 5] == value for place, value in zip(places[:-5], values, strict=False))
        assert np.count_nonzero(~np.isnan(np.asarray(both.get_ydata(), float))) > 0
