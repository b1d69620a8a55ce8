"""Beam search for the translation with the highest conditional probability (paper, Sec. 4.2; 2014b, Sec. 4.2.1).

Shapes: B sentences still searched for, K hypotheses per sentence, P of them before a step (1 before the first, then K),
R of the B * P that are still alive, V vocabulary size, T steps.

As in the authors' code, each hypothesis that reaches the end symbol leaves the beam and reduces the beam size by one.
The end symbol is forbidden for the first half of the source's length, and the search ends after three times that
length. The last two rules are settings.

Ties are broken as follows. Among hypotheses of equal log-probability, the better ranked parent comes first, then the
likelier word, then the lower id. Among finished hypotheses of equal score, the one that finished first comes first,
then the better ranked one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.vocabulary import END, UNKNOWN
from nmt.errors import UserError
from nmt.model.encoder_decoder import DecoderState, Encoded, Prediction
from nmt.model.output_layer import Candidates
from nmt.settings.decoding import Decoding

SYNC_EVERY = 8
"""Number of steps on a GPU between two checks of the host which sentences are left."""
COMPACT_BELOW = 7 / 8
"""Finished sentences leave the batch when at most this fraction is left, since their removal copies all others."""


class Model(Protocol):
    """A model that can be searched: an `EncoderDecoder` or an `Ensemble`."""

    def start_search(self, encoded: Any, candidates: Candidates | None = None) -> DecoderState:
        """Return the `DecoderState` of a search over encoded sentences."""


@dataclass(frozen=True)
class Hypothesis:
    """Words without the end symbol, log-probability (nats, with the end symbol), and whether it reached the end.

    scores: what each word, and the end symbol if it was reached, adds to the log-probability: T' numbers.
    attention: alpha_ij when each of these was written, (T', S), padding included; None if it was not asked for, or the
    model has none.
    """

    ids: list[int]
    log_probability: float
    finished: bool
    scores: list[float] = field(default_factory=list, compare=False)
    attention: NDArray[np.floating] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Limits:
    """Limits of the steps of a sentence: the end symbol is allowed after `least`, and the search ends after `most`."""

    least: NDArray[np.int64]
    most: NDArray[np.int64]

    @classmethod
    def of(cls, source_words: NDArray[np.int64], decoding: Decoding) -> Limits:
        """Return the limits for sources with these numbers of words, without the end symbol: (B,)."""
        half = (source_words + 1) // 2 if decoding.min_length == "half" else np.zeros_like(source_words)
        return cls(half, decoding.max_length_factor * (source_words + 1))

    def select(self, rows: NDArray[np.int64]) -> Limits:
        """Return the limits of the sentences at `rows`."""
        return Limits(self.least[rows], self.most[rows])


@dataclass(frozen=True)
class Chosen:
    """The hypotheses chosen in a step of the sentences at `rows` (B,).

    Parents, words, log-probabilities, and flags for ended and continued hypotheses are (B, K) each. The attention is
    that of the parents, (B, P, S), or None.
    """

    rows: NDArray[np.int64]
    parents: Tensor
    words: Tensor
    totals: Tensor
    ended: Tensor
    going_on: Tensor
    attention: Tensor | None


def search(
    model: Model,
    encoded: Encoded,
    source_words: NDArray[np.int64],
    decoding: Decoding,
    forbid_unknown: bool,
    candidates: Candidates | None = None,
    attention: bool = False,
) -> list[list[Hypothesis]]:
    """Return up to `n_best` hypotheses for each sentence, best first, only with words of `candidates` if given.

    If no hypothesis of a sentence finishes, `if_no_eos: widen_beam` searches again with doubled beam sizes. `retry`
    follows the authors' code, and first allows the unknown word if it was forbidden. If no search finishes within
    `widening_budget`, and with `best`, the best unfinished hypothesis is returned. The memory is that of the first
    search, or that of one sentence at the largest beam size if this is more. With `attention`, hypotheses have their
    attention; then all steps keep that of all hypotheses, T K S numbers for a sentence.

    Raises:
        UserError: the model computes no probabilities (NaN).
    """
    limits = Limits.of(source_words, decoding)
    results = search_once(
        model, encoded, limits, decoding, decoding.beam, forbid_unknown, candidates, attention
    )
    for width, forbidden in searches_again(decoding, forbid_unknown):
        again = np.array([row for row, n_best in enumerate(results) if not n_best[0].finished])
        if not len(again):
            break
        size = max(1, len(encoded) * decoding.beam // width)
        for rows in np.split(again, range(size, len(again), size)):
            places = torch.from_numpy(rows).to(encoded.tensor.device)
            subset, own = encoded.select(places), candidates.select(places) if candidates else None
            wider = search_once(
                model, subset, limits.select(rows), decoding, width, forbidden, own, attention
            )
            for row, n_best in zip(rows, wider, strict=True):
                results[row] = n_best
    return results


def searches_again(decoding: Decoding, forbid_unknown: bool) -> Iterator[tuple[int, bool]]:
    """Yield the beam size of each further search of an unfinished sentence, and whether it forbids the unknown word.

    If nothing finishes, a search takes the maximum number of steps, and its work, hypotheses times steps, is
    proportional to its beam size. So the budget of a sentence is a sum of beam sizes.
    """
    if decoding.if_no_eos == "best":
        return
    budget = decoding.widening_budget
    width, left = decoding.beam, math.inf if budget is None else budget * decoding.beam
    if forbid_unknown and decoding.if_no_eos == "retry" and width <= left:
        forbid_unknown, left = False, left - width
        yield width, forbid_unknown
    while width < decoding.max_beam and 2 * width <= left:
        width, left = 2 * width, left - 2 * width
        yield width, forbid_unknown


@torch.no_grad()
def search_once(
    model: Model,
    encoded: Encoded,
    limits: Limits,
    decoding: Decoding,
    width: int,
    forbid_unknown: bool,
    candidates: Candidates | None,
    attention: bool,
) -> list[list[Hypothesis]]:
    """Search once with beam size `width` for all sentences of `encoded`.

    Returns the best finished hypotheses of each sentence, or an unfinished one. Everything runs on the model's device.
    On a CPU, each step checks which hypotheses are alive; on a GPU, the host only checks every few steps which
    sentences are left.
    """
    steps = model.start_search(encoded, candidates)
    beams = Beams(encoded, limits, decoding, width, candidates, attention)
    looks_always = looks_at_each_step(encoded.tensor.device)
    for number in range(int(limits.most.max(initial=0))):
        alive = beams.alive() if looks_always else None
        chosen = step(number, steps, beams, alive, forbid_unknown)
        if looks_always or number % SYNC_EVERY == SYNC_EVERY - 1:
            left = beams.left()
            if not len(left):
                break
            steps.reorder_and_append(chosen.parents, chosen.words)
            if len(left) <= COMPACT_BELOW * len(beams.scores):
                steps.select_sentences(left)
                beams.keep(left)
        else:
            steps.reorder_and_append(chosen.parents, chosen.words)
    return BackPointers(beams.history, len(encoded), width).hypotheses(limits, decoding)


def step(
    number: int, steps: DecoderState, beams: Beams, alive: Tensor | None, forbid_unknown: bool
) -> Chosen:
    """Add one word to each hypothesis, or to those at `alive`. On a GPU, the host does not wait for results here."""
    prediction = steps.predict(alive)
    forbid(prediction.log_probs, beams.too_early(number, alive), forbid_unknown)
    return beams.advance(number, alive, prediction)


def looks_at_each_step(device: torch.device) -> bool:
    """Return whether each step can be checked at no cost. On a GPU, the host would wait for all launched work."""
    return device.type == "cpu"


def forbid(words: Tensor, too_early: Tensor, forbid_unknown: bool) -> None:
    """Exclude the end symbol where it is too early, (R,), and the unknown word if it is forbidden: (R, V)."""
    words[:, END].masked_fill_(too_early, -torch.inf)
    if forbid_unknown:
        words[:, UNKNOWN].fill_(-torch.inf)


class Beams:
    """The hypotheses of the sentences whose search goes on; those with log-probability -inf are dead.

    scores: log-probabilities, (B, P). room: remaining size of each beam after its finished hypotheses, (B,).
    finished: log-probabilities of the `n_best` best finished hypotheses, (B, n_best), -inf where there are fewer.
    """

    def __init__(
        self,
        encoded: Encoded,
        limits: Limits,
        decoding: Decoding,
        width: int,
        candidates: Candidates | None = None,
        attention: bool = False,
    ) -> None:
        device, sentences = encoded.tensor.device, len(encoded)
        self.decoding, self.width, self.attention = decoding, width, attention
        self.ids = candidates.ids if candidates else None
        self.rows = np.arange(sentences)
        self.least, self.most = (torch.from_numpy(part).to(device) for part in (limits.least, limits.most))
        self.scores = torch.zeros(sentences, 1, device=device, dtype=encoded.tensor.dtype)
        self.finished = self.scores.new_full((sentences, decoding.n_best), -torch.inf)
        self.room = torch.full((sentences, 1), width, device=device)
        self.places = torch.arange(width, device=device)
        self.history: list[Chosen] = []

    def alive(self) -> Tensor:
        """Return the indices of living hypotheses into B * P, (R,)."""
        return self.scores.flatten().isfinite().nonzero().squeeze(1)

    def left(self) -> Tensor:
        """Return the indices of the sentences with a living hypothesis."""
        return self.scores.isfinite().any(dim=1).nonzero().squeeze(1)

    def too_early(self, number: int, alive: Tensor | None) -> Tensor:
        """Return whether the end symbol is forbidden at this step, (R,)."""
        early = (number < self.least).repeat_interleave(self.scores.shape[1])
        return early if alive is None else early[alive]

    def keep(self, rows: Tensor) -> None:
        """Keep only the sentences at `rows`."""
        self.rows = self.rows[rows.cpu().numpy()]
        self.least, self.most, self.scores = self.least[rows], self.most[rows], self.scores[rows]
        self.finished, self.room = self.finished[rows], self.room[rows]

    def advance(self, number: int, alive: Tensor | None, prediction: Prediction) -> Chosen:
        """Put the best continuations into the beams and take the finished ones out."""
        totals, parents, chosen = self._best(alive, prediction.log_probs)
        allowed = totals.isfinite() & (self.places < self.room)
        ended = allowed & (chosen == END)
        going_on = allowed & ~ended
        self.room = self.room - ended.sum(dim=1, keepdim=True)
        self.scores = totals.masked_fill(~going_on, -torch.inf)
        self.scores.masked_fill_(self._over(number, totals, ended).unsqueeze(1), -torch.inf)
        attention = prediction.attention if self.attention else None
        step = Chosen(self.rows, parents, chosen, totals, ended, going_on, attention)
        self.history.append(step)
        return step

    def _best(self, alive: Tensor | None, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-probabilities, parents and words, (B, K) each, of each sentence's best continuations, best first.

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
        """Return which searches end, at their step limit or since no hypothesis can overtake the finished ones: (B,).

        Without division by length, log-probabilities only decrease with further words, so this early end does not
        change the result.
        """
        over = number + 1 >= self.most
        if self.decoding.normalize_by_length:
            return over
        both = torch.cat([self.finished, totals.masked_fill(~ended, -torch.inf)], dim=1)
        self.finished = both.topk(self.decoding.n_best, dim=1).values
        return over | (self.finished[:, -1] >= self.scores.amax(dim=1))


class BackPointers:
    """All steps of a search on the host, (T, B, K) each. Flags are False for sentences that have left the batch.

    attention: by step, (b, P, S) of the sentences that were in the batch, whose numbers `rows` has; or None.
    """

    def __init__(self, history: list[Chosen], sentences: int, width: int) -> None:
        shape = len(history), sentences, width
        self.parents, self.words = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        self.totals = np.full(shape, -np.inf)
        self.ended, self.going_on = np.zeros(shape, bool), np.zeros(shape, bool)
        for number, step in enumerate(history):
            for name in ("parents", "words", "totals", "ended", "going_on"):
                getattr(self, name)[number, step.rows] = getattr(step, name).cpu().numpy()
        self.rows = [step.rows for step in history]
        self.attention = [
            None if step.attention is None else step.attention.cpu().numpy() for step in history
        ]

    def hypotheses(self, limits: Limits, decoding: Decoding) -> list[list[Hypothesis]]:
        """Return the best finished hypotheses of each sentence, or its best unfinished hypothesis."""
        return [
            self._finished(row, decoding) or self._unfinished(row, int(limits.most[row]) - 1)
            for row in range(self.totals.shape[1])
        ]

    def _finished(self, row: int, decoding: Decoding) -> list[Hypothesis]:
        steps, places = self.ended[:, row].nonzero()
        scores = self.totals[steps, row, places]
        divided = scores / (steps + 1) if decoding.normalize_by_length else scores
        best = np.argsort(-divided, kind="stable")[: decoding.n_best]
        return [self._trace(row, int(steps[rank]), int(places[rank])) for rank in best]

    def _unfinished(self, row: int, last: int) -> list[Hypothesis]:
        if last >= len(self.totals) or not self.going_on[last, row].any():
            raise UserError(
                "beam search: no word has a probability: the model's numbers have become NaN, or it knows no word; "
                "use other weights, or train the model again"
            )
        return [self._trace(row, last, int(self.going_on[last, row].argmax()))]  # the best stands first

    def _trace(self, row: int, last: int, place: int) -> Hypothesis:
        """Return the hypothesis that step `last` has put at a place of its sentence's beam."""
        log_probability, finished = float(self.totals[last, row, place]), bool(self.ended[last, row, place])

        # from the last word back to the first
        words, totals, attention = list[int](), list[float](), list[NDArray[np.floating]]()
        for step in range(last, -1, -1):
            words.append(int(self.words[step, row, place]))
            totals.append(self.totals[step, row, place])
            place = int(self.parents[step, row, place])
            weights = self.attention[step]  # of the hypotheses before the word
            if weights is not None:
                attention.append(weights[np.searchsorted(self.rows[step], row), place])

        if finished:
            del words[0]  # the end symbol
        return Hypothesis(
            ids=words[::-1],
            log_probability=log_probability,
            finished=finished,
            scores=np.diff(totals[::-1], prepend=0.0).tolist(),
            attention=np.stack(attention[::-1]) if attention else None,
        )


# --- the k largest values of each row: R rows, V columns --------------------------------------------------------------

CHUNK = 128
"""Columns in a chunk. The largest value of a chunk decides whether its columns are searched one by one."""


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest values of each row and their columns, (R, k), largest first; equal values by column.

    Rows are not sorted, and the order of `topk`, which is not defined for equal values, does not matter: it only finds
    the k-th value, or sorts distinct numbers.
    """
    width = values.shape[1]
    if k >= width:
        ordered, columns = values.sort(dim=1, descending=True, stable=True)
        return ordered, columns
    threshold = values.topk(k, dim=1).values[:, -1:]
    ahead, tied = values > threshold, values == threshold
    room = k - ahead.sum(dim=1, keepdim=True)
    taken = ahead | (tied & (tied.cumsum(dim=1) <= room))
    numbers = torch.arange(width, 0, -1, device=values.device, dtype=torch.int32)
    columns = width - (taken * numbers).topk(k, dim=1).values.long()  # ascending, since the numbers descend
    columns.clamp_(max=width - 1)  # where values are not numbers, nothing was taken
    ordered, places = values.gather(1, columns).sort(dim=1, descending=True, stable=True)
    return ordered, columns.gather(1, places)


def largest_of_many(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the same as `largest`. This is fast for long rows, which are read once.

    The k largest values are in the k chunks with the largest maxima (the first ones of equal maxima): each of these
    chunks has a value that comes before all values of the other chunks.
    """
    width = values.shape[1]
    if width <= 2 * CHUNK * k:
        return largest(values, k)
    whole = width // CHUNK * CHUNK
    peaks = [values[:, :whole].view(len(values), -1, CHUNK).amax(dim=2)]
    if whole < width:
        peaks.append(values[:, whole:].amax(dim=1, keepdim=True))
    chunks = largest(torch.cat(peaks, dim=1), k)[1].sort(dim=1).values
    columns = (CHUNK * chunks.unsqueeze(2) + torch.arange(CHUNK, device=values.device)).flatten(1)
    outside = columns >= width
    columns.clamp_(max=width - 1)
    candidates = values.gather(1, columns).masked_fill_(outside, -torch.inf)
    best, places = largest(candidates, k)
    return best, columns.gather(1, places)
