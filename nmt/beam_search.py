"""Beam search for the translation with the highest conditional probability (paper, Sec. 5; 2014b, Sec. 3).

Shapes: B sentences, K hypotheses a sentence, V vocabulary size.

As in the authors' code, each hypothesis that reaches the end symbol leaves the beam and takes one place of it along;
the end symbol is forbidden in the first half of the source's length, and after three times that length the search
ends. Each of these rules is a config key.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.models import Encoded, Translator
from nmt.settings import Decoding
from nmt.vocabulary import END, UNKNOWN

WIDEST = 500
"""A search in which nothing finishes is tried again with a doubled beam up to this width."""


@dataclass(frozen=True)
class Hypothesis:
    """Words without the end symbol, log-probability (nats, the end symbol's included), whether it reached the end."""

    words: list[int]
    log_probability: float
    finished: bool

    def score(self, normalize: bool) -> float:
        """What hypotheses are ranked by; the length that divides counts the end symbol."""
        return self.log_probability / (len(self.words) + self.finished) if normalize else self.log_probability


@dataclass(frozen=True)
class Limits:
    """Steps of one sentence: the end symbol is allowed after `least` of them, the search ends after `most`."""

    least: NDArray[np.int64]
    most: NDArray[np.int64]

    @classmethod
    def of(cls, source_words: NDArray[np.int64], decoding: Decoding) -> Limits:
        """Limits for sources of so many words, without the end symbol: (B,)."""
        half = (source_words + 1) // 2 if decoding.min_length == "half" else np.zeros_like(source_words)
        return cls(half, decoding.max_length_factor * (source_words + 1))


@dataclass
class Beam:
    """One sentence's side of the search, on the host."""

    width: int
    finished: list[Hypothesis] = field(default_factory=list)
    unfinished: Hypothesis | None = None


@dataclass(frozen=True)
class Step:
    """What was chosen at one step, (B', K) each, for the sentences still searched for (`rows`, (B',))."""

    rows: NDArray[np.int64]
    parents: NDArray[np.int64]
    words: NDArray[np.int64]


def translate(
    model: Translator,
    encoded: Encoded,
    source_words: NDArray[np.int64],
    decoding: Decoding,
    forbid_unknown: bool,
) -> list[list[Hypothesis]]:
    """Up to `n_best` hypotheses for each sentence, best first.

    Where nothing finishes, `unfinished: retry` searches again, first with the unknown word allowed if it was not,
    then with ever doubled beams, as the authors' code does; after that, and with `best`, the best unfinished
    hypothesis stands.
    """
    beams = search(model, encoded, Limits.of(source_words, decoding), decoding, decoding.beam, forbid_unknown)
    width = decoding.beam
    while decoding.unfinished == "retry" and width < WIDEST:
        again = [row for row, beam in enumerate(beams) if not beam.finished]
        if not again:
            break
        width = width if forbid_unknown else 2 * width
        forbid_unknown = False
        subset = encoded.select(torch.tensor(again, device=encoded.annotations.device))
        limits = Limits.of(source_words[again], decoding)
        for row, beam in zip(again, search(model, subset, limits, decoding, width, False), strict=True):
            beams[row] = beam
    return [best(beam, decoding) for beam in beams]


def best(beam: Beam, decoding: Decoding) -> list[Hypothesis]:
    """The best finished hypotheses, or the best unfinished one."""
    if beam.finished:
        ranked = sorted(beam.finished, key=lambda found: -found.score(decoding.normalize_by_length))
        return ranked[: decoding.n_best]
    return [beam.unfinished or Hypothesis([], 0.0, False)]


@torch.no_grad()
def search(
    model: Translator, encoded: Encoded, limits: Limits, decoding: Decoding, width: int, forbid_unknown: bool
) -> list[Beam]:
    """One search with beams of `width` for all sentences of `encoded`."""
    device = encoded.annotations.device
    sentences = len(encoded.annotations)
    beams = [Beam(width) for _ in range(sentences)]
    rows = np.arange(sentences)
    hypotheses, scores = model.begin(encoded), torch.zeros(sentences, 1, device=device)
    steps: list[Step] = []
    while len(rows):
        prediction = model.predict(hypotheses, encoded)
        totals = scores.unsqueeze(2) + prediction.log_probabilities
        totals = totals[:, :, : totals.shape[2] - model.architecture.unused_ids]  # they are no words
        forbid(totals, torch.from_numpy(len(steps) < limits.least[rows]).to(device), forbid_unknown)
        chosen, parents, words = choose(totals, width)
        steps.append(Step(rows, parents.cpu().numpy(), words.cpu().numpy()))
        kept = harvest(steps, chosen.cpu().numpy(), beams, limits, decoding)
        going_on = np.array([beams[row].width > 0 for row in rows]) & np.isfinite(kept).any(axis=1)
        hypotheses = model.extend(prediction, parents, words)
        scores = torch.from_numpy(kept).to(device)
        if not going_on.all():
            left = torch.from_numpy(np.flatnonzero(going_on)).to(device)
            encoded, scores, rows = encoded.select(left), scores[left], rows[going_on]
            hypotheses = type(hypotheses)(hypotheses.state[left], hypotheses.previous[left])
    return beams


def forbid(totals: Tensor, too_early: Tensor, forbid_unknown: bool) -> None:
    """Exclude the end symbol where it is too early, (B,), and the unknown word throughout if asked: (B, K, V)."""
    totals[:, :, END].masked_fill_(too_early.unsqueeze(1), -torch.inf)
    if forbid_unknown:
        totals[:, :, UNKNOWN] = -torch.inf


def choose(totals: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each sentence, best first: scores, parents and words, (B, K') each."""
    vocabulary = totals.shape[2]
    flat = totals.flatten(1)
    scores, indices = flat.topk(min(width, flat.shape[1]), dim=1)
    return scores, indices // vocabulary, indices % vocabulary


def harvest(
    steps: list[Step], scores: NDArray[np.float32], beams: list[Beam], limits: Limits, decoding: Decoding
) -> NDArray[np.float32]:
    """Take finished hypotheses out of the beams; scores of those that go on, -inf elsewhere: (B', K')."""
    step = steps[-1]
    kept = np.full_like(scores, -np.inf)
    for slot, row in enumerate(step.rows):
        beam = beams[row]
        places = [
            place for place in range(min(beam.width, scores.shape[1])) if np.isfinite(scores[slot, place])
        ]
        for place in places:
            score = float(scores[slot, place])
            if step.words[slot, place] == END:
                beam.finished.append(Hypothesis(trace(steps, int(row), place)[:-1], score, True))
                beam.width -= 1
            else:
                kept[slot, place] = score
        close(beam, steps, int(row), kept[slot], limits, decoding)
    return kept


def close(
    beam: Beam, steps: list[Step], row: int, kept: NDArray[np.float32], limits: Limits, decoding: Decoding
) -> None:
    """End a sentence's search at its step limit, or when no hypothesis can overtake those that have finished.

    Without division by length a log-probability only falls as words are added, so the search may end then without
    any change to its result.
    """
    place = int(kept.argmax())
    leader = float(kept[place])
    enough = sorted((found.log_probability for found in beam.finished), reverse=True)[: decoding.n_best]
    overtaken = len(enough) == decoding.n_best and enough[-1] >= leader and not decoding.normalize_by_length
    if len(steps) >= limits.most[row] and np.isfinite(leader) and not beam.finished:
        beam.unfinished = Hypothesis(trace(steps, row, place), leader, False)
    if overtaken or len(steps) >= limits.most[row]:
        beam.width = 0


def trace(steps: list[Step], row: int, place: int) -> list[int]:
    """Words of the hypothesis at `place` of sentence `row`, from the first step to the last."""
    words = []
    for step in reversed(steps):
        slot = int(np.searchsorted(step.rows, row))  # rows stay in order when sentences leave
        words.append(int(step.words[slot, place]))
        place = int(step.parents[slot, place])
    return words[::-1]
