"""Updates as CUDA graphs, one for each shape of batch: the GPU runs an update's thousands of small kernels by itself.

If Python launches the kernels of a recurrence one by one, this takes longer than to run them. A graph is recorded once
per shape and then replayed with new words. Batches are padded to few shapes (`Batch.in_bucket`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.data.batches import Batch

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
        for there, here in zip(recorded.batch.inputs(), batch.inputs(), strict=True):
            assert isinstance(there, Tensor) and isinstance(here, Tensor)
            there.copy_(here, non_blocking=True)
        recorded.graph.replay()

    def _wait_for_the_oldest(self) -> None:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self._in_flight.append(event)
        if len(self._in_flight) > IN_FLIGHT:
            self._in_flight.popleft().synchronize()
