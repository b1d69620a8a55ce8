"""The process of a contender. Requests come on standard input, and replies go to standard output, a line of JSON each.

    {"do": "train", "sizes": {...}}                                 -> parameters
    {"do": "search", "sizes": {...}}                                -> parameters
    {"do": "update", "number": 3}                                   -> seconds, NLL
    {"do": "decode", "lengths": [7, 7, 8], "beam": 10, "number": 3} -> seconds
    {"do": "memory"}                                                -> peak bytes

Between two requests the process sleeps. It ends with its input.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.task import Sizes, draw, draw_sentences


class Worker:
    """Answers requests about one contender: a class of its module, which may need packages that others lack."""

    def __init__(self, name: str) -> None:
        self.name = name
        peer = name.partition("-")[0] == "joeynmt"
        self.module = importlib.import_module(f"benchmarks.{'joeynmt_contender' if peer else 'project'}")

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        reply: dict[str, Any] = getattr(self, request.pop("do"))(**request)
        return reply

    def train(self, sizes: dict[str, int]) -> dict[str, Any]:
        """Make what updates a model."""
        self.sizes = Sizes(**sizes)
        self.contender = self.module.Training(self.name, self.sizes)
        return {"parameters": self.contender.parameters}

    def search(self, sizes: dict[str, int]) -> dict[str, Any]:
        """Make what translates."""
        self.sizes = Sizes(**sizes)
        self.contender = self.module.Search(self.name, self.sizes)
        return {"parameters": self.contender.parameters}

    def update(self, number: int) -> dict[str, Any]:
        """Make an update with a batch that is in memory before the clock starts."""
        batch = self.contender.batch(*draw(self.sizes, number))
        begin = time.perf_counter()
        nll = self.contender.update(batch)
        return {"seconds": time.perf_counter() - begin, "nll": float(nll)}

    def decode(self, lengths: list[int], beam: int, number: int) -> dict[str, Any]:
        """Translate a batch, for one step more than its longest sentence has words."""
        sentences, steps = draw_sentences(lengths, self.sizes.vocabulary, number), max(lengths) + 1
        begin = time.perf_counter()
        written = self.contender.decode(sentences, beam, steps)
        seconds = time.perf_counter() - begin
        assert written == [steps] * len(lengths), "it did not decode for as many steps as it should"
        return {"seconds": seconds}

    def memory(self) -> dict[str, Any]:
        """Return the most bytes that were in memory."""
        return {"peak_bytes": peak()}


def peak(process: int | None = None) -> int | None:
    """Return the most bytes that a process, or this one, has had in memory; None if there is no such process.

    On Linux this is VmHWM, since `getrusage` also counts the memory of the parent before this program began.
    """
    status = Path("/proc", str(process or os.getpid()), "status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), None)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if process is None else None


def state(process: int) -> str:
    """Return the state of a process as one letter: T or t if it is stopped."""
    return Path("/proc", str(process), "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def main() -> None:
    """Answer requests until the input ends. All else that is printed goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(sys.argv[1])
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(worker.answer(json.loads(line))), file=replies, flush=True)
