"""Updates as CUDA graphs, one for each shape of batch: the GPU runs an update's thousands of small kernels by itself.

Launched one by one from Python, the kernels of a recurrence take longer to launch than to run. A graph is recorded
once a shape and then replayed with new words. Batches come padded into few shapes (`Batch.in_bucket`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.data.batches import Batch

IN_FLIGHT = 8
"""Updates that may wait on the GPU before the host waits for it: enough to keep it busy, few enough to stop soon."""

Shape = tuple[int, int]


@dataclass(frozen=True)
class Recorded:
    """A graph and the memory that it reads its batch from."""

    graph: torch.cuda.CUDAGraph
    batch: Batch


class GraphedUpdates:
    """`update`, a function of a batch on the GPU, called or replayed for batches on the host.

    The first batch of a shape runs as it is, which also warms up what a recording must not do for the first time; the
    second is recorded; from then on the shape is replayed. Which of these happens must not change a result: they are
    the same kernels on the same numbers, and a run that was interrupted meets its shapes anew.
    """

    def __init__(self, update: Callable[[Batch], None], device: torch.device) -> None:
        self.update, self.device = update, device
        self._met: set[Shape] = set()
        self._recorded: dict[Shape, Recorded] = {}
        self._pool = torch.cuda.graph_pool_handle()
        # a recording cannot be made on the default stream, and autograd remembers where a weight was first used
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._in_flight: deque[torch.cuda.Event] = deque()

    def __call__(self, batch: Batch) -> None:
        """One update, in its order with all that the caller asks of the GPU before and after."""
        callers = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(callers)
        with torch.cuda.stream(self._stream):
            self._run(batch)
        callers.wait_stream(self._stream)
        self._wait_for_the_oldest()

    def forget(self) -> None:
        """Record anew: numbers that the update takes from the host, such as its learning rate, are part of a graph."""
        while self._in_flight:
            self._in_flight.popleft().synchronize()
        self._recorded.clear()
        self._pool = torch.cuda.graph_pool_handle()  # the old one goes with its last graph

    def _run(self, batch: Batch) -> None:
        shape = (len(batch.target), len(batch))
        if shape in self._recorded:
            self._replay(self._recorded[shape], batch)
        elif shape in self._met:
            self._recorded[shape] = self._record(batch)
            self._replay(self._recorded[shape], batch)
        else:
            self._met.add(shape)
            self.update(batch.to(self.device))

    def _record(self, batch: Batch) -> Recorded:
        recorded = Recorded(torch.cuda.CUDAGraph(), batch.to(self.device))
        # what other threads ask of CUDA meanwhile is no part of it: one of them pins the batches to come
        with torch.cuda.graph(
            recorded.graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
        ):
            self.update(recorded.batch)
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
