"""Figure 3: matrices of attention between source and generated words, and the choice of their sentences."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.figure import Figure

from nmt.evaluation.translations import TranslationRecord
from nmt.plots.attention import GAP_INCHES, AttentionPanel
from nmt.plots.style import figure_style
from pipeline.results.example_sentences import find_paper_sentences
from pipeline.results.inputs import Inputs

PANEL_COUNT = 4


def plot_attention(inputs: Inputs) -> Figure:
    """Plot Figure 3 of a package, with sentences that `choose_sentences` chooses."""
    settings = inputs.settings
    model = settings.figure3_model
    assert model is not None  # `list_outputs` leaves the figure out otherwise
    records = choose_sentences(
        all_records=inputs.system_translations(model, "all"),
        no_unk_records=inputs.system_translations(model, "no_unk"),
        length_limits=settings.figure3_words,
        seed=settings.figure3_seed,
        openings=inputs.first_paper.openings,
    )
    return make_figure3(records)


def choose_sentences(
    all_records: Sequence[TranslationRecord],
    no_unk_records: Sequence[TranslationRecord],
    length_limits: Sequence[int],
    seed: int,
    openings: Sequence[str] = (),
) -> list[TranslationRecord]:
    """Return the sentences of Figure 3, (a) first.

    (b)-(d) are the sentences of the paper, which begin with `openings`, if the test set has them. Any other sentence of
    (b)-(d) is sampled from the first group that has a sentence left:

    1. sentences without unknown words whose length is within the limits
    2. sentences without unknown words
    3. all sentences

    (a) is sampled from all remaining sentences whose length is within the limits or, if there is none, of any length.

    length_limits: minimum and maximum number of source words.
    """
    # 1. groups of sentences in random order. The order of these calls must stay, or the figure shows other sentences.
    generator = np.random.Generator(np.random.PCG64(seed))
    no_unk_of_length = _shuffle(_select_lengths(no_unk_records, length_limits), generator)
    all_of_length = _shuffle(_select_lengths(all_records, length_limits), generator)
    no_unk_of_any_length = _shuffle(no_unk_records, generator)
    all_of_any_length = _shuffle(all_records, generator)

    # 2. the paper's sentences, if the model has translated them with attention
    candidates = [record for record in [*no_unk_records, *all_records] if record.alignment]
    sources = [record.source for record in candidates]
    paper_records = [candidates[index] for index in find_paper_sentences(sources, openings)]

    # 3. panels (b) to (d): each sentence once, in this order of preference
    records_by_line: dict[int, TranslationRecord] = {}
    for record in paper_records + no_unk_of_length + no_unk_of_any_length + all_of_any_length:
        records_by_line.setdefault(record.line, record)
    last_records = list(records_by_line.values())[: PANEL_COUNT - 1]

    # 4. panel (a): a different sentence
    used_lines = [record.line for record in last_records]
    for record in all_of_length + all_of_any_length:
        if record.line not in used_lines:
            return [record, *last_records]
    return last_records


def _select_lengths(
    records: Iterable[TranslationRecord], length_limits: Sequence[int]
) -> list[TranslationRecord]:
    min_words, max_words = length_limits
    return [record for record in records if min_words <= len(record.source) <= max_words]


def _shuffle(records: Sequence[TranslationRecord], generator: np.random.Generator) -> list[TranslationRecord]:
    """Return the records with attention in a random order."""
    return [records[index] for index in generator.permutation(len(records)) if records[index].alignment]


def make_figure3(records: Sequence[TranslationRecord]) -> Figure:
    """Make Figure 3: up to four matrices, (a)-(d), with source words along x and generated words along y.

    A pixel is the weight alpha_ij of the j-th source word for the i-th target word (Eq. 6), 0 black and 1 white.
    Sentences of up to 40 words get pixels of the same size.
    """
    with figure_style():
        panels = []
        for record in records:
            weights = np.asarray(record.alignment, dtype=np.float64)  # (target words, source words), with EOS
            panels.append(AttentionPanel(weights, record.source, record.target))

        # in inches: a column is as wide as its widest panel, a row as high as its highest panel
        column_widths = [max(panel.width for panel in panels[column::2]) for column in range(len(panels[:2]))]
        row_heights = [
            max(panel.height for panel in panels[row : row + 2]) for row in range(0, len(panels), 2)
        ]
        gaps = 3 * GAP_INCHES
        total_height = sum(row_heights) + gaps
        figure = Figure(figsize=(sum(column_widths) + gaps, total_height))

        for index, panel in enumerate(panels):
            row, column = divmod(index, 2)
            right_edge = sum(column_widths[: column + 1]) + (column + 1) * GAP_INCHES
            right_edge -= (column_widths[column] - panel.width) / 2  # centre the panel in its column
            top = total_height - sum(row_heights[:row]) - (row + 1) * GAP_INCHES
            panel.draw(figure, right_edge, top, f"({'abcd'[index]})")
    return figure
