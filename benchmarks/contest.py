"""A contest: contenders, each a process, take turns, so that a busy moment of the machine slows all of them.

The functions below the classes are for all benchmarks: options, the machine in words, and results, a line each.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
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

from benchmarks.environment import find_peer

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
RESULTS = FOLDER / "results"
REFERENCE = "rnnsearch"
"""The contender to which the others are compared."""
ENVIRONMENT = dict(os.environ)
"""Variables of the contenders' processes. They are read here, before a benchmark imports nmt, which sets variables that
make torch's threads faster: a peer must not have them."""


class ContenderFailed(Exception):
    """The process of a contender ended, or the machine lacks something that it needs; the message says why."""


class Contender:
    """Runs one contender in a process, and sends it requests; see `benchmarks.worker`."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name = name
        # The project's own contenders import nmt first, since torch reads variables that nmt sets when it is imported.
        first_import = "" if find_peer(name) else "import nmt; "
        program = f"{first_import}from benchmarks.worker import main; main()"
        self.process = subprocess.Popen(
            [python, "-c", program, name],
            cwd=ROOT,
            env=ENVIRONMENT | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request, and return the reply. Raises ContenderFailed if the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:  # the end of its output
            raise ContenderFailed(f"{self.name}: its process ended with code {self.process.wait()}")
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


class ToolkitContender(Contender):
    """A contender that is a program of its own, with its files in a folder."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name = name
        self.python = Path(python).absolute()
        self.threads = threads
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}."))

    def start_program(self, command: Sequence[object], variables: dict[str, str], **streams: Any) -> None:
        """Start the program in its folder."""
        words = [str(word) for word in command]
        self.process = subprocess.Popen(
            words, cwd=self.folder, env=ENVIRONMENT | variables, text=True, **streams
        )

    def close(self) -> None:
        """End the process, if there is one, and remove its files."""
        if hasattr(self, "process"):
            super().close()
        shutil.rmtree(self.folder)


class Contest:
    """Asks contenders in turn. A contender that fails is not asked again, and `missing_reasons` has the reason."""

    def __init__(self, contenders: Mapping[str, Contender], missing_reasons: dict[str, str]) -> None:
        self.contenders = contenders
        self.missing_reasons = missing_reasons

    def ask_all(self, **request: Any) -> dict[str, dict[str, Any]]:
        """Return the reply of each contender that has not failed."""
        replies = {}
        for name, contender in self.contenders.items():
            if name in self.missing_reasons:
                continue
            try:
                replies[name] = contender.ask(**request)
            except ContenderFailed as error:
                self.missing_reasons[name] = str(error)
                print_progress(str(error))
        return replies

    def summarize_rounds(
        self, rounds: Sequence[Mapping[str, float]], **shared_fields: Any
    ) -> list[dict[str, Any]]:
        """Return the measurement of each contender that has not failed.

        Args:
            rounds: the seconds of each contender, by name, in each round.
            shared_fields: what is the same for all contenders, such as the beam size.
        """
        replies = self.ask_all(do="memory")
        medians = {name: statistics.median(seconds[name] for seconds in rounds) for name in replies}
        measurements = []
        for name, median in medians.items():
            measurement = {
                "contender": name,
                **shared_fields,
                "seconds": median,
                "ratio": median / medians[REFERENCE] if REFERENCE in medians else None,
                "peak_bytes": replies[name]["peak_bytes"],
                "seconds_of_rounds": [seconds[name] for seconds in rounds],
            }
            measurements.append(measurement)
        return measurements

    def close(self) -> None:
        """End all processes."""
        for contender in self.contenders.values():
            contender.close()


def print_table(
    measurements: Sequence[Mapping[str, Any]], missing_reasons: Mapping[str, str], size_name: str
) -> None:
    """Print a table of measurements at several sizes ("beam" or "length"), and why contenders are missing."""
    rows = []
    for measurement in measurements:
        ratio = measurement["ratio"] or 0
        peak_gigabytes = (measurement["peak_bytes"] or 0) / 1e9
        numbers = [f"{measurement['seconds']:.3g}", f"{ratio:.2f}", f"{peak_gigabytes:.2f}"]
        rows.append([measurement["contender"], measurement[size_name], *numbers])
    headers = ["", size_name, "seconds", "ratio", "peak GB"]
    print(tabulate(rows, headers, tablefmt="pipe", disable_numparse=True))
    for name, reason in missing_reasons.items():
        print(f"Without {name}: {reason}")


def print_progress(line: str) -> None:
    """Print a line about the contest's progress on standard error, since standard output has the table."""
    print(line, file=sys.stderr, flush=True)


def make_parser(
    name: str, description: str | None, default_numbers: Mapping[str, int]
) -> argparse.ArgumentParser:
    """Return a parser for `python -m benchmarks.NAME`, with options for these whole numbers and their defaults."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for option, number in default_numbers.items():
        parser.add_argument(f"--{option}", type=int, default=number, metavar="N", help=f"({number})")
    parser.add_argument("--busy", action="store_true", help="beside another process on each core")
    parser.add_argument(
        "--output",
        type=Path,
        default=RESULTS / f"{name}.jsonl",
        help="file to which the measurements are added",
    )
    parser.add_argument(
        "--environments",
        type=Path,
        default=FOLDER,
        help="where the peers' environments are made (%(default)s)",
    )
    parser.add_argument(
        "--pip-options", type=shlex.split, default=[], help="for making them, as one argument"
    )
    return parser


def append_measurements(
    path: Path, measurements: Iterable[Mapping[str, Any]], shared_fields: Mapping[str, Any]
) -> None:
    """Add a line of JSON for each measurement, each with the shared fields."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for measurement in measurements:
            file.write(json.dumps({**measurement, **shared_fields}) + "\n")


def describe_machine(is_busy: bool) -> dict[str, Any]:
    """Return the machine in words, its load, and the versions of the code and of torch."""
    # imported here, since nmt sets variables that ENVIRONMENT must not have
    from nmt.io.system import cpu_model, describe_code, format_version

    return {
        "busy": is_busy,
        "processor": cpu_model(),
        "torch": version("torch"),
        "code": format_version(describe_code()),
        "load_before": round(os.getloadavg()[0], 2),
    }


@contextmanager
def keep_cores_busy(is_busy: bool) -> Iterator[None]:
    """Keep all cores busy inside a `with` block if `is_busy`; otherwise do nothing."""
    # a program for each core, whose loop also ends if this process is killed
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    process_count = (os.cpu_count() or 1) if is_busy else 0
    processes = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(process_count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
