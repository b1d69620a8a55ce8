"""Beam search for the translation with the highest conditional probability (paper, Sec. 5; 2014b, Sec. 3).

Shapes: B sentences still searched for, K hypotheses per sentence, P of them before a step (1 before the first, then K),
R of the B * P that are still alive, V vocabulary size, T steps.

As in the authors' code, each hypothesis that reaches the end symbol leaves the beam and takes one place of it along;
the end symbol is forbidden in the first half of the source's length, and after three times that length the search
ends. Each of these rules is a config key.

Among hypotheses of equal log-probability the one whose parent stands better comes first, then the likelier word, then
the lower id; among finished ones of equal score the one that finished first, then the better placed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.vocabulary import END, UNKNOWN
from nmt.decoding.top_k import largest, largest_of_many
from nmt.errors import UserError
from nmt.model.encoder_decoder import Encoded, Steps
from nmt.model.readout import Candidates
from nmt.settings.decoding import Decoding

LOOK = 8
"""On a GPU the host waits only once in so many steps, to see which sentences are left."""
WORTHWHILE = 7 / 8
"""Finished sentences leave the batch when no more than this share of it is left: leaving copies all the others."""


class Model(Protocol):
    """What can be searched with: an `EncoderDecoder` or an `Ensemble`."""

    def steps(self, encoded: Any, candidates: Candidates | None = None) -> Steps:
        """The way through sentences that it has read."""


@dataclass(frozen=True)
class Hypothesis:
    """Words without the end symbol, log-probability (nats, the end symbol's included), whether it reached the end."""

    words: list[int]
    log_probability: float
    finished: bool

    def score(self, normalize: bool) -> float:
        """What hypotheses are ranked by; the length that divides counts the end symbol."""
        return self.log_probability / (len(self.words) + self.finished) if normalize else self.log_probability


def best(hypotheses: Sequence[Hypothesis], normalize: bool) -> Hypothesis:
    """What a search would put first, with division by length or without, of all that one with division has found.

    Division decides nothing while a search keeps everything that finishes: it only ranks in the end. `hypotheses`
    stand in the order of that ranking (`normalize_by_length`, and an `n_best` that loses none); ties are broken as
    there.
    """
    if normalize:
        return hypotheses[0]
    return min(hypotheses, key=lambda found: (-found.log_probability, len(found.words)))


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

    def select(self, rows: NDArray[np.int64]) -> Limits:
        """Those of the sentences at `rows`."""
        return Limits(self.least[rows], self.most[rows])


@dataclass(frozen=True)
class Chosen:
    """A step of the sentences at `rows` (B,): parents, words, log-probabilities, which ended or go on, (B, K) each."""

    rows: NDArray[np.int64]
    parents: Tensor
    words: Tensor
    totals: Tensor
    ended: Tensor
    going_on: Tensor


def translate(
    model: Model,
    encoded: Encoded,
    source_words: NDArray[np.int64],
    decoding: Decoding,
    forbid_unknown: bool,
    candidates: Candidates | None = None,
) -> list[list[Hypothesis]]:
    """Up to `n_best` hypotheses for each sentence, best first, made of `candidates` alone if there are any.

    Where nothing finishes, `unfinished: widen` searches again with ever doubled beams, `retry` as the authors' code
    does: first with the unknown word allowed if it was not. After that, when `widening_budget` is spent, and with
    `best`, the best unfinished hypothesis stands. The memory is that of the first search, or that of one sentence at
    the widest beam where this is more.

    Raises:
        UserError: the model computes no probabilities (NaN).
    """
    limits = Limits.of(source_words, decoding)
    found = search(model, encoded, limits, decoding, decoding.beam, forbid_unknown, candidates)
    for width, forbidden in searches_again(decoding, forbid_unknown):
        again = np.array([row for row, n_best in enumerate(found) if not n_best[0].finished])
        if not len(again):
            break
        size = max(1, len(encoded) * decoding.beam // width)
        for rows in np.split(again, range(size, len(again), size)):
            places = torch.from_numpy(rows).to(encoded.device)
            subset, own = encoded.select(places), candidates.select(places) if candidates else None
            wider = search(model, subset, limits.select(rows), decoding, width, forbidden, own)
            for row, n_best in zip(rows, wider, strict=True):
                found[row] = n_best
    return found


def searches_again(decoding: Decoding, forbid_unknown: bool) -> Iterator[tuple[int, bool]]:
    """Width of each further search for what has not finished, and whether the unknown word is forbidden in it.

    A search in which nothing finishes takes all the steps that there are, so that its work, hypotheses times steps, is
    to the first one's as its beam is to the first one's: the budget of a sentence is one of widths.
    """
    if decoding.unfinished == "best":
        return
    budget = decoding.widening_budget
    width, left = decoding.beam, math.inf if budget is None else budget * decoding.beam
    if forbid_unknown and decoding.unfinished == "retry" and width <= left:
        forbid_unknown, left = False, left - width
        yield width, forbid_unknown
    while width < decoding.widest_beam and 2 * width <= left:
        width, left = 2 * width, left - 2 * width
        yield width, forbid_unknown


@torch.no_grad()
def search(
    model: Model,
    encoded: Encoded,
    limits: Limits,
    decoding: Decoding,
    width: int,
    forbid_unknown: bool,
    candidates: Candidates | None = None,
) -> list[list[Hypothesis]]:
    """One search with beams of `width` for all sentences of `encoded`: the best finished hypotheses, or an unfinished.

    All of it happens on the model's device. A processor looks at each step which hypotheses are alive; a GPU's host
    only looks every few steps which sentences are left.
    """
    steps, beams = model.steps(encoded, candidates), Beams(encoded, limits, decoding, width, candidates)
    looks_always = looks_at_each_step(encoded.device)
    for number in range(int(limits.most.max(initial=0))):
        alive = beams.alive() if looks_always else None
        chosen = step(number, steps, beams, alive, forbid_unknown)
        if looks_always or number % LOOK == LOOK - 1:
            left = beams.left()
            if not len(left):
                break
            steps.extend(chosen.parents, chosen.words)
            if len(left) <= WORTHWHILE * len(beams.scores):
                steps.keep(left)
                beams.keep(left)
        else:
            steps.extend(chosen.parents, chosen.words)
    return BackPointers(beams.history, len(encoded), width).hypotheses(limits, decoding)


def step(number: int, steps: Steps, beams: Beams, alive: Tensor | None, forbid_unknown: bool) -> Chosen:
    """One word more for each hypothesis, or each of those at `alive`; on a GPU the host waits for nothing here."""
    words = steps.predict(alive)
    forbid(words, beams.too_early(number, alive), forbid_unknown)
    return beams.advance(number, alive, words)


def looks_at_each_step(device: torch.device) -> bool:
    """Whether looking costs nothing; on a GPU the host would have to wait for all that it has asked for."""
    return device.type == "cpu"


def forbid(words: Tensor, too_early: Tensor, forbid_unknown: bool) -> None:
    """Exclude the end symbol where it is too early, (R,), and the unknown word throughout if asked: (R, V)."""
    words[:, END].masked_fill_(too_early, -torch.inf)
    if forbid_unknown:
        words[:, UNKNOWN].fill_(-torch.inf)


class Beams:
    """The hypotheses of the sentences still searched for; those at log-probability -inf are dead.

    scores: log-probabilities, (B, P). room: places of each beam that no finished hypothesis has taken, (B,).
    finished: log-probabilities of the `n_best` best finished ones, (B, n_best), -inf where there are fewer.
    """

    def __init__(
        self,
        encoded: Encoded,
        limits: Limits,
        decoding: Decoding,
        width: int,
        candidates: Candidates | None = None,
    ) -> None:
        device, sentences = encoded.device, len(encoded)
        self.decoding, self.width = decoding, width
        self.ids = candidates.ids if candidates else None
        self.rows = np.arange(sentences)
        self.least, self.most = (torch.from_numpy(part).to(device) for part in (limits.least, limits.most))
        self.scores = torch.zeros(sentences, 1, device=device, dtype=encoded.dtype)
        self.finished = self.scores.new_full((sentences, decoding.n_best), -torch.inf)
        self.room = torch.full((sentences, 1), width, device=device)
        self.places = torch.arange(width, device=device)
        self.history: list[Chosen] = []

    def alive(self) -> Tensor:
        """Indices into B * P, (R,)."""
        return self.scores.flatten().isfinite().nonzero().squeeze(1)

    def left(self) -> Tensor:
        """Indices of the sentences with a hypothesis alive."""
        return self.scores.isfinite().any(dim=1).nonzero().squeeze(1)

    def too_early(self, number: int, alive: Tensor | None) -> Tensor:
        """Whether the end symbol is forbidden at this step, (R,)."""
        early = (number < self.least).repeat_interleave(self.scores.shape[1])
        return early if alive is None else early[alive]

    def keep(self, rows: Tensor) -> None:
        """Forget the sentences that are not at `rows`."""
        self.rows = self.rows[rows.cpu().numpy()]
        self.least, self.most, self.scores = self.least[rows], self.most[rows], self.scores[rows]
        self.finished, self.room = self.finished[rows], self.room[rows]

    def advance(self, number: int, alive: Tensor | None, words: Tensor) -> Chosen:
        """Take the best continuations into the beams and the finished ones out of them."""
        totals, parents, chosen = self._best(alive, words)
        allowed = totals.isfinite() & (self.places < self.room)
        ended = allowed & (chosen == END)
        going_on = allowed & ~ended
        self.room = self.room - ended.sum(dim=1, keepdim=True)
        self.scores = totals.masked_fill(~going_on, -torch.inf)
        self.scores.masked_fill_(self._over(number, totals, ended).unsqueeze(1), -torch.inf)
        step = Chosen(self.rows, parents, chosen, totals, ended, going_on)
        self.history.append(step)
        return step

    def _best(self, alive: Tensor | None, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations of each sentence, best first: log-probabilities, parents and words, (B, K) each.

        Only the K likeliest words of each hypothesis can be among the K best of all.
        """
        values, ids = largest_of_many(words, min(self.width, words.shape[1]))
        each, hypotheses = values.shape[1], self.scores.numel()
        if alive is not None:
            values = values.new_full((hypotheses, each), -torch.inf).index_copy_(0, alive, values)
            ids = ids.new_zeros(hypotheses, each).index_copy_(0, alive, ids)
        candidates = (self.scores.view(-1, 1) + values).view(len(self.scores), -1)
        ids = ids.view_as(candidates)
        missing = self.width - candidates.shape[1]
        if missing > 0:
            candidates = torch.nn.functional.pad(candidates, (0, missing), value=-torch.inf)
            ids = torch.nn.functional.pad(ids, (0, missing))
        totals, places = largest(candidates, self.width)
        parents = (places // each).clamp_(max=self.scores.shape[1] - 1)  # where there were too few
        words = ids.gather(1, places)
        return totals, parents, words if self.ids is None else self.ids[words]

    def _over(self, number: int, totals: Tensor, ended: Tensor) -> Tensor:
        """Searches that end at their step limit, or when no hypothesis can overtake those that have finished: (B,).

        Without division by length a log-probability only falls as words are added, so the search may end then without
        any change to its result.
        """
        over = number + 1 >= self.most
        if self.decoding.normalize_by_length:
            return over
        both = torch.cat([self.finished, totals.masked_fill(~ended, -torch.inf)], dim=1)
        self.finished = both.topk(self.decoding.n_best, dim=1).values
        return over | (self.finished[:, -1] >= self.scores.amax(dim=1))


class BackPointers:
    """All steps of a search on the host, (T, B, K) each; nothing ended or went on where a sentence had left."""

    def __init__(self, history: list[Chosen], sentences: int, width: int) -> None:
        shape = len(history), sentences, width
        self.parents, self.words = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        self.totals = np.full(shape, -np.inf)
        self.ended, self.going_on = np.zeros(shape, bool), np.zeros(shape, bool)
        for number, step in enumerate(history):
            for name in ("parents", "words", "totals", "ended", "going_on"):
                getattr(self, name)[number, step.rows] = getattr(step, name).cpu().numpy()

    def hypotheses(self, limits: Limits, decoding: Decoding) -> list[list[Hypothesis]]:
        """The best finished hypotheses of each sentence, or its best unfinished one."""
        return [
            self._finished(row, decoding) or self._unfinished(row, int(limits.most[row]) - 1)
            for row in range(self.totals.shape[1])
        ]

    def _finished(self, row: int, decoding: Decoding) -> list[Hypothesis]:
        steps, places = self.ended[:, row].nonzero()
        scores = self.totals[steps, row, places]
        divided = scores / (steps + 1) if decoding.normalize_by_length else scores
        best = np.argsort(-divided, kind="stable")[: decoding.n_best]
        return [
            Hypothesis(self._trace(row, steps[one], places[one])[:-1], float(scores[one]), True)
            for one in best
        ]

    def _unfinished(self, row: int, last: int) -> list[Hypothesis]:
        if last >= len(self.totals) or not self.going_on[last, row].any():
            raise UserError(
                "beam search: no word has a probability: the model's numbers have become NaN, or it knows no word; "
                "use other weights, or train the model again"
            )
        place = int(self.going_on[last, row].argmax())  # the best stands first
        return [Hypothesis(self._trace(row, last, place), float(self.totals[last, row, place]), False)]

    def _trace(self, row: int, step: int, place: int) -> list[int]:
        """Words of a hypothesis, from the first step to `step`."""
        words = []
        for number in range(int(step), -1, -1):
            words.append(int(self.words[number, row, place]))
            place = self.parents[number, row, place]
        return words[::-1]
