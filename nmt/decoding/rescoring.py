"""Rescoring another system's n-best lists (Sutskever et al., 2014, Sec. 3.2): its scores mixed with the models'.

    score = w log p(T | S) + (1 - w) score of the list      w = 1/2: "an even average"

First the log-probabilities of all hypotheses are computed and kept beside the output, some sentences at a time, so
that a process that was killed resumes; then lists, best translations and oracle are written. No list but the current
ones is in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from nmt.config.schema import Average
from nmt.decoding.ensemble import mean
from nmt.decoding.forced_decoding import Words, batches, make_batch, word_log_probabilities
from nmt.decoding.n_best_lists import Hypothesis, NBestList, read_lists
from nmt.decoding.test_set import sum_of_models
from nmt.errors import UserError
from nmt.evaluation.translations import words
from nmt.io.files import sha256
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from nmt.model.trained_model import TrainedModel

TOGETHER = 2000
"""Sentences are scored together until they have so many hypotheses; this is what a killed process loses at most."""
_DIGITS = 6
"""Decimals of a log-probability."""


@dataclass(frozen=True)
class Rescorer:
    """Models that score, how they are averaged, hypotheses per batch, and their share w of the mixed score."""

    models: Sequence[TrainedModel]
    average: Average = "probability"
    batch_size: int = 256
    weight: float = 0.5

    def mixed(self, hypothesis: Hypothesis, log_probability: float) -> Hypothesis:
        """A hypothesis with the mean of both scores."""
        score = self.weight * log_probability + (1 - self.weight) * hypothesis.score
        return hypothesis.rescored(score, log_probability)


@dataclass(frozen=True)
class Outputs:
    """Where the results go: best translations; the lists, best first; the oracle's choice. None is not written."""

    best: Path
    lists: Path | None = None
    oracle: Path | None = None


@dataclass(frozen=True)
class Rescored:
    """What was done: sentences, hypotheses, words of them (each `words` of `scored` once), and seconds of scoring."""

    sentences: int
    hypotheses: int
    words: int
    seconds: float
    resumed: bool


def rescore(
    rescorer: Rescorer, source: Path, lists: Path, outputs: Outputs, reference: Path | None = None
) -> Rescored:
    """Rescore the lists of a tokenized text; `reference` is what the oracle knows.

    Killed, the same call resumes, to the same bytes.

    Raises:
        UserError: lists, source or reference do not fit together, or a line of them is faulty.
    """
    sentences = _lines_in(source, reference)
    with Journal(outputs.best, _made_from(rescorer, source, lists)) as journal:
        counts = _score_all(rescorer, source, lists, sentences, journal)
        _write(rescorer, source, lists, outputs, reference, journal)
        journal.remove()
    return Rescored(sentences, *counts, journal.seconds, journal.resumed)


def _lines_in(source: Path, reference: Path | None) -> int:
    """Lines of the source; the reference has as many."""
    lines = sum(1 for _ in read_lines(source))
    if reference is not None and (others := sum(1 for _ in read_lines(reference))) != lines:
        raise UserError(f"{reference}: {others} lines, expected {lines} as in {source}")
    return lines


def _made_from(rescorer: Rescorer, source: Path, lists: Path) -> str:
    """A sum of all that decides the log-probabilities."""
    facts = [sum_of_models(rescorer.models), rescorer.average, rescorer.batch_size, TOGETHER]
    facts += [sha256(source), sha256(lists)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


# --- log-probabilities ------------------------------------------------------------------------------------------------


def _score_all(
    rescorer: Rescorer, source: Path, lists: Path, sentences: int, journal: Journal
) -> tuple[int, int]:
    """Keep the log-probabilities of all hypotheses; how many there are, and how many words were scored."""
    hypotheses = scored_words = 0
    with Progress(sentences, "sentences", "rescore") as progress:
        for number, group in enumerate(_groups(read_lists(lists, source))):
            if number not in journal.done:
                values = log_probabilities(rescorer, group)
                journal.add(number, [[round(value, _DIGITS) for value in each] for each in values])
            hypotheses += sum(len(sentence.hypotheses) for sentence in group)
            scored_words += sum(len(words(text)) for each in group for text in _distinct(each))
            progress.update(len(group))
    return hypotheses, scored_words


def _groups(lists: Iterator[NBestList]) -> Iterator[list[NBestList]]:
    """Consecutive sentences that are scored together."""
    group, hypotheses = list[NBestList](), 0
    for sentence in lists:
        group.append(sentence)
        hypotheses += len(sentence.hypotheses)
        if hypotheses >= TOGETHER:
            yield group
            group, hypotheses = [], 0
    if group:
        yield group


def _distinct(sentence: NBestList) -> list[str]:
    """The texts of a list, each once: Moses lists a translation for each way to derive it."""
    return list(dict.fromkeys(hypothesis.text for hypothesis in sentence.hypotheses))


@torch.no_grad()
def log_probabilities(rescorer: Rescorer, group: Sequence[NBestList]) -> list[list[float]]:
    """log p(T | S) of every hypothesis of some sentences, in nats, the end symbol included.

    Each source is encoded once, whatever the number of its hypotheses; those of like length are scored together.
    """
    pairs = [(row, text) for row, sentence in enumerate(group) for text in _distinct(sentence)]
    targets = [words(text) for _, text in pairs]
    reader = _Reader(rescorer, [sentence.source for sentence in group])
    found: dict[tuple[int, str], float] = {}
    for places in batches([len(target) for target in targets], rescorer.batch_size):
        values = reader.read([pairs[place][0] for place in places], [targets[place] for place in places])
        found |= zip((pairs[place] for place in places), values.tolist(), strict=True)
    return [
        [found[row, hypothesis.text] for hypothesis in sentence.hypotheses]
        for row, sentence in enumerate(group)
    ]


class _Reader:
    """Sources that all models have read, and now read hypotheses of."""

    def __init__(self, rescorer: Rescorer, sources: Sequence[Words]) -> None:
        self.rescorer, first = rescorer, rescorer.models[0]
        self.device = next(first.network.parameters()).device
        batch = make_batch(first, sources, [[] for _ in sources]).to(self.device)
        self.encoded = [model.network.encode(batch.source, batch.source_mask) for model in rescorer.models]

    def read(self, rows: Sequence[int], targets: Sequence[Words]) -> NDArray[np.float64]:
        """Log-probabilities of targets, each of the source at its row."""
        models, select = self.rescorer.models, torch.tensor(rows, device=self.device)
        batch = make_batch(models[0], [[] for _ in targets], targets).to(self.device)
        logs: list[Tensor] = []
        for model, encoded in zip(models, self.encoded, strict=True):
            values, _ = word_log_probabilities(model.network, encoded.select(select), batch, attention=False)
            logs.append(values)
        together = mean(torch.stack(logs), self.rescorer.average)
        sums = together.new_zeros(len(targets)).index_add_(0, batch.sentence, together)
        result: NDArray[np.float64] = sums.cpu().numpy()
        return result


# --- what is made of them ---------------------------------------------------------------------------------------------


def _write(
    rescorer: Rescorer,
    source: Path,
    lists: Path,
    outputs: Outputs,
    reference: Path | None,
    journal: Journal,
) -> None:
    """Mix, sort and write: each output whole or not at all."""
    values = (each for number in range(len(journal.done)) for each in journal.done[number])
    with ExitStack() as files:
        best = files.enter_context(write_lines(outputs.best))
        new_lists = files.enter_context(write_lines(outputs.lists)) if outputs.lists else None
        oracle = files.enter_context(write_lines(outputs.oracle)) if outputs.oracle else None
        references = read_lines(reference) if reference else iter(())
        for sentence, logs in zip(read_lists(lists, source), values, strict=True):
            pairs = zip(sentence.hypotheses, logs, strict=True)
            mixed = sorted((rescorer.mixed(*pair) for pair in pairs), key=lambda one: -one.score)
            best.write(mixed[0].text)
            if new_lists:
                for hypothesis in mixed:
                    new_lists.write(hypothesis.line(sentence.line))
            if oracle:
                (wanted,) = islice(references, 1)
                oracle.write(best_by_bleu(sentence, wanted))


_SENTENCE_BLEU = BLEU(tokenize="none", lowercase=False, force=True, effective_order=True)
"""Smoothed, since most sentences have no matching 4-gram with most hypotheses."""


def best_by_bleu(sentence: NBestList, reference: str) -> str:
    """The hypothesis with the best smoothed sentence BLEU on tokens, cased; of equals the one that stands first."""
    texts = _distinct(sentence)
    if len(texts) == 1:
        return texts[0]
    return max(texts, key=lambda text: _SENTENCE_BLEU.sentence_score(text, [reference]).score)
