"""Beam search for the translation with the highest conditional probability (paper, Sec. 4.2; 2014b, Sec. 4.2.1).

Shapes: B sentences whose search goes on, K hypotheses per sentence after a step, H before it (1 before the first step,
then K), R active ones of the B * H hypotheses, V vocabulary size, T steps, S source length.

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
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.vocabulary import END, UNKNOWN
from nmt.errors import UserError
from nmt.model.encoder_decoder import DecoderState, Encoded
from nmt.settings.decoding import SearchSettings

SYNC_EVERY = 8
"""Number of steps on a GPU after which the host asks which sentences are left. Each time, it waits for the answer."""
COMPACT_BELOW = 7 / 8
"""Ended sentences are removed when at most this fraction of the batch is left, since removal copies the others."""


class Searchable(Protocol):
    """A model that can be searched: an `EncoderDecoder` or an `Ensemble`."""

    def start_search(self, encoded: Any) -> DecoderState:
        """Return the `DecoderState` of a search over encoded sentences."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation as a search writes it.

    Attributes:
        ids: T word ids, without the end symbol.
        log_probability: the sum of the scores, in nats.
        finished: whether the search reached the end symbol.
        scores: the log-probability of each word and, if it was reached, of the end symbol: T or T + 1 numbers.
        attention: alpha_ij when each word was written, (T or T + 1, S), padding included; None if it was not
            asked for, or the model has no attention.
    """

    ids: list[int]
    log_probability: float
    finished: bool
    scores: list[float] = field(default_factory=list, compare=False)
    attention: NDArray[np.floating] | None = field(default=None, compare=False)


# --- searches ---------------------------------------------------------------------------------------------------------


def search(
    model: Searchable,
    encoded: Encoded,
    source_lengths: NDArray[np.int64],
    decoding: SearchSettings,
    forbid_unknown: bool,
    keep_attention: bool = False,
) -> list[list[Hypothesis]]:
    """Return up to `n_best` hypotheses for each sentence, best first.

    If no hypothesis of a sentence finishes, its translation is searched again, see `plan_retries`. If none finishes in
    the last search either, the only result is the best unfinished hypothesis. Further searches need no more memory than
    the first one, unless a single sentence at the largest beam size does.

    Args:
        encoded: the sources, as the model has encoded them.
        source_lengths: the number of words of each sentence, without the end symbol, (B,).
        forbid_unknown: whether the unknown word must not be written.
        keep_attention: whether hypotheses have their attention. For each sentence, this takes as many numbers as the
            product of its source words, its target words and the beam size.

    Raises:
        UserError: the model computes no probabilities (NaN).
    """
    search_rows = partial(search_once, model, decoding=decoding, keep_attention=keep_attention)
    results = search_rows(encoded, source_lengths, decoding.beam, forbid_unknown)
    for beam_size, forbid_in_retry in plan_retries(decoding, forbid_unknown):
        unfinished_rows = np.array(
            [row for row, hypotheses in enumerate(results) if not hypotheses[0].finished]
        )
        if not len(unfinished_rows):
            break

        # A chunk has at most as many hypotheses as the first search, so that it needs no more memory.
        chunk_size = max(1, len(encoded) * decoding.beam // beam_size)
        for start in range(0, len(unfinished_rows), chunk_size):
            rows = unfinished_rows[start : start + chunk_size]
            row_tensor = torch.from_numpy(rows).to(encoded.tensor.device)
            new_results = search_rows(
                encoded.select(row_tensor), source_lengths[rows], beam_size, forbid_in_retry
            )
            for row, hypotheses in zip(rows, new_results, strict=True):
                results[row] = hypotheses
    return results


def plan_retries(decoding: SearchSettings, forbid_unknown: bool) -> Iterator[tuple[int, bool]]:
    """Yield the beam size of each further search of an unfinished sentence, and whether it forbids the unknown word.

    With `widen_beam`, beam sizes are doubled. `retry` does this too, but first allows the unknown word if it was
    forbidden, as in the authors' code. With `best` there is no further search.

    Each such search probably takes the maximum number of steps. So its work is proportional to its beam size, and
    `widening_budget` limits the sum of beam sizes.
    """
    if decoding.if_no_eos == "best":
        return
    # the budget as a number of hypotheses; the setting is in multiples of the first search's beam size
    beam_size, budget = decoding.beam, math.inf
    if decoding.widening_budget is not None:
        budget = decoding.widening_budget * decoding.beam

    if forbid_unknown and decoding.if_no_eos == "retry" and beam_size <= budget:
        forbid_unknown = False
        budget -= beam_size
        yield beam_size, forbid_unknown
    while beam_size < decoding.max_beam and 2 * beam_size <= budget:
        beam_size *= 2
        budget -= beam_size
        yield beam_size, forbid_unknown


@torch.no_grad()
def search_once(
    model: Searchable,
    encoded: Encoded,
    source_lengths: NDArray[np.int64],
    beam_size: int,
    forbid_unknown: bool,
    decoding: SearchSettings,
    keep_attention: bool,
) -> list[list[Hypothesis]]:
    """Search once with this beam size for all sentences of `encoded`. For the arguments see `search`.

    Returns the best finished hypotheses of each sentence, or an unfinished one. Everything runs on the model's device.
    On a CPU, each step checks which hypotheses are active. On a GPU, every few steps the CPU checks which sentences are
    left.
    """
    max_steps = decoding.max_length_factor * (source_lengths + 1)  # (B,)
    state = model.start_search(encoded)
    beams = Beams(encoded, source_lengths, max_steps, decoding, beam_size, forbid_unknown, keep_attention)
    sync_every_step = can_sync_every_step(encoded.tensor.device)
    for step in range(int(max_steps.max())):
        active_hypotheses = beams.find_active_hypotheses() if sync_every_step else None
        continuations = beams.advance(step, state, active_hypotheses)

        # End the search if no sentence is left. If enough of them have ended, go on with the others only.
        remaining_sentences = None
        if sync_every_step or step % SYNC_EVERY == SYNC_EVERY - 1:
            remaining_sentences = beams.find_active_sentences()
            if not len(remaining_sentences):
                break
        state.reorder_and_append(continuations.parents, continuations.ids)
        if remaining_sentences is not None and len(remaining_sentences) <= COMPACT_BELOW * len(beams.scores):
            state.select_sentences(remaining_sentences)
            beams.select_sentences(remaining_sentences)
    back_pointers = BackPointers(beams.history, len(encoded), beam_size)
    return [
        back_pointers.trace_sentence(row, last_step, decoding)
        for row, last_step in enumerate((max_steps - 1).tolist())
    ]


def can_sync_every_step(device: torch.device) -> bool:
    """Return whether the result of each step can be read at no cost. On a GPU, the CPU would have to wait for it."""
    return device.type == "cpu"


# --- beams ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Continuations:
    """The hypotheses that a step has made, K of each sentence, best first.

    Tensors are (B, K) unless a different shape is given.

    Attributes:
        batch_indices: the indices of the sentences in the batch of the search, (B,).
        parents: the hypotheses that they continue, from 0 to H - 1.
        ids: the words that they add.
        log_probs: their log-probabilities.
        is_finished: whether they have reached the end symbol.
        attention: the attention of the parents, (B, H, S), or None.
    """

    batch_indices: NDArray[np.int64]
    parents: Tensor
    ids: Tensor
    log_probs: Tensor
    is_finished: Tensor
    attention: Tensor | None


class Beams:
    """The hypotheses of the sentences whose search goes on. A hypothesis with log-probability -inf is not active.

    Attributes:
        batch_indices: the indices of the sentences in the batch of the search, (B,).
        scores: log-probabilities, (B, H).
        free_slots: the slots of each beam that no finished hypothesis has taken, (B, 1).
        finished_scores: log-probabilities of the best finished hypotheses, (B, n_best), -inf where there are fewer.
        history: the continuations of all steps.
    """

    def __init__(
        self,
        encoded: Encoded,
        source_lengths: NDArray[np.int64],
        max_steps: NDArray[np.int64],
        decoding: SearchSettings,
        beam_size: int,
        forbid_unknown: bool,
        keep_attention: bool,
    ) -> None:
        """Start with an empty hypothesis of each sentence."""
        device, sentence_count = encoded.tensor.device, len(encoded)
        self.decoding = decoding
        self.beam_size = beam_size
        self.forbid_unknown = forbid_unknown
        self.keep_attention = keep_attention

        # the index of each sentence in the batch, and limits for the steps of its search, (B,)
        self.batch_indices = np.arange(sentence_count)
        min_steps = np.zeros_like(source_lengths)
        if decoding.min_length == "half":
            min_steps = (source_lengths + 1) // 2
        self.min_steps = torch.from_numpy(min_steps).to(device)
        self.max_steps = torch.from_numpy(max_steps).to(device)

        # scores of the hypotheses, (B, H), and of the best finished ones, (B, n_best); free slots of the beams, (B, 1)
        self.scores = torch.zeros(sentence_count, 1, device=device, dtype=encoded.tensor.dtype)
        self.finished_scores = self.scores.new_full((sentence_count, decoding.n_best), -torch.inf)
        self.free_slots = torch.full((sentence_count, 1), beam_size, device=device)
        self.slots = torch.arange(beam_size, device=device)  # (K,)
        self.history: list[Continuations] = []

    def find_active_hypotheses(self) -> Tensor:
        """Return the indices of the active hypotheses among all B * H, (R,)."""
        return self.scores.flatten().isfinite().nonzero().squeeze(1)

    def find_active_sentences(self) -> Tensor:
        """Return the indices of the sentences with an active hypothesis."""
        return self.scores.isfinite().any(dim=1).nonzero().squeeze(1)

    def select_sentences(self, rows: Tensor) -> None:
        """Continue with the sentences at `rows` only."""
        self.batch_indices = self.batch_indices[rows.cpu().numpy()]
        self.min_steps = self.min_steps[rows]
        self.max_steps = self.max_steps[rows]
        self.scores = self.scores[rows]
        self.finished_scores = self.finished_scores[rows]
        self.free_slots = self.free_slots[rows]

    def advance(self, step: int, state: DecoderState, active_hypotheses: Tensor | None) -> Continuations:
        """Add one word to each hypothesis, put the best continuations into the beams, and take the finished ones out.

        The CPU does not wait for a GPU. `active_hypotheses` are the indices (R,) of the hypotheses that are continued;
        None: all.
        """
        # predict the next words, without those that are forbidden
        prediction = state.predict(active_hypotheses)
        is_too_short = (step < self.min_steps).repeat_interleave(self.scores.shape[1])  # (B * H,)
        if active_hypotheses is not None:
            is_too_short = is_too_short[active_hypotheses]
        prediction.log_probs[:, END].masked_fill_(is_too_short, -torch.inf)
        if self.forbid_unknown:
            prediction.log_probs[:, UNKNOWN] = -torch.inf
        log_probs, parents, ids = self._choose_continuations(active_hypotheses, prediction.log_probs)

        # The beam keeps as many continuations as it has free slots. A finished hypothesis keeps its slot to the end.
        is_allowed = log_probs.isfinite() & (self.slots < self.free_slots)
        is_finished = is_allowed & (ids == END)
        self.free_slots = self.free_slots - is_finished.sum(dim=1, keepdim=True)

        # A hypothesis is not continued if it is finished, was not allowed, or if the search of its sentence has ended.
        self.scores = log_probs.masked_fill(~is_allowed | is_finished, -torch.inf)
        has_ended = self._find_ended_searches(step, log_probs, is_finished)
        self.scores.masked_fill_(has_ended.unsqueeze(1), -torch.inf)
        continuations = Continuations(
            batch_indices=self.batch_indices,
            parents=parents,
            ids=ids,
            log_probs=log_probs,
            is_finished=is_finished,
            attention=prediction.attention if self.keep_attention else None,
        )
        self.history.append(continuations)
        return continuations

    def _choose_continuations(
        self, active_hypotheses: Tensor | None, word_log_probs: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-probabilities, parents and ids, (B, K) each, of each sentence's best continuations, best first.

        B: sentences. H: hypotheses of a sentence. K: beam size. R: hypotheses that are continued. V: words.

        Args:
            active_hypotheses: the hypotheses that are continued, (R,); None: all.
            word_log_probs: log p of their next words, (R, V).
        """
        # 1. the k likeliest words of each hypothesis, since no others can be among the K best continuations. k is K, or
        # V if that is smaller.
        k = min(self.beam_size, word_log_probs.shape[1])
        word_scores, words = stable_topk_of_long_rows(word_log_probs, k)  # (R, k)
        if active_hypotheses is not None:  # hypotheses that are not active have no words: (B * H, k)
            shape = self.scores.numel(), k
            word_scores = word_scores.new_full(shape, -torch.inf).index_copy_(
                0, active_hypotheses, word_scores
            )
            words = words.new_zeros(shape).index_copy_(0, active_hypotheses, words)

        # 2. put all continuations of a sentence into one row, and pad it to K columns if it is shorter
        scores = (self.scores.view(-1, 1) + word_scores).view(len(self.scores), -1)  # (B, H * k)
        words = words.view_as(scores)
        padding = self.beam_size - scores.shape[1]
        if padding > 0:
            scores = torch.nn.functional.pad(scores, (0, padding), value=-torch.inf)
            words = torch.nn.functional.pad(words, (0, padding))

        # 3. the K best of each row. Index i continues hypothesis i // k. Padding (-inf) may have any hypothesis.
        log_probs, indices = stable_topk(scores, self.beam_size)
        parents = (indices // k).clamp_(max=self.scores.shape[1] - 1)
        return log_probs, parents, words.gather(1, indices)

    def _find_ended_searches(self, step: int, log_probs: Tensor, is_finished: Tensor) -> Tensor:
        """Return whether the search of each sentence ends, (B,), given its new hypotheses, (B, K).

        A search ends at its limit of steps. Without division by length it also ends when no active hypothesis can
        become better than the `n_best` finished ones: further words only decrease log-probabilities, so the result is
        the same.
        """
        is_at_limit = step + 1 >= self.max_steps
        if self.decoding.normalize_by_length:
            return is_at_limit
        new_scores = log_probs.masked_fill(~is_finished, -torch.inf)  # of the hypotheses that finish now
        finished_scores = torch.cat([self.finished_scores, new_scores], dim=1)
        self.finished_scores = finished_scores.topk(self.decoding.n_best, dim=1).values  # best first
        # `self.scores` is -inf for hypotheses that are not active
        return is_at_limit | (self.finished_scores[:, -1] >= self.scores.amax(dim=1))


# --- from the last word back to the first -----------------------------------------------------------------------------


class BackPointers:
    """All steps of a search on the host, (T, B, K) each. `is_finished` is False for sentences that have left the batch.

    Attributes:
        parents, ids, log_probs, is_finished: as in `Continuations`.
        batch_indices: for each step, the indices of the b sentences that were still in the batch, (b,).
        attention: for each step, the attention of these sentences, (b, H, S), or None.
    """

    def __init__(self, history: list[Continuations], sentence_count: int, beam_size: int) -> None:
        """Copy all steps to the host."""
        # values of all steps, (T, B, K) each: a sentence that has left the batch keeps these initial values
        shape = len(history), sentence_count, beam_size
        self.parents = np.zeros(shape, np.int32)
        self.ids = np.zeros(shape, np.int32)
        self.log_probs = np.full(shape, -np.inf)
        self.is_finished = np.zeros(shape, bool)
        self.batch_indices: list[NDArray[np.int64]] = []  # (b,) for each step
        self.attention: list[NDArray[np.floating] | None] = []  # (b, H, S) for each step
        for step, continuations in enumerate(history):
            # fill in the b sentences that are in the batch at this step; `continuations` has arrays of the same names
            for name in ("parents", "ids", "log_probs", "is_finished"):
                values: Tensor = getattr(continuations, name)  # (b, K)
                getattr(self, name)[step, continuations.batch_indices] = values.cpu().numpy()
            attention = continuations.attention
            self.batch_indices.append(continuations.batch_indices)
            self.attention.append(None if attention is None else attention.cpu().numpy())

    def trace_sentence(self, row: int, last_step: int, decoding: SearchSettings) -> list[Hypothesis]:
        """Return the `n_best` best finished hypotheses of a sentence, best first.

        If there are none, return the best hypothesis after its last possible step.
        """
        steps, slots = self.is_finished[:, row].nonzero()
        if not len(steps):
            # The beam is sorted, and none of its hypotheses is finished, so the best one is in the first slot. No word
            # had a probability if the search ended before the last step, or if the best hypothesis is not finite.
            if last_step >= len(self.log_probs) or not np.isfinite(self.log_probs[last_step, row, 0]):
                raise UserError(
                    "beam search: no word has a probability: the model's numbers have become NaN, or it knows no "
                    "word; use other weights, or train the model again"
                )
            return [self._trace(row, last_step, 0)]

        scores = self.log_probs[steps, row, slots]
        if decoding.normalize_by_length:
            scores = scores / (steps + 1)
        ranking = np.argsort(-scores, kind="stable")[: decoding.n_best]
        return [self._trace(row, int(steps[rank]), int(slots[rank])) for rank in ranking]

    def _trace(self, row: int, last_step: int, slot: int) -> Hypothesis:
        """Return the hypothesis that step `last_step` has put into a slot of its sentence's beam."""
        log_probability = float(self.log_probs[last_step, row, slot])
        is_finished = bool(self.is_finished[last_step, row, slot])

        # Go from the last word back to the first: at each step, continue with the slot of the parent.
        ids: list[int] = []
        log_probs: list[float] = []
        attention: list[NDArray[np.floating]] = []
        for step in range(last_step, -1, -1):
            ids.append(int(self.ids[step, row, slot]))
            log_probs.append(self.log_probs[step, row, slot])
            slot = int(self.parents[step, row, slot])
            step_attention = self.attention[step]
            if step_attention is not None:
                # a row for each sentence that is still in the batch, with the attention of the parents
                active_row = np.searchsorted(self.batch_indices[step], row)
                attention.append(step_attention[active_row, slot])

        if is_finished:
            del ids[0]  # the end symbol
        return Hypothesis(
            ids=ids[::-1],
            log_probability=log_probability,
            finished=is_finished,
            scores=np.diff(log_probs[::-1], prepend=0.0).tolist(),
            attention=np.stack(attention[::-1]) if attention else None,
        )


# --- the k largest values of each row: R rows, V columns --------------------------------------------------------------

CHUNK_COLUMNS = 128
"""Columns in a chunk. The largest value of a chunk decides whether its columns are searched one by one."""


def stable_topk(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest values of each row and their columns, (R, k), largest first; equal values by column.

    `topk` breaks ties in no defined order. Here it only finds the k-th value, and sorts column numbers, which are
    distinct. That is faster than sorting rows.
    """
    width = values.shape[1]
    if k >= width:
        return values.sort(dim=1, descending=True, stable=True)

    # 1. choose the columns: the values above the k-th, then the first of those equal to it
    #
    #    values      5  2  7  5  5  1     k = 3, so the threshold is 5
    #    is_larger   .  .  x  .  .  .
    #    is_equal    x  .  .  x  x  .     2 of them are chosen
    #    is_chosen   x  .  x  x  .  .
    threshold = values.topk(k, dim=1).values[:, -1:]
    is_larger = values > threshold
    is_equal = values == threshold
    equal_count = k - is_larger.sum(dim=1, keepdim=True)
    is_chosen = is_larger | (is_equal & (is_equal.cumsum(dim=1) <= equal_count))

    # 2. list them from left to right: number the columns from the right, and take the k largest numbers
    #
    #    numbers     6  5  4  3  2  1
    #    is_chosen * numbers  ->  6, 4, 3  ->  columns 0, 2, 3
    numbers = torch.arange(width, 0, -1, device=values.device, dtype=torch.int32)
    columns = width - (is_chosen * numbers).topk(k, dim=1).values.long()
    columns.clamp_(max=width - 1)  # NaN is neither larger nor equal, so there can be too few

    # 3. sort the k values
    sorted_values, ranking = values.gather(1, columns).sort(dim=1, descending=True, stable=True)
    return sorted_values, columns.gather(1, ranking)


def stable_topk_of_long_rows(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the same as `stable_topk`. This is fast for long rows, which are read once.

    The k largest values are in the k chunks with the largest maxima (the first ones of equal maxima): these maxima are
    k values that come before every value of another chunk.
    """
    width = values.shape[1]
    # the k chunks would be half of a row or more
    if width <= 2 * CHUNK_COLUMNS * k:
        return stable_topk(values, k)

    # 1. the maximum of each chunk of a row, (R, chunks); the last chunk may be shorter
    full_width = width // CHUNK_COLUMNS * CHUNK_COLUMNS
    maxima = [values[:, :full_width].view(len(values), -1, CHUNK_COLUMNS).amax(dim=2)]
    if full_width < width:
        maxima.append(values[:, full_width:].amax(dim=1, keepdim=True))

    # 2. the columns of the k best chunks, from left to right: (R, k * CHUNK_COLUMNS)
    chunks = stable_topk(torch.cat(maxima, dim=1), k)[1].sort(dim=1).values
    offsets = torch.arange(CHUNK_COLUMNS, device=values.device)
    columns = (CHUNK_COLUMNS * chunks.unsqueeze(2) + offsets).flatten(1)

    # 3. their k largest values, without columns beyond the end of the row
    is_outside = columns >= width
    columns.clamp_(max=width - 1)
    chunk_values = values.gather(1, columns).masked_fill_(is_outside, -torch.inf)
    sorted_values, indices = stable_topk(chunk_values, k)
    return sorted_values, columns.gather(1, indices)
