"""A contender's process: `python -m benchmarks.decoding.worker CONTENDER`.

Requests and replies are those of `benchmarks.training.worker`, one line of JSON each:

    {"do": "set up", "sizes": {...}, "machine": {...}}              -> parameters
    {"do": "decode", "lengths": [7, 7, 8], "beam": 10, "number": 3} -> seconds, steps
    {"do": "memory"}                                                -> peak bytes
"""

from __future__ import annotations

import importlib
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.training import memory
from benchmarks.training.sentences import SPECIALS, zipf
from benchmarks.training.sizes import Machine, Sizes
from benchmarks.training.worker import serve

CONTENDERS = {"rnnsearch": "project:Search", "joeynmt": "joeynmt:Search"}


def answer(name: str, made: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request. `made` keeps the contender between requests."""
    if request["do"] == "set up":
        module, _, attribute = CONTENDERS[name.partition("-")[0]].partition(":")
        found = getattr(importlib.import_module(f"benchmarks.decoding.{module}"), attribute)
        made["vocabulary"] = request["sizes"]["vocabulary"]
        made["contender"] = found(Sizes(**request["sizes"]), Machine(**request["machine"]))
        return {"parameters": made["contender"].parameters}
    if request["do"] == "memory":
        return {"peak_bytes": memory.peak()}
    lengths, steps = request["lengths"], max(request["lengths"]) + 1
    sentences = draw(lengths, made["vocabulary"], request["number"])
    begin = time.perf_counter()
    written = made["contender"].decode(sentences, request["beam"], steps)
    seconds = time.perf_counter() - begin
    assert written == [steps] * len(lengths), "it did not decode for as many steps as it should"
    return {"seconds": seconds, "steps": steps}


def draw(lengths: list[int], vocabulary: int, number: int) -> list[list[int]]:
    """Draw sentences of these lengths, without end symbols. Ids follow Zipf's law by rank."""
    generator, cumulative = np.random.default_rng((2, number)), zipf(vocabulary - SPECIALS)
    return [
        (SPECIALS + np.searchsorted(cumulative, generator.random(length), side="right")).tolist()
        for length in lengths
    ]


if __name__ == "__main__":
    serve(partial(answer, sys.argv[1], {}))
