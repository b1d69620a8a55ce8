"""The colour and line of a model, the same in all figures of an experiment."""

from __future__ import annotations

from typing import Any

from nmt.plots.style import COLORS, DASHES
from pipeline.config.display import ReportSettings


def line_of(model: str, settings: ReportSettings) -> dict[str, Any]:
    """Return colour and line style of a model or system.

    Those of Figure 2 come first, in its order, then the others in the order of the settings.
    """
    models = list(dict.fromkeys([*settings.figure2_models, *settings.labels, model]))
    round_, index = divmod(models.index(model), len(COLORS))
    return {"color": COLORS[index], "linestyle": DASHES[(index + round_) % len(DASHES)]}
