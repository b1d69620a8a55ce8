"""A contest: contenders, each a process, take turns, so that a busy moment of the machine slows all of them.

Below it is what all benchmarks share: options, the machine in words, and results with a line per measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabulate import tabulate

from benchmarks.environment import peer_of

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
RESULTS = FOLDER / "results"
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
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stdin):
            if stream is not None:
                with suppress(BrokenPipeError):  # the process ended before it read everything
                    stream.close()


class Program(Remote):
    """A contender that is a program of its own, with its files in a folder."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name, self.python, self.threads = name, Path(python).absolute(), threads
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}."))

    def start(self, command: Sequence[object], environment: dict[str, str], **streams: Any) -> None:
        """Start the program in its folder."""
        words = [str(word) for word in command]
        self.process = subprocess.Popen(
            words, cwd=self.folder, env=os.environ | environment, text=True, **streams
        )

    def close(self) -> None:
        """End the process, if there is one, and remove its files."""
        if hasattr(self, "process"):
            super().close()
        shutil.rmtree(self.folder)


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


def make_parser(module: str, description: str | None, whole: Mapping[str, int]) -> argparse.ArgumentParser:
    """Return a parser for the options of `python -m MODULE`, those with whole numbers and their defaults in `whole`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, value in whole.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"({value})")
    parser.add_argument("--busy", action="store_true", help="beside another process on each core")
    parser.add_argument("--output", type=Path, help="file to which the measurements are added")
    parser.add_argument(
        "--environments",
        type=Path,
        default=FOLDER,
        help="where the peers' environments are made (%(default)s)",
    )
    parser.add_argument("--pip-options", default="", help="for making them, as one argument")
    return parser


def append(path: Path, measurements: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> None:
    """Add a line of JSON for each measurement, with the facts that all of them share."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({**one, **about}) + "\n" for one in measurements)


def machine(is_busy: bool) -> dict[str, Any]:
    """Return the machine in words, its load, and the versions of the code and of torch."""
    # not above: contenders would inherit what nmt sets for torch's threads
    from nmt.io.system import cpu_model, describe_code, format_version

    return {
        "busy": is_busy,
        "processor": cpu_model(),
        "torch": version("torch"),
        "code": format_version(describe_code()),
        "load_before": round(os.getloadavg()[0], 2),
    }


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
