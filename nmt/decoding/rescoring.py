"""Rescoring another system's n-best lists (Sutskever et al., 2014, Sec. 3.2): its scores mixed with the models'.

    score = w log p(T | S) + (1 - w) score of the list      w = 1/2: "an even average"

First, the log-probabilities of all hypotheses are computed and stored beside the output, some sentences at a time, so
that a killed process can resume. Then the lists and the best translations are written. Only the current lists are in
memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nmt.decoding.forced_decoding import Scorer, batches
from nmt.decoding.n_best_lists import Hypothesis, NBestList, read_lists
from nmt.decoding.test_set import models_checksum
from nmt.errors import UserError
from nmt.evaluation.translations import words
from nmt.io.files import sha256
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from nmt.settings.decoding import Average
from nmt.store.trained_model import TrainedModel

TOGETHER = 2000
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

    def mixed(self, hypothesis: Hypothesis, log_probability: float) -> Hypothesis:
        """Return a hypothesis with the weighted mean of both scores."""
        score = self.weight * log_probability + (1 - self.weight) * hypothesis.score
        return hypothesis.rescored(score, log_probability)


@dataclass(frozen=True)
class Rescored:
    """Counts of sentences, hypotheses and their words (each distinct hypothesis once), and the seconds of scoring."""

    sentences: int
    hypotheses: int
    words: int
    seconds: float
    resumed: bool


def rescore(rescorer: Rescorer, source: Path, lists: Path, output: Path, new_lists: Path | None) -> Rescored:
    """Rescore the lists of a tokenized text: write best translations to `output`, and the lists, best first.

    If the process is killed, the same call resumes, and its output has the same bytes.

    Raises:
        UserError: lists and source do not fit together, or a line is malformed.
    """
    sentences = sum(1 for _ in read_lines(source))
    with Journal(output, _made_from(rescorer, source, lists)) as journal:
        counts = _score_all(rescorer, source, lists, sentences, journal)
        _write(rescorer, source, lists, output, new_lists, journal)
        journal.remove()
    return Rescored(sentences, *counts, journal.seconds, journal.resumed)


def _made_from(rescorer: Rescorer, source: Path, lists: Path) -> str:
    """Return a checksum of everything that determines the log-probabilities."""
    facts = [models_checksum(rescorer.models), rescorer.average, rescorer.batch_size, TOGETHER]
    facts += [sha256(source), sha256(lists)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


# --- log-probabilities ------------------------------------------------------------------------------------------------


def _score_all(
    rescorer: Rescorer, source: Path, lists: Path, sentences: int, journal: Journal
) -> tuple[int, int]:
    """Store the log-probabilities of all hypotheses. Return the numbers of hypotheses and of scored words."""
    hypotheses = scored_words = 0
    with Progress(sentences, "sentences", "rescore") as progress:
        for number, group in enumerate(_groups(read_lists(lists, source))):
            if number not in journal.done:
                values = log_probabilities(rescorer, group)
                journal.add(number, [[round(value, _DIGITS) for value in each] for each in values])
            hypotheses += sum(len(sentence.hypotheses) for sentence in group)
            scored_words += sum(len(words(text)) for each in group for text in each.distinct)
            progress.update(len(group))
    return hypotheses, scored_words


def _groups(lists: Iterator[NBestList]) -> Iterator[list[NBestList]]:
    """Yield groups of consecutive sentences that are scored together."""
    group, hypotheses = list[NBestList](), 0
    for sentence in lists:
        group.append(sentence)
        hypotheses += len(sentence.hypotheses)
        if hypotheses >= TOGETHER:
            yield group
            group, hypotheses = [], 0
    if group:
        yield group


def log_probabilities(rescorer: Rescorer, group: Sequence[NBestList]) -> list[list[float]]:
    """Return log p(T | S) of every hypothesis of some sentences, in nats, the end symbol included.

    Each source is encoded once for all its hypotheses. Hypotheses of similar length are scored together.
    """
    pairs = [(row, text) for row, sentence in enumerate(group) for text in sentence.distinct]
    targets = [words(text) for _, text in pairs]
    scorer = Scorer(rescorer.models, [sentence.source for sentence in group], rescorer.average)
    found: dict[tuple[int, str], float] = {}
    for places in batches([len(target) for target in targets], rescorer.batch_size):
        totals = scorer.totals([pairs[place][0] for place in places], [targets[place] for place in places])
        found |= zip((pairs[place] for place in places), totals, strict=True)
    return [
        [found[row, hypothesis.text] for hypothesis in sentence.hypotheses]
        for row, sentence in enumerate(group)
    ]


# --- what is made of them ---------------------------------------------------------------------------------------------


def _write(
    rescorer: Rescorer, source: Path, lists: Path, output: Path, new_lists: Path | None, journal: Journal
) -> None:
    """Mix the scores, sort the lists, and write each output whole or not at all."""
    values = (each for number in range(len(journal.done)) for each in journal.done[number])
    with ExitStack() as files:
        best = files.enter_context(write_lines(output))
        rewritten = files.enter_context(write_lines(new_lists)) if new_lists else None
        for sentence, logs in zip(read_lists(lists, source), values, strict=True):
            pairs = zip(sentence.hypotheses, logs, strict=True)
            mixed = sorted((rescorer.mixed(*pair) for pair in pairs), key=lambda one: -one.score)
            best.write(mixed[0].text)
            if rewritten:
                for hypothesis in mixed:
                    rewritten.write(hypothesis.line(sentence.line))


# --- the oracle ------------------------------------------------------------------------------------------------------


def oracle(source: Path, lists: Path, reference: Path, output: Path) -> int:
    """Choose by the reference (Table 2): write the best hypothesis of each line's list, and return the number of lines.

    Raises:
        UserError: source, lists and reference do not fit together, or a line is malformed.
    """
    lines = sum(1 for _ in read_lines(source))
    references = sum(1 for _ in read_lines(reference))
    if references != lines:
        raise UserError(f"{reference}: {references} lines, expected {lines} as in {source}")
    with Progress(lines, "sentences", "oracle") as progress, write_lines(output) as writer:
        for sentence, wanted in zip(read_lists(lists, source, progress), read_lines(reference), strict=True):
            writer.write(best_by_bleu(sentence, wanted))
    return lines


def best_by_bleu(sentence: NBestList, reference: str) -> str:
    """Return the hypothesis with the best sentence BLEU on tokens, cased; the first one of equals."""
    from nmt.evaluation.bleu import sentence_counts  # rescoring does without

    return max(sentence.distinct, key=lambda text: sentence_counts(text, reference).smoothed)
