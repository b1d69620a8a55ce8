"""One update: cost, gradient, clipping, step (paper, Sec. 4.2 and App. B.2).

On a GPU, the host does not wait for the result of an update. Its cost and the norm of its gradient are added up on the
device, and the host reads the sums when it reports or saves something. If Python launches the thousands of small
kernels of an update one by one, this takes longer than to run them. So an update is recorded once for each shape of
batch, as a CUDA graph, and then replayed with new words. Batches are padded to few shapes (`bucket` of `pad_pairs`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.training import Training
from nmt.training.optimizers import (
    make_gradients_dense,
    make_optimizer,
    measure_gradient,
    replace_nonfinite_gradients,
    schedule_learning_rate,
    set_rate,
)


@dataclass(frozen=True)
class Sums:
    """Sums over updates: NLL in nats and gradient norms (finite ones), numbers of clipped and not finite gradients."""

    nll: float
    norm: float
    clipped: int
    not_finite: int


class Updater:
    """A model, its optimizer, and the sums of its updates.

    sums: (4,) float64 on the model's device, in the order of `Sums`. The reader of the sums resets them to 0. They are
    part of a run's state, so that they are equal for an interrupted and an uninterrupted run.

    bucket: on a GPU, what batches are padded to, so that they have few shapes; every position is then computed. None on
    a processor, where padding is left out.
    """

    def __init__(self, model: EncoderDecoder, training: Training) -> None:
        self.model, self.training = model, training
        self.optimizer = make_optimizer(model, training, model.backend.fuse)
        self.device = next(model.parameters()).device
        self.sums = torch.zeros(4, dtype=torch.float64, device=self.device)
        on_gpu, longest = self.device.type == "cuda", training.cuda_graph_max_words
        self.bucket = training.length_bucket if on_gpu else None
        self.graphs = GraphedUpdates(self._descend, self.device, longest) if on_gpu else None

    def __call__(self, batch: Batch, epoch: float = 0.0) -> None:
        """Make one step of the optimizer, after a number of epochs."""
        if set_rate(self.optimizer, schedule_learning_rate(self.training, epoch)) and self.graphs:
            self.graphs.reset()
        (self.graphs or self._descend)(batch)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the last update."""
        return self.optimizer.learning_rate

    def preallocate(self, longest: int) -> None:
        """On a GPU, allocate the memory for pairs of up to this number of words, or fail now. Nothing else changes."""
        if self.graphs is None:
            return
        # what the first step will add to the weights
        averages = 0 if self.optimizer.state or self.training.optimizer == "sgd" else 2
        held = [torch.empty_like(weight) for weight in self.model.parameters() for _ in range(averages)]
        bucket, limit = self.training.length_bucket, self.training.cuda_graph_max_words
        recorded = longest if limit is None else limit // bucket * bucket
        lengths = [longest, *([recorded] if 0 < recorded < longest else [])]
        self.graphs.preallocate(self._gradient, [self._of_length(words) for words in lengths])
        self.optimizer.zero_grad()
        held.clear()

    def _of_length(self, words: int) -> Batch:
        ids = [np.full(words, END)] * self.training.batch_size
        return pad_pairs(ids, ids, self.model.architecture.source_eos, self.bucket).pin_memory()

    def _gradient(self, batch: Batch) -> Tensor:
        """Compute the gradients of the weights, and return the NLL."""
        self.optimizer.zero_grad()
        nll = self.model.total_nll(batch, include_padding=self.bucket is not None)
        cost = nll if self.training.cost == "sum" else nll / len(batch)
        cost.backward()  # type: ignore[no-untyped-call]
        if self.training.optimizer == "adam":
            make_gradients_dense(self.model.parameters())
        return nll

    def _descend(self, batch: Batch) -> None:
        parameters = list(self.model.parameters())
        nll = self._gradient(batch)
        norm, scale = measure_gradient(parameters, self.training.clip_norm)
        self._count(nll.detach(), norm)
        if self.training.not_finite == "groundhog":
            replace_nonfinite_gradients(parameters, norm)
        self.optimizer.step(scale)

    def _count(self, nll: Tensor, norm: Tensor) -> None:
        finite = norm.isfinite()
        clipped = finite & (norm > self.training.clip_norm)
        seen = [torch.where(finite, value, 0.0) for value in (nll, norm)]
        self.sums += torch.stack([part.to(self.sums) for part in (*seen, clipped, ~finite)])

    def read(self) -> Sums:
        """Return the sums so far, after waiting for the device."""
        nll, norm, clipped, not_finite = self.sums.tolist()
        return Sums(nll, norm, int(clipped), int(not_finite))


PREFETCHED_BATCHES = 16


def prefetch_batches(batches: Iterator[Batch], prepare: Callable[[Batch], Batch]) -> Generator[Batch]:
    """Yield the same batches in the same order, with some of them prepared in advance by a thread.

    So a GPU never waits for reading, sorting and padding.
    An error in the thread is raised in place of its batch. Closing the iterator ends the thread.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def make() -> Batch | None:
        batch = next(batches, None)
        return None if batch is None else prepare(batch)

    made = deque(pool.submit(make) for _ in range(PREFETCHED_BATCHES))
    try:
        while (batch := made.popleft().result()) is not None:
            made.append(pool.submit(make))
            yield batch
    finally:
        pool.shutdown(cancel_futures=True)


# --- CUDA graphs ------------------------------------------------------------------------------------------------------

IN_FLIGHT = 8
"""Updates in the GPU's queue before the host waits for it: enough to keep it busy, few enough to stop soon."""

Shape = tuple[int, int]


@dataclass(frozen=True)
class Recorded:
    """A graph and the memory from which it reads its batch."""

    graph: torch.cuda.CUDAGraph
    batch: Batch


class GraphedUpdates:
    """Calls or replays `update`, a function of a batch on the GPU, for batches on the host.

    The first batch of a shape runs without a graph. This also does the initializations that a recording must not
    contain. The second batch is recorded, and all later batches of the shape are replayed. The result is the same in
    each case: the kernels and the numbers are equal. This matters because an interrupted run records its shapes again.
    Batches of more than `longest` words, if given, always run without a graph, since recordings keep the memory of the
    largest of them.
    """

    def __init__(
        self, update: Callable[[Batch], None], device: torch.device, longest: int | None = None
    ) -> None:
        self.update, self.device, self.longest = update, device, longest
        self._met: set[Shape] = set()
        self._recorded: dict[Shape, Recorded] = {}
        self._preallocated: Recorded | None = None
        self._pool = torch.cuda.graph_pool_handle()
        # a recording cannot be made on the default stream, and autograd remembers where a weight was first used
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._in_flight: deque[torch.cuda.Event] = deque()

    def __call__(self, batch: Batch) -> None:
        """Make one update, in order with the caller's work on the GPU before and after it."""
        with self._on_stream():
            self._run(batch)
        self._wait_for_the_oldest()

    def preallocate(self, work: Callable[[Batch], object], batches: Sequence[Batch]) -> None:
        """Allocate the memory of the largest updates now. `work` is an update that changes nothing.

        Batches are given in decreasing size. The largest batch that may be recorded is recorded. Its graph is never
        replayed, but keeps its memory for all later recordings. If smaller batches were recorded first, the memory of
        each would be too small for the next. Then the largest batch runs once more, like the first batch of a new shape
        beside the recordings.
        """
        with self._on_stream():
            work(batches[0].to(self.device))
            for batch in batches:
                if self._may_record(batch) and self._preallocated is None:
                    self._preallocated = self._record(work, batch)
            work(batches[0].to(self.device))

    def reset(self) -> None:
        """Discard all graphs, since they contain numbers that the update takes from the host, such as its rate."""
        while self._in_flight:
            self._in_flight.popleft().synchronize()
        self._recorded.clear()
        self._met.clear()
        if self._preallocated is None:
            self._pool = torch.cuda.graph_pool_handle()  # the old one goes with its last graph

    @contextmanager
    def _on_stream(self) -> Iterator[None]:
        callers = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(callers)
        with torch.cuda.stream(self._stream):
            yield
        callers.wait_stream(self._stream)

    def _may_record(self, batch: Batch) -> bool:
        return self.longest is None or len(batch.target) - 1 <= self.longest

    def _run(self, batch: Batch) -> None:
        shape = (len(batch.target), len(batch))
        if shape in self._recorded:
            self._replay(self._recorded[shape], batch)
        elif shape in self._met and self._may_record(batch):
            self._recorded[shape] = self._record(self.update, batch)
            self._replay(self._recorded[shape], batch)
        else:
            self._met.add(shape)
            self.update(batch.to(self.device))

    def _record(self, work: Callable[[Batch], object], batch: Batch) -> Recorded:
        recorded = Recorded(torch.cuda.CUDAGraph(), batch.to(self.device))
        # what other threads ask of CUDA meanwhile is no part of it: one of them pins the batches to come
        with torch.cuda.graph(
            recorded.graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
        ):
            work(recorded.batch)
        return recorded

    def _replay(self, recorded: Recorded, batch: Batch) -> None:
        for there, here in zip(recorded.batch.tensors(), batch.tensors(), strict=True):
            there.copy_(here, non_blocking=True)
        recorded.graph.replay()

    def _wait_for_the_oldest(self) -> None:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self._in_flight.append(event)
        if len(self._in_flight) > IN_FLIGHT:
            self._in_flight.popleft().synchronize()
