"""A contender's process: `python -m benchmarks.decoding.worker CONTENDER`; a JSON line for each request and reply.

{"do": "set up", "sizes": {...}, "machine": {...}}              -> parameters, torch's version
{"do": "decode", "lengths": [7, 7, 8], "beam": 10, "number": 3} -> seconds, steps
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from typing import Any

import numpy as np
import torch

from benchmarks.training import memory
from benchmarks.training.sentences import SPECIALS, zipf
from benchmarks.training.sizes import Machine, Sizes

CONTENDERS = {"rnnsearch": "project:Search", "joeynmt": "joeynmt:Search"}


def answer(name: str, made: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """The reply to one request; `made` keeps the contender."""
    if request["do"] == "set up":
        module, _, attribute = CONTENDERS[name.partition("-")[0]].partition(":")
        found = getattr(importlib.import_module(f"benchmarks.decoding.{module}"), attribute)
        made["vocabulary"] = request["sizes"]["vocabulary"]
        made["contender"] = found(Sizes(**request["sizes"]), Machine(**request["machine"]))
        return {"parameters": made["contender"].parameters, "torch": torch.__version__}
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
    """Sentences of these lengths, without end symbols; ids follow Zipf's law by rank."""
    generator, cumulative = np.random.default_rng((2, number)), zipf(vocabulary - SPECIALS)
    return [
        (SPECIALS + np.searchsorted(cumulative, generator.random(length), side="right")).tolist()
        for length in lengths
    ]


def main() -> None:
    """Serve until the input ends; whatever else is printed goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    made: dict[str, Any] = {}
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(answer(sys.argv[1], made, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
