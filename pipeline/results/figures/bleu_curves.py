"""Figure 2, drawn as in the paper, and BLEU against unknown words, drawn alike (2014b, Fig. 4c).

A panel below shows how many sentences stand behind the points; bands are 95% intervals.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nmt.errors import UserError
from nmt.evaluation.bleu_curves import Point, Rows, by_length, by_unknown_words, sides_of
from nmt.evaluation.bootstrap import Bootstrap
from nmt.plots.style import COLORS, DASHES, drawing
from nmt.settings.text import SentenceLength
from pipeline.config.artifacts import Report

Scores = Mapping[str, Mapping[str, Any]]
"""Ids of models to what `evaluate` wrote."""

# one line style per curve, in the order of the legend
_LINES = tuple(zip(COLORS, DASHES, strict=True))
# the paper's axis says "Sentence length"; where it is not the source's, ours says whose
_LENGTHS = {
    "source": "Sentence length",
    "reference": "Sentence length (reference)",
    "both": "Sentence length (source and reference)",
}
_BAND = 0.15
_PAPERS_TOP = 30
FEWEST = 10
"""Sentences that a point needs: BLEU of fewer says little."""
_LABEL_LETTERS, _LABEL_LINE = 18, 0.045
"""Of a curve's label: letters in a line, and a line's height as a share of the axis."""


def figure2(scores: Scores, settings: Report, limits: Iterable[int] = ()) -> Figure:
    """Figure 2: BLEU of the translations of the whole test set against the length of the sentences.

    Curves follow `figure2_models`, behind them any other system that has scores, such as Moses; the points are those of
    `by_length` that have at least `FEWEST` sentences.

    Args:
        scores: of the models.
        settings: which models in which order, window, end of the axis, bootstrap.
        limits: words up to which models were trained, which are marked.
    """
    window, longest, length = settings.figure2_window, settings.figure2_max_words, settings.figure2_length
    bootstrap = _bootstrap(settings)

    def curve(rows: Rows) -> list[Point]:
        return by_length(rows, window, longest, length, bootstrap)

    with drawing():
        figure, axes, below = _panels()
        highest = _draw_curves(axes, scores, settings, curve)
        # the paper's axis, and half a length more: the last bar below is as wide as the others
        axes.set_xlim(0, longest + 0.5)
        axes.set_xticks(range(0, longest + 1, 10 if longest >= 40 else 5))
        _frame(axes, highest)
        for words in (words for words in sorted(set(limits)) if words <= longest):
            _mark(axes, words)
        _note(axes, f"Windows of {window} lengths with {FEWEST} sentences or more", settings)
        rows = scores[settings.figure2_models[0]]["by_sentence"]
        _draw_numbers(below, _lengths(rows, length, longest), "per length")
        below.set_xlabel(_LENGTHS[length])
    return figure


def unknown_words(scores: Scores, settings: Report) -> Figure:
    """BLEU of the sentences with at most so many words that the models do not know, for the models of Figure 2."""
    most, bootstrap = settings.unknown_words_most, _bootstrap(settings)

    def curve(rows: Rows) -> list[Point]:
        return by_unknown_words(rows, most, bootstrap)

    with drawing():
        figure, axes, below = _panels()
        highest = _draw_curves(axes, _by_what_models_know(scores, settings), settings, curve, marker="o")
        points = curve(scores[settings.figure2_models[0]]["by_sentence"])
        axes.set_xlim(-0.5, len(points) - 0.5)
        _frame(axes, highest)
        _note(axes, "Sentences with at most so many", settings)
        _draw_numbers(below, {point.place: point.sentences for point in points}, "with at most")
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        below.set_xlabel("Unknown words in the source")
    return figure


def _by_what_models_know(scores: Scores, settings: Report) -> Scores:
    """The scores; those of other systems with the first model's counts of unknown words, since theirs are all 0."""
    first = scores.get(settings.figure2_models[0], {"by_sentence": []})
    unknown = [{"source_unknown": row["source_unknown"]} for row in first["by_sentence"]]

    def counted(score: Mapping[str, Any]) -> Mapping[str, Any]:
        rows = zip(score["by_sentence"], unknown, strict=True)
        return {**score, "by_sentence": [row | count for row, count in rows]}

    others = scores.keys() - set(settings.figure2_models) if unknown else set()
    return {model: counted(score) if model in others else score for model, score in scores.items()}


def _bootstrap(settings: Report) -> Bootstrap:
    return Bootstrap(settings.bootstrap_samples, settings.bootstrap_seed)


def _panels() -> tuple[Figure, Axes, Axes]:
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    return figure, axes, below


def _draw_curves(
    axes: Axes, scores: Scores, settings: Report, curve: Callable[[Rows], list[Point]], **style: Any
) -> float:
    """Draw each model's curve and band; return the highest point."""
    absent = [model for model in settings.figure2_models if model not in scores]
    if absent:
        raise UserError(
            f"artifacts.figure2_models names {absent[0]!r}, which has no score; give its file with --score"
        )
    highest = 0.0
    for index, model in enumerate(dict.fromkeys([*settings.figure2_models, *scores])):
        points = [with_enough_sentences(point) for point in curve(scores[model]["by_sentence"])]
        color, line = _LINES[index % len(_LINES)]
        _draw_band(axes, points, color)
        values = [math.nan if point.bleu is None else point.bleu for point in points]
        places = [point.place for point in points]
        label = settings.label(model)
        axes.plot(places, values, color=color, linestyle=line, linewidth=2, label=label, **style)
        highest = max([highest, *(value for value in values if not math.isnan(value))])
    return highest


def with_enough_sentences(point: Point) -> Point:
    """A point, without a value if it has fewer than `FEWEST` sentences."""
    return point if point.sentences >= FEWEST else replace(point, bleu=None, interval=None)


def _draw_band(axes: Axes, points: Sequence[Point], color: str) -> None:
    bands = [
        (point.place, *point.interval) if point.interval else (point.place, math.nan, math.nan)
        for point in points
    ]
    if any(point.interval for point in points):
        places, low, high = zip(*bands, strict=True)
        axes.fill_between(places, low, high, color=color, alpha=_BAND, linewidth=0)


def _frame(axes: Axes, highest: float) -> None:
    # the paper's axis ends at 30; a better score moves the end up to the next ten
    top = max(_PAPERS_TOP, min(100, 10 * math.ceil(highest / 10)))
    axes.set_ylim(0, top)
    axes.set_yticks(range(0, top + 1, 5 if top <= 50 else 10))
    axes.set_ylabel("BLEU score")
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    _label_ends(axes, top)


def _label_ends(axes: Axes, top: float) -> None:
    """A label at the end of each curve, or of the axis if that is near; no label over another."""
    ends = []
    for line in axes.get_lines():
        points = np.asarray(line.get_xydata()).tolist()
        known = [(x, y) for x, y in points if math.isfinite(y)]
        text = textwrap.wrap(str(line.get_label()), _LABEL_LETTERS)
        ends += [(*known[-1], text, line.get_color())] if known else []
    left, right = axes.get_xlim()
    near = 0.2 * (right - left)
    heights = [_LABEL_LINE * top * (len(text) + 0.4) for _, _, text, _ in ends]
    for (x, y, text, color), place in zip(ends, spread([end[1] for end in ends], heights, top), strict=True):
        axes.annotate(
            "\n".join(text),
            (x, y),
            ((right if x > right - near else x) + 0.02 * (right - left), place),
            va="center",
            fontsize="small",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0},
        )


def spread(wanted: Sequence[float], heights: Sequence[float], top: float) -> list[float]:
    """Places near the wanted ones for labels of these heights, between 0 and `top` if they fit, none over another."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places, floor = [0.0] * len(wanted), 0.0
    for index in order:
        places[index] = max(wanted[index], floor + heights[index] / 2)
        floor = places[index] + heights[index] / 2
    ceiling = top
    for index in reversed(order):
        places[index] = min(places[index], ceiling - heights[index] / 2)
        ceiling = places[index] - heights[index] / 2
    return places


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


def _note(axes: Axes, what: str, settings: Report) -> None:
    """Say above the axes what a point is."""
    bands = (
        f"; 95% bootstrap intervals ({settings.bootstrap_samples:,} samples, seed {settings.bootstrap_seed})"
        if settings.bootstrap_samples
        else ""
    )
    axes.set_title(what + bands, loc="left", fontsize=8, color="0.35", pad=18)


def _lengths(rows: Rows, length: SentenceLength, longest: int) -> dict[int, int]:
    """Sentences of each length; with `both`, by the longer side."""
    found = Counter(max(row[f"{side}_length"] for side in sides_of(length)) for row in rows)
    return {words: found[words] for words in range(1, longest + 1)}


def _draw_numbers(axes: Axes, numbers: Mapping[int, int], which: str) -> None:
    axes.bar(list(numbers), list(numbers.values()), width=0.8, color="0.55")
    axes.set_ylabel(f"Sentences\n{which}", fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
