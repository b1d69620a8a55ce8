"""The process of a contender. Requests come on standard input, and replies go to standard output, a line of JSON each.

    {"do": "train", "sizes": {...}}                                 -> nothing
    {"do": "search", "sizes": {...}}                                -> nothing
    {"do": "update", "number": 3}                                   -> seconds, NLL
    {"do": "decode", "lengths": [7, 7, 8], "beam": 10, "number": 3} -> seconds
    {"do": "memory"}                                                -> peak bytes

Between two requests the process sleeps. It ends with its input.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.task import Sizes, sample_pairs, sample_sentences


class Worker:
    """Answers requests about one contender: a class of its module, which may need packages that others lack."""

    def __init__(self, name: str) -> None:
        self.name = name
        module_name = "joeynmt_contender" if name == "joeynmt" else "project"
        self.module = importlib.import_module(f"benchmarks.{module_name}")

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request: {"do": "update", "number": 3} calls `update(number=3)`."""
        reply: dict[str, Any] = getattr(self, request.pop("do"))(**request)
        return reply

    def train(self, sizes: dict[str, int]) -> dict[str, Any]:
        """Create a model and its optimizer."""
        self.sizes = Sizes(**sizes)
        self.contender = self.module.Training(self.name, self.sizes)
        return {}

    def search(self, sizes: dict[str, int]) -> dict[str, Any]:
        """Create a model that translates."""
        self.sizes = Sizes(**sizes)
        self.contender = self.module.Search(self.name, self.sizes)
        return {}

    def update(self, number: int) -> dict[str, Any]:
        """Make an update with a batch that is in memory before the clock starts."""
        source, target = sample_pairs(self.sizes, number)
        batch = self.contender.make_batch(source, target)
        start = time.perf_counter()
        nll = self.contender.update(batch)
        return {"seconds": time.perf_counter() - start, "nll": float(nll)}

    def decode(self, lengths: list[int], beam: int, number: int) -> dict[str, Any]:
        """Translate a batch, for one step more than its longest sentence has words."""
        sentences = sample_sentences(lengths, self.sizes.vocabulary, number)
        steps = max(lengths) + 1
        start = time.perf_counter()
        translation_lengths = self.contender.decode(sentences, beam, steps)
        seconds = time.perf_counter() - start
        assert translation_lengths == [steps] * len(lengths), "a translation ended too early"
        return {"seconds": seconds}

    def memory(self) -> dict[str, Any]:
        """Return the most bytes that were in memory."""
        return {"peak_bytes": measure_peak_memory(os.getpid())}


def measure_peak_memory(process: int) -> int | None:
    """Return the most bytes that a process has had in memory; None if it has ended, or if this is no Linux."""
    # VmHWM, since `getrusage` also counts the memory of the parent before this program began
    status = Path("/proc", str(process), "status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024  # "VmHWM:   12345 kB"
    return None


def read_process_state(process: int) -> str:
    """Return the state of a process as one letter: T or t if it is stopped."""
    # "4711 (python3) S 1 ...": the state comes after the name in parentheses
    fields = Path("/proc", str(process), "stat").read_text(encoding="utf-8").rpartition(")")[2]
    return fields.split()[0]


def main() -> None:
    """Answer requests until the input ends."""
    # Replies go to the original standard output; what a library prints to standard output goes to standard error.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        reply = worker.answer(json.loads(line))
        print(json.dumps(reply), file=replies, flush=True)
