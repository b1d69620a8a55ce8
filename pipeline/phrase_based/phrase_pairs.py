"""A phrase table as text that a model can learn from (Cho et al., 2014a).

A model of sentences would take a phrase for a whole sentence, so this model learns only from phrases.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from nmt.io.text_files import write_lines
from pipeline.phrase_based.phrases import read_entries


def write_pairs(
    table: Path, held_out: int, train: tuple[Path, Path], dev: tuple[Path, Path]
) -> tuple[int, int]:
    """Write each pair of a table once, however often the text has it, as both sides of a text to learn from.

    Args:
        table: the phrase table.
        held_out: pairs to keep apart, spread over the table; at most half of it.
        train: source and target side of the others.
        dev: source and target side of those kept apart.

    Returns:
        Numbers of pairs, `train` and `dev`.
    """
    total = sum(1 for _ in read_entries(table))
    held_out = min(held_out, total // 2)
    with ExitStack() as files:
        training, apart = ([files.enter_context(write_lines(path)) for path in part] for part in (train, dev))
        for number, entry in enumerate(read_entries(table, "moses phrase-pairs")):
            spread = (number + 1) * held_out // total > number * held_out // total
            for writer, phrase in zip(apart if spread else training, entry, strict=False):
                writer.write(phrase)
    return total - held_out, held_out
