"""Figure 2: BLEU against sentence length."""

from __future__ import annotations

from matplotlib.figure import Figure

from pipeline.results.figures.bleu_curves import figure2
from pipeline.results.inputs import Inputs


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    models = inputs.config.models
    shown = [models[name] for name in inputs.settings.figure2_models if name in models]
    return figure2(inputs.curves(), inputs.settings, {model.max_words for model in shown})
