"""BLEU against unknown words."""

from __future__ import annotations

from matplotlib.figure import Figure

from pipeline.results.figures.bleu_curves import unknown_words
from pipeline.results.inputs import Inputs


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    return unknown_words(inputs.curves(), inputs.settings)
