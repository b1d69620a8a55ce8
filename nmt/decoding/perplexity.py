"""Perplexity of a text's translations under models (Sutskever et al., 2014, Sec. 3.3): exp of the mean NLL of a word.

All words of the reference and the end symbol of each line count. Words that are not in the vocabulary count as the
unknown word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from nmt.decoding.forced_decoding import score
from nmt.errors import UserError
from nmt.evaluation.translations import words
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs
from nmt.settings.decoding import Average
from nmt.store.trained_model import TrainedModel

_TOGETHER = 2000
"""Number of pairs that are in memory at once."""
_DIGITS = 6


def _exp(nats: float) -> float:
    try:
        return math.exp(nats)
    except OverflowError:
        raise UserError(
            f"perplexity: {nats:.3g} nats per word, more than any model loses that has learned; train it again"
        ) from None


def perplexity(
    models: Sequence[TrainedModel],
    source: Path,
    reference: Path,
    batch_size: int,
    average: Average = "probability",
) -> dict[str, Any]:
    """Return sentences, words (with end symbols), log-probability in nats, and perplexity (None for an empty text)."""
    sentences, read, total = 0, 0, 0.0
    with Progress(None, "sentences", "perplexity") as progress:
        lines = read_pairs(source, reference)
        while pairs := [(words(one), words(other)) for one, other in islice(lines, _TOGETHER)]:
            found = score(models, pairs, batch_size, attention=False, average=average)
            sentences += len(found)
            read += sum(len(forced.word_log_probabilities) for forced in found)
            total += math.fsum(forced.log_probability for forced in found)
            progress.update(len(found))
    value = _exp(-total / read) if read else None
    return {
        "sentences": sentences,
        "words": read,
        "log_probability": round(total, _DIGITS),
        "perplexity": None if value is None else round(value, _DIGITS),
    }
