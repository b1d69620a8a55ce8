"""The process of a contender: `python -m benchmarks.training.worker CONTENDER`.

Requests come on standard input, and replies go to standard output, each as one line of JSON. Between two requests the
process sleeps. It ends with its input.

    {"do": "set up", "sizes": {...}, "machine": {...}}   -> parameters
    {"do": "update", "first": 3, "count": 1}             -> seconds per update, processors kept busy, NLLs
    {"do": "memory"}                                     -> peak bytes
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from benchmarks.training import memory
from benchmarks.training.sentences import Words, draw
from benchmarks.training.sizes import Machine, Sizes

CONTENDERS = {
    "rnnsearch": "project:RNNsearch",
    "rnnsearch-small-pages": "project:RNNsearch",
    "rnnencdec": "project:RNNencdec",
    "grconv": "project:GrConv",
    "joeynmt": "joeynmt:JoeyNMT",
    "matrix": "matrix:Square",
}


class Contender(Protocol):
    """Makes batches in the CPU's memory, before the clock starts, and updates with them."""

    parameters: int

    def batch(self, source: Words, target: Words) -> Any:
        """Return a batch for `update`."""

    def update(self, batch: Any) -> float | Tensor:
        """Change the weights. Return the NLL in nats, which is read after the clock has stopped."""


def make(name: str, sizes: Sizes, machine: Machine) -> Contender:
    """Return a contender. Only its module is imported, since others may need packages that are missing here."""
    module, _, attribute = CONTENDERS[name].partition(":")
    made: Contender = getattr(importlib.import_module(f"benchmarks.training.{module}"), attribute)(
        sizes, machine
    )
    return made


class Worker:
    """Answers requests about one contender."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        if request["do"] == "set up":
            return self.set_up(Sizes(**request["sizes"]), Machine(**request["machine"]))
        if request["do"] == "update":
            return self.update(request["first"], request["count"])
        return self.memory()

    def set_up(self, sizes: Sizes, machine: Machine) -> dict[str, Any]:
        """Make the contender."""
        self.sizes, self.on_gpu = sizes, machine.device == "cuda"
        self.contender = make(self.name, sizes, machine)
        self.synchronize()
        return {"parameters": self.contender.parameters}

    def update(self, first: int, count: int) -> dict[str, Any]:
        """Make `count` updates from number `first` on. The clock stops when the device has finished."""
        batches = [self.contender.batch(*draw(self.sizes, first + index)) for index in range(count)]
        self.synchronize()
        begin, busy = time.perf_counter(), time.process_time()
        nlls = [self.contender.update(batch) for batch in batches]
        self.synchronize()
        seconds, busy = time.perf_counter() - begin, time.process_time() - busy
        return {"seconds": seconds / count, "processors": busy / seconds, "nll": [float(nll) for nll in nlls]}

    def memory(self) -> dict[str, Any]:
        """Return the most bytes that were in memory."""
        gpu = torch.cuda.max_memory_allocated() if self.on_gpu else None
        return {"peak_bytes": memory.peak(), "peak_gpu_bytes": gpu}

    def synchronize(self) -> None:
        """Wait until the GPU has finished its work."""
        if self.on_gpu:
            torch.cuda.synchronize()


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer requests until the input ends. All else that is printed goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    serve(Worker(sys.argv[1]).answer)
