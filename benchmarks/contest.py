"""A contest: contenders, each a process, take turns, so that a busy moment of the machine slows all of them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from tabulate import tabulate

from benchmarks.environment import peer_of
from benchmarks.findings import ROOT

OURS = "rnnsearch"
"""The contender to which the others are compared."""


class Failed(Exception):
    """The process of a contender ended, or the machine does not serve it; the message says why."""


class Remote:
    """Runs one contender in a process, and sends it requests; see `benchmarks.worker`."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name = name
        # the project's own processes import nmt before torch
        program = "" if peer_of(name) else "import nmt; "
        program += "from benchmarks.worker import main; main()"
        self.process = subprocess.Popen(
            [python, "-c", program, name],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request, and return the reply. Raises Failed if the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed(f"{self.name}: its process ended with code {self.process.wait()}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        with suppress(BrokenPipeError):  # the process ended before it read everything
            self.process.stdin.close()


class Contest:
    """Asks contenders in turn. One that fails is left out from then on, and `missing` has the reason."""

    def __init__(self, remotes: Mapping[str, Remote], missing: dict[str, str]) -> None:
        self.remotes, self.missing = remotes, missing

    def ask(self, **request: Any) -> dict[str, dict[str, Any]]:
        """Return the reply of each contender that has not failed."""
        replies = {}
        for name, remote in self.remotes.items():
            if name not in self.missing:
                try:
                    replies[name] = remote.ask(**request)
                except Failed as error:
                    self.missing[name] = str(error)
                    say(str(error))
        return replies

    def measurements(self, rounds: Sequence[Mapping[str, float]], **about: Any) -> list[dict[str, Any]]:
        """Return a record for each contender, from the seconds of each contender in each round."""
        memory = self.ask(do="memory")
        medians = {name: statistics.median(turn[name] for turn in rounds) for name in memory}
        return [
            {
                "contender": name,
                **about,
                "seconds": median,
                "ratio": median / medians[OURS] if OURS in medians else None,
                "peak_bytes": memory[name]["peak_bytes"],
                "seconds_of_rounds": [turn[name] for turn in rounds],
            }
            for name, median in medians.items()
        ]

    def close(self) -> None:
        """End all processes."""
        for remote in self.remotes.values():
            remote.close()


def report(found: Sequence[Mapping[str, Any]], missing: Mapping[str, str], size: str) -> None:
    """Print a table of measurements, in which `size` names the column that tells them apart, and what is missing."""
    rows = []
    for one in found:
        ratio, peak = one["ratio"] or 0, (one["peak_bytes"] or 0) / 1e9
        rows.append([one["contender"], one[size], f"{one['seconds']:.3g}", f"{ratio:.2f}", f"{peak:.2f}"])
    headers = ["", size, "seconds", "ratio", "peak GB"]
    print(tabulate(rows, headers, tablefmt="pipe", disable_numparse=True))
    for name, reason in missing.items():
        print(f"Without {name}: {reason}")


def say(line: str) -> None:
    """Print a line about the contest's progress on standard error, since standard output has the table."""
    print(line, file=sys.stderr, flush=True)
