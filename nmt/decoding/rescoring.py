"""Rescoring another system's n-best lists (Sutskever et al., 2014, Sec. 3.2): its scores mixed with the models'.

    score = w log p(T | S) + (1 - w) score of the list      w = 1/2: "an even average"

The log-probabilities are computed and stored beside the output, some sentences at a time, so that a killed process can
resume. Only the current lists are in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nmt.decoding.forced_decoding import Scorer
from nmt.decoding.formats import Entry, NBestList, read_lists
from nmt.decoding.test_set import models_checksum
from nmt.evaluation.translations import split_words
from nmt.io.files import sha256
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.settings.decoding import Average
from nmt.store.trained_model import Tokens, TrainedModel

HYPOTHESES_PER_GROUP = 2000
"""Hypotheses of the sentences that are scored together. A killed process loses at most this work."""
_DIGITS = 6
"""Decimals of a log-probability."""


@dataclass(frozen=True)
class Rescorer:
    """Models for scoring, their average, hypotheses per batch, and the models' weight w in the mixed score."""

    models: Sequence[TrainedModel]
    average: Average = "probability"
    batch_size: int = 256
    weight: float = 0.5

    def compute_log_probabilities(self, lists: Sequence[tuple[Tokens, Sequence[str]]]) -> list[list[float]]:
        """Return log p(T | S) of the hypotheses of some sentences, in nats, the end symbol included.

        Each source is encoded once for all its hypotheses. Hypotheses of similar length are scored together, and equal
        hypotheses of a sentence once.
        """
        distinct = list(dict.fromkeys((row, text) for row, (_, texts) in enumerate(lists) for text in texts))
        scorer = Scorer(self.models, [source for source, _ in lists], self.average)
        scored = scorer(
            [(row, split_words(text)) for row, text in distinct], self.batch_size, attention=False
        )
        logs = {one: forced.log_probability for one, forced in zip(distinct, scored, strict=True)}
        return [[logs[row, text] for text in texts] for row, (_, texts) in enumerate(lists)]

    def mixed(self, entries: Sequence[Entry], log_probabilities: Sequence[float]) -> list[Entry]:
        """Return the entries of a list with the weighted means of both scores, best first."""
        new = [
            entry.rescored(self.weight * value + (1 - self.weight) * entry.score, value)
            for entry, value in zip(entries, log_probabilities, strict=True)
        ]
        return sorted(new, key=lambda entry: -entry.score)


class Rescored(NamedTuple):
    """Counts of sentences and hypotheses, the seconds of scoring, and whether a killed process did a part of it."""

    sentences: int
    hypotheses: int
    seconds: float
    resumed: bool


def rescore_n_best_lists(
    rescorer: Rescorer, source: Path, lists: Path, output: Path, new_lists: Path | None
) -> Rescored:
    """Rescore the lists of a tokenized text: write best translations to `output`, and the lists, best first.

    If the process is killed, the same call resumes, and its output has the same bytes.

    Raises:
        UserError: lists and source do not fit together, or a line is malformed.
    """
    sentences = sum(1 for _ in read_lines(source))
    facts = [models_checksum(rescorer.models), rescorer.average, rescorer.batch_size, HYPOTHESES_PER_GROUP]
    facts += [sha256(source), sha256(lists)]
    made_from = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    hypotheses = 0
    with Journal(output, made_from) as journal:
        with ExitStack() as files:
            best = files.enter_context(write_lines(output))
            rewritten = files.enter_context(write_lines(new_lists)) if new_lists else None
            progress = files.enter_context(Progress(sentences, "sentences", "rescore"))
            for number, group in enumerate(_groups(read_lists(lists, source))):
                if number not in journal.done:
                    texts = [(one.source, [entry.text for entry in one.entries]) for one in group]
                    logs = rescorer.compute_log_probabilities(texts)
                    journal.add(number, [[round(value, _DIGITS) for value in each] for each in logs])
                for sentence, values in zip(group, journal.done[number], strict=True):
                    entries = rescorer.mixed(sentence.entries, values)
                    best.write(entries[0].text)
                    if rewritten:
                        for entry in entries:
                            rewritten.write(entry.line(sentence.line))
                hypotheses += sum(len(one.entries) for one in group)
                progress.update(len(group))
        journal.remove()
    return Rescored(sentences, hypotheses, journal.seconds, journal.resumed)


def _groups(lists: Iterator[NBestList]) -> Iterator[list[NBestList]]:
    """Yield groups of consecutive sentences that are scored together."""
    group, hypotheses = list[NBestList](), 0
    for sentence in lists:
        group.append(sentence)
        hypotheses += len(sentence.entries)
        if hypotheses >= HYPOTHESES_PER_GROUP:
            yield group
            group, hypotheses = [], 0
    if group:
        yield group


# --- the oracle ------------------------------------------------------------------------------------------------------


def write_oracle(source: Path, lists: Path, reference: Path, output: Path) -> int:
    """Choose by the reference (Table 2): write the best hypothesis of each line's list, and return the number of lines.

    Raises:
        UserError: source, lists and reference do not fit together, or a line is malformed.
    """
    references = [reference for _, reference in read_pairs(source, reference)]
    with Progress(len(references), "sentences", "oracle") as progress, write_lines(output) as writer:
        for sentence, wanted in zip(read_lists(lists, source), references, strict=True):
            writer.write(best_by_bleu(sentence, wanted))
            progress.update()
    return len(references)


def best_by_bleu(sentence: NBestList, reference: str) -> str:
    """Return the hypothesis with the best sentence BLEU on tokens, cased; the first one of equals."""
    from nmt.evaluation.bleu import count_matches  # rescoring does without

    texts = (entry.text for entry in sentence.entries)
    return max(texts, key=lambda text: count_matches(text, reference).smoothed)
