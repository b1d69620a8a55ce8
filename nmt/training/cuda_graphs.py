"""Updates as CUDA graphs.

An update has thousands of small kernels. Python takes longer to launch them one by one than the GPU to run them. So an
update is captured once for each shape of batch, as a CUDA graph, and then replayed with the words of other batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from nmt.data.batches import Batch

MAX_QUEUED_UPDATES = 8
"""Updates in the GPU's queue before the host waits for it: enough to keep it busy, few enough to stop soon."""

Shape = tuple[int, int]
"""Steps and sentences of a batch."""


@dataclass(frozen=True)
class CapturedUpdate:
    """A graph, and the batch in the GPU's memory from which it reads."""

    graph: torch.cuda.CUDAGraph
    batch: Batch


class GraphedUpdates:
    """Calls or replays `update`, a function of a batch on the GPU, for batches on the host.

    The first batch of a shape runs without a graph. This also does the initializations that a capture must not contain.
    The second batch is captured, and it and all later batches of the shape are replayed. All of them run the same
    kernels with the same results, so a resumed run, which captures its shapes again, equals an unbroken one.

    max_words: batches with longer sentences always run without a graph, since graphs keep the memory of the largest
    batch. None: there is no limit.
    """

    def __init__(self, update: Callable[[Batch], None], device: torch.device, max_words: int | None) -> None:
        self.update, self.device, self.max_words = update, device, max_words
        self._seen_shapes: set[Shape] = set()
        self._captured_updates: dict[Shape, CapturedUpdate] = {}
        self._preallocated: CapturedUpdate | None = None
        self._memory_pool = torch.cuda.graph_pool_handle()
        # All updates run on one stream: the default stream allows no capture, and autograd computes the gradient of a
        # weight on the stream where the weight was first used.
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._queued_updates: deque[torch.cuda.Event] = deque()

    def __call__(self, batch: Batch) -> None:
        """Make one update, in order with the caller's work on the GPU before and after it."""
        with self._use_stream():
            self._run(batch)
        self._limit_queue()

    def preallocate(self, update: Callable[[Batch], object], batches: Sequence[Batch]) -> None:
        """Allocate the memory of the largest updates now.

        update: computes what an update computes, but leaves the weights as they are. batches: the largest first.
        """
        largest_batch = batches[0]
        with self._use_stream():
            # 1. run the largest batch
            update(largest_batch.to(self.device))

            # 2. Capture the largest batch that may be captured. Its graph is never replayed, but all later graphs use
            #    its memory. The memory of a smaller graph would be too small for them.
            for batch in batches:
                if self._preallocated is None and self._may_capture(batch):
                    self._preallocated = self._capture(update, batch)

            # 3. Run the largest batch again. Later batches whose shape is new run without a graph, too, and the memory
            #    of the graphs is not available to them.
            update(largest_batch.to(self.device))

    def reset(self) -> None:
        """Discard all graphs. They contain the numbers that an update takes from the CPU, such as the learning rate."""
        while self._queued_updates:
            self._queued_updates.popleft().synchronize()
        self._captured_updates.clear()
        self._seen_shapes.clear()
        # Use a new pool, since the old one is freed with its last graph. A preallocated graph keeps the old one.
        if self._preallocated is None:
            self._memory_pool = torch.cuda.graph_pool_handle()

    @contextmanager
    def _use_stream(self) -> Iterator[None]:
        """Run the block on this object's stream, after the earlier and before the later work of the caller."""
        caller_stream = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(caller_stream)
        with torch.cuda.stream(self._stream):
            yield
        caller_stream.wait_stream(self._stream)

    def _may_capture(self, batch: Batch) -> bool:
        """Return whether a batch is short enough for a graph. Its steps are its words and EOS."""
        return self.max_words is None or len(batch.target) - 1 <= self.max_words

    def _run(self, batch: Batch) -> None:
        """Run the first batch of a shape, capture the second, and replay from then on."""
        shape = (len(batch.target), len(batch))
        if shape not in self._captured_updates:
            if shape not in self._seen_shapes or not self._may_capture(batch):
                self._seen_shapes.add(shape)
                self.update(batch.to(self.device))
                return
            self._captured_updates[shape] = self._capture(self.update, batch)

        # copy the batch into the memory that the graph reads
        captured_update = self._captured_updates[shape]
        for graph_tensor, tensor in zip(captured_update.batch.tensors(), batch.tensors(), strict=True):
            graph_tensor.copy_(tensor, non_blocking=True)
        captured_update.graph.replay()

    def _capture(self, update: Callable[[Batch], object], batch: Batch) -> CapturedUpdate:
        """Capture an update as a graph. The update does not run before the graph is replayed."""
        graph, graph_batch = torch.cuda.CUDAGraph(), batch.to(self.device)
        # Calls that a capture forbids are errors in this thread only: the prefetching thread pins memory meanwhile.
        with torch.cuda.graph(
            graph, pool=self._memory_pool, stream=self._stream, capture_error_mode="thread_local"
        ):
            update(graph_batch)
        return CapturedUpdate(graph, graph_batch)

    def _limit_queue(self) -> None:
        """Wait for the oldest update in the GPU's queue if the queue is full."""
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self._queued_updates.append(event)
        if len(self._queued_updates) > MAX_QUEUED_UPDATES:
            self._queued_updates.popleft().synchronize()
