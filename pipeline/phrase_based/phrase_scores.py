"""A phrase table with a model's probability of each pair as one more score (Cho et al., 2014a)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from nmt.decoding.rescoring import HYPOTHESES_PER_GROUP, Rescorer
from nmt.errors import UserError
from nmt.io.text_files import read_lines, write_lines
from nmt.store.trained_model import TrainedModel
from pipeline.phrase_based.phrases import SCORES, SEPARATOR, read_entries


def add_scores(model: TrainedModel, table: Path, texts: Sequence[Path], output: Path) -> tuple[int, int]:
    """Write the pairs of a table that some texts may need, with p(target phrase given source phrase) as the last score.

    Args:
        model: trained on phrase pairs.
        table: the phrase table, in which the pairs of a source phrase stand together.
        texts: token files of all sentences that will be translated.
        output: gets the smaller table (gzip).

    Returns:
        Pairs written, and pairs of the table.
    """
    longest = max(len(entry[0].split()) for entry in read_entries(table))
    needed = _phrases_of(texts, longest)
    written = total = 0
    rescorer = Rescorer([model])
    with write_lines(output) as lines:
        for group in _groups(read_entries(table, "moses phrase-scores")):
            total += sum(map(len, group))
            wanted = [entries for entries in group if entries[0][0] in needed]
            for entry, log_probability in _scored(rescorer, wanted):
                entry[SCORES] += f" {math.exp(log_probability):.6g}"
                lines.write(SEPARATOR.join(entry))
                written += 1
        if not written:
            raise UserError(f"{table}: holds no phrase of {', '.join(map(str, texts))}")
    return written, total


def _scored(rescorer: Rescorer, group: Sequence[list[list[str]]]) -> Iterator[tuple[list[str], float]]:
    """Yield the entries of some source phrases, each with its log-probability."""
    lists = [(entries[0][0].split(), [entry[1] for entry in entries]) for entries in group]
    for entries, values in zip(
        group, rescorer.compute_log_probabilities(lists) if lists else [], strict=True
    ):
        yield from zip(entries, values, strict=True)


def _groups(entries: Iterable[list[str]]) -> Iterator[list[list[list[str]]]]:
    """Yield entries by source phrase, so many source phrases together as a model scores at once."""
    group, size = list[list[list[str]]](), 0
    for _, same in groupby(entries, key=lambda entry: entry[0]):
        group.append(list(same))
        size += len(group[-1])
        if size >= HYPOTHESES_PER_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _phrases_of(texts: Sequence[Path], longest: int) -> set[str]:
    """Return all phrases of some texts of up to so many words."""
    return {
        " ".join(words[start:end])
        for text in texts
        for words in map(str.split, read_lines(text))
        for start in range(len(words))
        for end in range(start + 1, min(start + longest, len(words)) + 1)
    }
