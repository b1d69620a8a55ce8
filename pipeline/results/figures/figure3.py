"""Figure 3: matrices of attention between source and generated words, and the choice of their sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from nmt.evaluation.translations import TranslationRecord
from nmt.plots.sentence import GAP_INCHES, AttentionPanel
from nmt.plots.style import figure_style
from pipeline.results.example_sentences import papers_own
from pipeline.results.inputs import Inputs

PANELS = 4


def choose_sentences(
    everything: Sequence[TranslationRecord],
    known: Sequence[TranslationRecord],
    limits: Sequence[int],
    seed: int,
    openings: Sequence[str] = (),
) -> list[TranslationRecord]:
    """Return the sentences of Figure 3, (a) first.

    (b)-(d) are the paper's own, which begin with `openings`, where the test set holds them; others are drawn
    from `known`, the sentences without unknown words, with `limits[0]` to `limits[1]` words of source. Where
    there are too few, they come from `known` of any length, then from `everything`. (a) is any other
    sentence, of those lengths if there is one.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    pools = [
        _shuffled([record for record in known if _fits(record, limits)], generator),
        _shuffled([record for record in everything if _fits(record, limits)], generator),
        _shuffled(known, generator),
        _shuffled(everything, generator),
    ]
    aligned = [record for record in (*known, *everything) if record.alignment]
    samples = _first_distinct([papers_own(aligned, openings), pools[0], pools[2], pools[3]], PANELS - 1, [])
    arbitrary = _first_distinct([pools[1], pools[3]], 1, samples)
    return arbitrary + samples


def _fits(record: TranslationRecord, limits: Sequence[int]) -> bool:
    return limits[0] <= len(record.source) <= limits[1]


def _shuffled(
    records: Sequence[TranslationRecord], generator: np.random.Generator
) -> list[TranslationRecord]:
    return [records[index] for index in generator.permutation(len(records)) if records[index].alignment]


def _first_distinct(
    pools: Sequence[Sequence[TranslationRecord]], count: int, taken: Sequence[TranslationRecord]
) -> list[TranslationRecord]:
    chosen: list[TranslationRecord] = []
    for record in (record for pool in pools for record in pool):
        if len(chosen) < count and record.line not in {other.line for other in (*chosen, *taken)}:
            chosen.append(record)
    return chosen


def figure3(records: Sequence[TranslationRecord]) -> Figure:
    """Figure 3: up to four alignment matrices, (a)-(d), source words along x, generated words along y.

    A pixel is the weight alpha_ij of the j-th source word for the i-th target word (Eq. 6), 0 black and 1
    white. Sentences of up to 40 words get pixels of the same size.
    """
    with figure_style():
        panels = [_panel(record) for record in records]
        columns = [panels[0::2], panels[1::2]]
        rows = [panels[0:2], panels[2:4]]
        widths = [max((panel.width for panel in column), default=0.0) for column in columns]
        heights = [max((panel.height for panel in row), default=0.0) for row in rows]
        size = (sum(widths) + 3 * GAP_INCHES, sum(heights) + 3 * GAP_INCHES)
        figure = Figure(figsize=size)
        for index, panel in enumerate(panels):
            row, column = divmod(index, 2)
            right = sum(widths[: column + 1]) + (column + 1) * GAP_INCHES
            right -= (widths[column] - panel.width) / 2
            top = size[1] - sum(heights[:row]) - (row + 1) * GAP_INCHES
            panel.draw(figure, right, top, f"({'abcd'[index]})")
    return figure


def _panel(record: TranslationRecord) -> AttentionPanel:
    return AttentionPanel.of(np.asarray(record.alignment, dtype=np.float64), record.source, record.target)


def draw(inputs: Inputs) -> Figure:
    """Return Figure 3: panel (a) shows any sentence, (b)-(d) the first paper's own if the test set has them."""
    settings = inputs.settings
    model = settings.figure3_model or ""
    everything, known = (inputs.translations(model, mode) for mode in ("all", "no_unk"))
    own = next(iter(inputs.papers.values())).openings
    return figure3(choose_sentences(everything, known, settings.figure3_words, settings.figure3_seed, own))
