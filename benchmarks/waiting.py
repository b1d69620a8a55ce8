"""How torch's threads wait for each other: milliseconds per step of a recurrence, alone and beside other work.

Usage: python -m benchmarks.waiting [--threads N] [--rounds N] [--steps N]

A step is two products and a tanh of a small state, as training and beam search make them by the thousand. Each process
measures one way to wait: OpenMP's own, the one that `import nmt` sets (GOMP_SPINCOUNT=1000), OMP_WAIT_POLICY=PASSIVE.
The ways take turns, in rounds; the other work is a loop on every core. The median of the rounds counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.findings import publish, whole_numbers

RESULT = Path(__file__).parent / "results" / "waiting.json"
WAYS: dict[str, dict[str, str]] = {
    "openmp": {},
    "nmt": {"IMPORT_NMT": "1"},
    "passive": {"OMP_WAIT_POLICY": "PASSIVE"},
}
SENTENCES, UNITS = 80, 256


def main() -> None:
    """Measure each way alone and beside other work; or, as a process of that, one way."""
    options = whole_numbers(__doc__, threads=2, rounds=3, steps=1000, measure=0)
    if options.measure:
        print(milliseconds(options.threads, options.steps))
        return
    taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for machine, others in (("quiet", 0), ("busy", os.cpu_count() or 1)):
        for _ in range(options.rounds):
            for way, settings in WAYS.items():
                with busy(others):
                    taken[machine][way].append(measured(settings, options.threads, options.steps))
    found = {
        machine: {way: round(median(times), 3) for way, times in ways.items()}
        for machine, ways in taken.items()
    }
    publish({"cores": os.cpu_count(), "threads": options.threads, "milliseconds_per_step": found}, RESULT)


def measured(settings: dict[str, str], threads: int, steps: int) -> float:
    """Milliseconds per step in a process with these settings."""
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "IMPORT_NMT"}
    environment = {name: value for name, value in os.environ.items() if name not in named} | settings
    command = [
        sys.executable,
        "-m",
        "benchmarks.waiting",
        "--measure=1",
        f"--threads={threads}",
        f"--steps={steps}",
    ]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Other work: so many loops that never end."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def milliseconds(threads: int, steps: int) -> float:
    """Of one step, in this process."""
    if os.environ.get("IMPORT_NMT"):
        import nmt  # noqa: F401
    import torch

    torch.set_num_threads(threads)
    state, word = torch.zeros(SENTENCES, UNITS), torch.randn(SENTENCES, UNITS)
    from_word, from_state = torch.randn(2, UNITS, UNITS) / UNITS
    begun = time.perf_counter()
    for _ in range(steps):
        state = torch.tanh(word @ from_word + state @ from_state)
    return 1000 * (time.perf_counter() - begun) / steps


if __name__ == "__main__":
    main()
