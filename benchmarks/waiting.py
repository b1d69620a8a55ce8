"""How torch's threads wait for each other: milliseconds of training and of search, alone and beside other work.

Usage: python -m benchmarks.waiting [--threads N] [--rounds N]

Three kinds of work at the demo's sizes: a step of a recurrence (two products and a tanh of a small state), an update
of RNNsearch, a beam search of 20 sentences. Each process measures one kind in one way to wait: OpenMP's own, the one
that `import nmt` sets (GOMP_SPINCOUNT=20000), OMP_WAIT_POLICY=PASSIVE. The ways take turns, in rounds; other work is
a loop on every core. The median of the rounds counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.findings import publish, whole_numbers
from benchmarks.training.sizes import Machine, Sizes

RESULT = Path(__file__).parent / "results" / "waiting.json"
WAYS: dict[str, dict[str, str]] = {
    "openmp": {},
    "nmt": {"IMPORT_NMT": "1"},
    "passive": {"OMP_WAIT_POLICY": "PASSIVE"},
}
SENTENCES, UNITS = 80, 256
DEMO = Sizes(length=25, batch=40, hidden=128, embedding=64, maxout=64, vocabulary=452)
TIMES = {"step": 1000, "update": 20, "search": 2}
"""How often each kind of work is done in a process."""


def main() -> None:
    """Measure each kind of work in each way, alone and beside other work; or, as a process of that, one of them."""
    options = whole_numbers(__doc__, threads=2, rounds=5)
    taken: dict[str, dict[str, dict[str, list[float]]]] = {
        work: {machine: defaultdict(list) for machine in ("quiet", "busy")} for work in TIMES
    }
    for work, machines in taken.items():
        for machine, ways in machines.items():
            for _ in range(options.rounds):
                for way, settings in WAYS.items():
                    with busy(0 if machine == "quiet" else os.cpu_count() or 1):
                        ways[way].append(measured(work, settings, options.threads))
    found = {
        work: {
            machine: {way: round(median(times), 3) for way, times in ways.items()}
            for machine, ways in machines.items()
        }
        for work, machines in taken.items()
    }
    publish({"cores": os.cpu_count(), "threads": options.threads, "milliseconds": found}, RESULT)


def measured(work: str, settings: dict[str, str], threads: int) -> float:
    """Milliseconds of a kind of work in a process with these settings."""
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "IMPORT_NMT"}
    environment = {name: value for name, value in os.environ.items() if name not in named} | settings
    program = f"from benchmarks.waiting import milliseconds; print(milliseconds({work!r}, {threads}))"
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Other work: so many loops that end with this process, even one that is killed."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    others = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def milliseconds(work: str, threads: int) -> float:
    """Of one kind of work, in this process."""
    if os.environ.get("IMPORT_NMT"):
        import nmt  # noqa: F401
    import torch  # before nmt, whose setting then comes too late

    torch.set_num_threads(threads)
    do = {"step": _step, "update": _update, "search": _search}[work](threads)
    do()
    begun = time.perf_counter()
    for _ in range(TIMES[work]):
        do()
    return 1000 * (time.perf_counter() - begun) / TIMES[work]


def _step(threads: int) -> Callable[[], None]:
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
