"""Corpus statistics as a figure: words by corpus and stage, sentence lengths, unknown words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from nmt.plots.style import COLORS, drawing
from pipeline.results.corpora import Corpus, Report, reported_words
from pipeline.results.statistics import SIDES

_WIDTH = 6.3
_ROW, _PANEL = 0.26, 2.2
_STAGES = {"raw": ("o", "raw"), "tokens": ("s", "tokenized"), "selected": ("D", "selected")}
_PARTS = {"train": "training", "dev": "development", "test": "test"}
_LINES = ("-", "--", "-.")
_BIN = 5


def data_figure(report: Report) -> Figure:
    """Words of the target language by corpus and stage, the paper's beside them; lengths; unknown words.

    (a) is words, (b) and (c) are lengths of source and target, (d) and (e) their unknown words.
    """
    corpora = report.with_total("train")
    rows = _ROW * len(corpora) + 0.9
    with drawing(), rc_context({"font.size": 8.5}):
        figure = Figure(figsize=(_WIDTH, rows + 2 * _PANEL), layout="constrained")
        parts = cast(Any, figure.subfigures(3, 1, height_ratios=[rows, _PANEL, _PANEL]))
        words = parts[0].subplots()
        _draw_words(words, corpora, report)
        panels = [words]
        for part, draw in zip(parts[1:], (_draw_lengths, _draw_unknown), strict=True):
            pair = part.subplots(1, 2)
            for axes, side in zip(pair, SIDES, strict=True):
                draw(axes, report, side)
            _level(*pair)
            panels += [*pair]
        for panel, letter in zip(panels, "abcde", strict=True):
            panel.set_title(f"({letter})", loc="left", fontsize="medium")
            panel.grid(color="0.88", linewidth=0.6)
            panel.set_axisbelow(True)
    return figure


def _level(first: Axes, second: Axes) -> None:
    """Give both sides' panels the same axes, so that they can be compared."""
    limits = [axis.get_xlim() + axis.get_ylim() for axis in (first, second)]
    left, right, bottom, top = zip(*limits, strict=True)
    for axis in (first, second):
        axis.set_xlim(min(left), max(right))
        axis.set_ylim(min(bottom), max(top))
    second.tick_params(labelleft=False)


def _draw_words(axes: Axes, corpora: Sequence[Corpus], report: Report) -> None:
    """One row per corpus, one mark per stage, on a logarithmic axis: corpora differ a hundredfold."""
    places = range(len(corpora), 0, -1)
    for index, (stage, (marker, label)) in enumerate(_STAGES.items()):
        found = [
            (words, y) for corpus, y in zip(corpora, places, strict=True) if (words := _at(corpus, stage))
        ]
        if found:
            axes.plot(*zip(*found, strict=True), marker, color=COLORS[index], label=label, markersize=6)
    for stage, (marker, _) in _STAGES.items():
        reported = [
            (words, y)
            for corpus, y in zip(corpora, places, strict=True)
            if (words := reported_words(corpus, stage, report.paper))
        ]
        if reported:
            xs, ys = zip(*reported, strict=True)
            name = "reported, selected" if stage == "selected" else "reported, all"
            axes.plot(xs, ys, marker, color="black", fillstyle="none", markersize=8, label=name)
    axes.set_xscale("log")
    axes.set_yticks(list(places), [corpus.name for corpus in corpora])
    axes.set_ylim(0.4, len(corpora) + 0.6)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if _decades(axes) < 3 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(f"Words of {report.languages[1]} (raw: by white space; later: tokens)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="medium")


def _at(corpus: Corpus, stage: str) -> int | None:
    return next((volume.words[1] for volume in corpus.volumes if volume.stage == stage), None)


def _decades(axes: Axes) -> float:
    low, high = axes.get_xlim()
    return math.log10(high / low)


def _short(value: float, _: object = None) -> str:
    """1,500,000 as 1.5M."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def _draw_lengths(axes: Axes, report: Report, side: str) -> None:
    """Share of one side's sentences by length, one step per `_BIN` lengths, one line per part."""
    quantiles = [corpus.lengths(side).quantile(0.99) or 0 for _, corpus in _drawn(report)]
    longest = max([*report.limits, *quantiles, _BIN])
    bins = math.ceil(1.05 * longest / _BIN)
    for number, (color, corpus) in enumerate(_drawn(report)):
        lengths = corpus.lengths(side)
        shares = [0.0] * bins
        for length, sentences in lengths.counts.items():
            if length <= bins * _BIN:
                shares[(length - 1) // _BIN] += 100 * sentences / lengths.sentences
        edges = [0.5 + _BIN * edge for edge in range(bins + 1)]
        label = _PARTS[corpus.part]
        axes.stairs(shares, edges, color=color, linewidth=1.3, linestyle=_LINES[number], label=label)
    axes.set_xlim(0, bins * _BIN)
    axes.set_ylim(bottom=0)
    for limit in report.limits:
        axes.axvline(limit + 0.5, color="0.45", linewidth=0.8, linestyle=":")
    language = report.languages[SIDES.index(side)]
    axes.set_xlabel(f"Tokens per sentence, {language}")
    if side == "source":
        axes.set_ylabel(f"Sentences (%), bins of {_BIN}")
    else:
        axes.legend(frameon=False, fontsize="medium")


def _draw_unknown(axes: Axes, report: Report, side: str) -> None:
    """Words of one side that a vocabulary of so many would lack, one line per part."""
    for number, (color, corpus) in enumerate(_drawn(report)):
        points = [(size, 100 * (1 - share)) for size, share in corpus.coverage(side).items()]
        drawn = [(size, rate) for size, rate in points if rate > 0]
        label, line = _PARTS[corpus.part], _LINES[number]
        if drawn:
            axes.plot(*zip(*drawn, strict=True), line, color=color, linewidth=1.3, marker=".", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = list(report.total("train").coverage(side)) or [1]  # none of subword units
    axes.set_xticks(
        [size for size in sizes if str(size).rstrip("0") == "1" and 2 * size < sizes[-1]] + sizes[-1:]
    )
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    language = report.languages[SIDES.index(side)]
    axes.set_xlabel(f"Vocabulary size, {language}")
    if side == "source":
        axes.set_ylabel("Unknown words (%)")
    else:
        axes.legend(frameon=False, fontsize="medium")


def _drawn(report: Report) -> list[tuple[str, Corpus]]:
    """The parts with their colours; in-domain text that is nothing else is no part of the figure."""
    return [
        (color, corpus)
        for color, corpus in zip(COLORS, report.totals, strict=False)
        if corpus.part in _PARTS and corpus.last["pairs"]
    ]
