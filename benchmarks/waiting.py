"""Measure how the ways in which torch's threads wait for each other change the time of training and search.

Usage: python -m benchmarks.waiting [--threads N] [--rounds N]

There are three kinds of work at the demo's sizes: a step of a recurrence (two products and a tanh of a small state), an
update of RNNsearch, and a beam search of 20 sentences. Each process measures one kind of work with one way to wait:
GOMP_SPINCOUNT of 20,000, of 5,000 (which `import nmt` sets) or of 1,000, or OMP_WAIT_POLICY=PASSIVE. The ways take
turns, in rounds, first without other work and then beside two loops per core. Results are medians of the rounds, in
milliseconds by the clock and of all cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

from benchmarks.findings import RESULTS, hardware, make_parser, write
from benchmarks.training.sizes import Machine, Sizes

WAYS: dict[str, dict[str, str]] = {
    "20000": {"GOMP_SPINCOUNT": "20000"},
    "5000": {"GOMP_SPINCOUNT": "5000"},
    "1000": {"GOMP_SPINCOUNT": "1000"},
    "passive": {"OMP_WAIT_POLICY": "PASSIVE"},
}
LOOPS_PER_CORE = (0, 2)
SENTENCES, UNITS = 80, 256
DEMO = Sizes(length=25, batch=40, hidden=128, embedding=64, maxout=64, vocabulary=452)
TIMES = {"update": 10, "search": 1, "step": 500}
"""The number of times that a process does each kind of work."""


def main() -> None:
    """Measure each kind of work with each way to wait, alone and beside other work."""
    parser = make_parser("benchmarks.waiting", __doc__)
    parser.add_argument("--threads", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(%(default)s)")
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, list[float]]]] = {work: {} for work in TIMES}
    for work, by_load in found.items():
        for loops in LOOPS_PER_CORE:
            taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
            with busy(loops * (os.cpu_count() or 1)):
                for _ in range(options.rounds):
                    for way, settings in WAYS.items():
                        taken[way].append(measured(work, settings, options.threads))
            by_load[f"{loops} loops per core"] = {
                way: [round(median(times), 3) for times in zip(*rounds, strict=True)]
                for way, rounds in taken.items()
            }
            print(work, loops, by_load[f"{loops} loops per core"], file=sys.stderr)
    whole = {"machine": hardware(), "cores": os.cpu_count(), "threads": options.threads}
    whole["[milliseconds, core-milliseconds]"] = found
    write(RESULTS / "waiting.json", whole)
    print(json.dumps(whole, indent=2))


def measured(work: str, settings: dict[str, str], threads: int) -> tuple[float, float]:
    """Return milliseconds and core-milliseconds of one kind of work, in a process with these settings."""
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}
    environment = {name: value for name, value in os.environ.items() if name not in named} | settings
    program = f"from benchmarks.waiting import milliseconds; print(milliseconds({work!r}, {threads}))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    wall, cores = json.loads(done.stdout)
    return wall, cores


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep cores busy inside a `with` block: so many loops, which also end if this process is killed."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    others = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def milliseconds(work: str, threads: int) -> list[float]:
    """Return milliseconds of one kind of work in this process: by the clock, and of all its cores."""
    import torch  # before nmt, so that nmt's setting for waiting comes too late

    torch.set_num_threads(threads)
    do = _work(work, threads)
    do()
    begun, used = time.perf_counter(), time.process_time()
    for _ in range(TIMES[work]):
        do()
    taken = time.perf_counter() - begun, time.process_time() - used
    return [1000 * seconds / TIMES[work] for seconds in taken]


def _work(work: str, threads: int) -> Callable[[], None]:
    return _step() if work == "step" else {"update": _update, "search": _search}[work](threads)


def _step() -> Callable[[], None]:
    import torch

    state, word = torch.zeros(SENTENCES, UNITS), torch.randn(SENTENCES, UNITS)
    from_word, from_state = torch.randn(2, UNITS, UNITS) / UNITS

    def step() -> None:
        nonlocal state
        state = torch.tanh(word @ from_word + state @ from_state)

    return step


def _update(threads: int) -> Callable[[], None]:
    from benchmarks.training.sentences import draw
    from benchmarks.training.worker import make

    contender = make("rnnsearch", DEMO, Machine(threads=threads))
    batch = contender.batch(*draw(DEMO, 0))

    def update() -> None:
        float(contender.update(batch))

    return update


def _search(threads: int) -> Callable[[], None]:
    from benchmarks.decoding.project import Search
    from benchmarks.decoding.worker import draw

    contender = Search(DEMO, Machine(threads=threads))
    sentences = draw([DEMO.length] * 20, DEMO.vocabulary, 0)

    def search() -> None:
        contender.decode(sentences, 10, DEMO.length + 1)

    return search


if __name__ == "__main__":
    main()
