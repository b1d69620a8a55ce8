"""The contest: contenders take turns, round after round, so that a busy moment of the machine slows all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.findings import ROOT
from benchmarks.training.environment import peer_of
from benchmarks.training.sizes import Machine, Sizes

SMALL_PAGES = "rnnsearch-small-pages"
"""RNNsearch without the huge pages that nmt asks for."""


class Failed(Exception):
    """The process of a contender ended. Its own message is on standard error."""


class Remote:
    """Runs one contender in a process, and sends it requests."""

    module = "benchmarks.training.worker"

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, *self.program(), name],
            cwd=ROOT,
            env=os.environ
            | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
            | ({"THP_MEM_ALLOC_ENABLE": "0"} if name == SMALL_PAGES else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def program(self) -> list[str]:
        """Return the options that run the worker. The project's own processes import nmt before torch."""
        if peer_of(self.name):
            return ["-m", self.module]
        return ["-c", f"import nmt, runpy; runpy.run_module('{self.module}', run_name='__main__')"]

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


@dataclass
class Measured:
    """Holds what one contender did.

    set_up, memory: its replies to these requests. seconds: seconds per update in each counted round. processors: how
    many it kept busy in each counted round; other processes make it fewer than its threads.
    """

    set_up: dict[str, Any]
    memory: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    processors: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Rules:
    """Says how many rounds do not count (memory is taken, code is compiled), how many do, and the updates of a turn."""

    warm_up: int
    rounds: int
    updates: int


def hold(
    pythons: dict[str, str], sizes: Sizes, machine: Machine, rules: Rules
) -> tuple[dict[str, Measured], dict[str, str]]:
    """Hold the contest at one size.

    Args:
        pythons: the interpreter of each contender, by the contender's name.

    Returns:
        What each contender did, and for those that did not finish, the reason.
    """
    measured: dict[str, Measured] = {}
    failed: dict[str, str] = {}
    with started(pythons, machine) as remotes:

        def turn(name: str, action: Callable[[Remote], None]) -> None:
            if name in failed:
                return
            try:
                action(remotes[name])
            except Failed as error:
                failed[name] = str(error)
                measured.pop(name, None)
                say(str(error))

        def set_up(remote: Remote) -> None:
            request = {"sizes": asdict(sizes), "machine": asdict(machine)}
            measured[remote.name] = Measured(remote.ask(do="set up", **request))

        def update(remote: Remote) -> None:
            reply = remote.ask(do="update", first=number * rules.updates, count=rules.updates)
            if number >= rules.warm_up:
                measured[remote.name].seconds.append(reply["seconds"])
                measured[remote.name].processors.append(reply["processors"])

        def memory(remote: Remote) -> None:
            measured[remote.name].memory = remote.ask(do="memory")

        for name in pythons:
            say(f"length {sizes.length}: setting up {name}")
            turn(name, set_up)
        for number in range(rules.warm_up + rules.rounds):
            say(f"length {sizes.length}: round {number + 1} of {rules.warm_up + rules.rounds}")
            for name in pythons:
                turn(name, update)
        for name in pythons:
            turn(name, memory)
    return measured, failed


@contextmanager
def started(pythons: dict[str, str], machine: Machine) -> Iterator[dict[str, Remote]]:
    """Run the contenders' processes inside a `with` block, and end them after it, also after an error."""
    from benchmarks.training.toolkits import Sockeye  # not above: it imports this module

    remotes: dict[str, Remote] = {}
    try:
        for name, python in pythons.items():
            kind = Sockeye if name == "sockeye" else Remote
            remotes[name] = kind(name, python, machine.threads)
        yield remotes
    finally:
        for remote in remotes.values():
            remote.close()


def say(line: str) -> None:
    """Print a line about the contest's progress on standard error, since standard output has the table."""
    print(line, file=sys.stderr, flush=True)
