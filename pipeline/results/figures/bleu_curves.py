"""Figure 2, drawn as in the paper, and BLEU against unknown words, drawn alike (2014b, Fig. 4c).

A panel below shows how many sentences stand behind the points; bands are 95% intervals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nmt.plots.style import figure_style
from pipeline.config.display import ReportSettings
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.figures.labels import label
from pipeline.results.figures.styles import line_of
from pipeline.results.sentence_groups import Point, Rows, by_length, by_unknown_words, sides_of

Scores = Mapping[str, Mapping[str, Any]]
"""Ids of models to what `score` wrote."""

# the paper's axis says "Sentence length"; where it is not the source's, ours says whose
_LENGTHS = {
    "source": "Sentence length",
    "reference": "Sentence length (reference)",
    "both": "Sentence length (source and reference)",
}
Curve = tuple[str, str, list[tuple[int, float]]]
"""Label, colour and points."""
_BAND = 0.15
_PAPERS_TOP = 30
FEWEST = 10
"""Sentences that a point needs: BLEU of fewer says little."""


def figure2(scores: Scores, settings: ReportSettings, limits: Iterable[int] = ()) -> Figure:
    """Figure 2: BLEU of the translations of the whole test set against the length of the sentences.

    Curves follow `figure2_models`, behind them any other system that has scores, such as Moses; the points are those of
    `by_length` that have at least `FEWEST` sentences.

    Args:
        scores: of the models.
        settings: which models in which order, window, end of the axis, bootstrap.
        limits: words up to which models were trained, which are marked.
    """
    window, longest, length = settings.figure2_window, settings.figure2_max_words, settings.figure2_length
    bootstrap = Bootstrap(settings.bootstrap_samples, settings.bootstrap_seed)
    rows = scores[settings.figure2_models[0]]["by_sentence"]
    found = Counter(max(row[f"{side}_length"] for side in sides_of(length)) for row in rows)
    numbers = {words: found[words] for words in range(1, longest + 1)}
    with figure_style():
        figure, axes, below = _panels(numbers, "per length")
        curves = _draw(
            axes, scores, settings, lambda rows: by_length(rows, window, longest, length, bootstrap)
        )
        # the paper's axis, and half a length more: the last bar below is as wide as the others
        axes.set_xlim(0, longest + 0.5)
        axes.set_xticks(range(0, longest + 1, 10 if longest >= 40 else 5))
        _frame(axes, curves, f"Windows of {window} lengths with {FEWEST} sentences or more", settings)
        for words in sorted(set(limits)):
            if words <= longest:
                _mark(axes, words)
        below.set_xlabel(_LENGTHS[length])
    return figure


def unknown_words(scores: Scores, settings: ReportSettings) -> Figure:
    """BLEU of the sentences with at most so many words that the models do not know, for the models of Figure 2.

    The first model's vocabulary says which: other systems have none.
    """
    most, bootstrap = (
        settings.unknown_words_most,
        Bootstrap(settings.bootstrap_samples, settings.bootstrap_seed),
    )
    first = scores[settings.figure2_models[0]]["by_sentence"]

    def curve(rows: Rows) -> list[Point]:
        counted = [
            {**row, "source_unknown": one["source_unknown"]} for row, one in zip(rows, first, strict=True)
        ]
        return by_unknown_words(counted, most, bootstrap)

    with figure_style():
        numbers = {point.place: point.sentences for point in curve(first)}
        figure, axes, below = _panels(numbers, "with at most")
        curves = _draw(axes, scores, settings, curve, marker="o")
        axes.set_xlim(-0.5, len(numbers) - 0.5)
        _frame(axes, curves, "Sentences with at most so many", settings)
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        below.set_xlabel("Unknown words in the source")
    return figure


def _panels(numbers: Mapping[int, int], which: str) -> tuple[Figure, Axes, Axes]:
    """A figure with a panel for curves, and one below with numbers of sentences."""
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    below.bar(list(numbers), list(numbers.values()), width=0.8, color="0.55")
    below.set_ylabel(f"Sentences\n{which}", fontsize=8)
    below.tick_params(axis="y", labelsize=8)
    below.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    return figure, axes, below


def _draw(
    axes: Axes, scores: Scores, settings: ReportSettings, curve: Callable[[Rows], list[Point]], **style: Any
) -> list[Curve]:
    """Draw each model's curve and band."""
    curves = []
    for model in dict.fromkeys([*settings.figure2_models, *scores]):
        line = line_of(model, settings)
        points, name = curve(scores[model]["by_sentence"]), settings.label(model)
        known = draw_curve(axes, points, label=name, linewidth=2, **line, **style)
        curves.append((name, line["color"], known))
    return curves


def draw_curve(axes: Axes, points: Sequence[Point], color: str, **style: Any) -> list[tuple[int, float]]:
    """Draw the points with sentences enough and their band; return these points."""
    places = [point.place for point in points]
    enough = [point if point.sentences >= FEWEST else None for point in points]
    values = [math.nan if point is None or point.bleu is None else point.bleu for point in enough]
    bounds = [point.interval if point and point.interval else (math.nan, math.nan) for point in enough]
    if any(point and point.interval for point in enough):
        low, high = zip(*bounds, strict=True)
        axes.fill_between(places, low, high, color=color, alpha=_BAND, linewidth=0)
    axes.plot(places, values, color=color, **style)
    return [(place, value) for place, value in zip(places, values, strict=True) if not math.isnan(value)]


def _frame(axes: Axes, curves: Sequence[Curve], what: str, settings: ReportSettings) -> None:
    """Axes, labels at the ends of the curves or of the axis if that is near, and above them what a point is."""
    highest = max((bleu for _, _, points in curves for _, bleu in points), default=0)
    # the paper's axis ends at 30; a better score moves the end up to the next ten
    top = max(_PAPERS_TOP, min(100, 10 * math.ceil(highest / 10)))
    axes.set_ylim(0, top)
    axes.set_yticks(range(0, top + 1, 5 if top <= 50 else 10))
    axes.set_ylabel("BLEU score")
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    ends = [(*points[-1], name, color) for name, color, points in curves if points]
    label(axes, ends, letters=18, line=0.045, near=0.2, fontsize="small")
    samples, seed = settings.bootstrap_samples, settings.bootstrap_seed
    bands = f"; 95% bootstrap intervals ({samples:,} samples, seed {seed})" if samples else ""
    axes.set_title(what + bands, loc="left", fontsize=8, color="0.35", pad=18)


def _mark(axes: Axes, words: int) -> None:
    """The length up to which models were trained."""
    axes.axvline(words, color="0.45", linewidth=0.9, linestyle=(0, (1, 2)), zorder=0.9)
    axes.annotate(
        f"trained up to {words}",
        (words, axes.get_ylim()[1]),
        (0, 3),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        color="0.35",
        annotation_clip=False,
    )
