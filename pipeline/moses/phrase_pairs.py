"""A phrase table as text that a model can learn from (Cho et al., 2014a).

A model of sentences would take a phrase for a whole sentence, so this model learns only from phrases.
"""

from contextlib import ExitStack
from pathlib import Path

from nmt.io.text_files import write_lines
from pipeline.moses.phrases import read_entries
from pipeline.moses.text import is_selected
from pipeline.preparation import SideFiles


def write_pairs(table: Path, max_dev_pairs: int, train: SideFiles, dev: SideFiles) -> tuple[int, int]:
    """Write each pair of a table once, whatever its frequency in the text, as training and development text.

    Args:
        table: the phrase table.
        max_dev_pairs: number of development pairs, which are spread over the table; at most half of the table.
        train: source and target side of the training text.
        dev: source and target side of the development text.

    Returns:
        The numbers of training and development pairs.
    """
    total = sum(1 for _ in read_entries(table))
    dev_total = min(max_dev_pairs, total // 2)
    with ExitStack() as files:
        train_writers = [files.enter_context(write_lines(path)) for path in train]
        dev_writers = [files.enter_context(write_lines(path)) for path in dev]
        entries = read_entries(table, progress_label="moses phrase-pairs")
        for number, (source_phrase, target_phrase, *_) in enumerate(entries, start=1):
            is_dev = is_selected(number, dev_total, total)
            source_writer, target_writer = dev_writers if is_dev else train_writers
            source_writer.write(source_phrase)
            target_writer.write(target_phrase)
    return total - dev_total, dev_total
