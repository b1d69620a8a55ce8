"""The door behind `make demo` and its like: run an experiment, or go on with it, and show what came out.

Usage: python workflow/run.py [--cores N] FOLDER [option of snakemake]...
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

RESULTS = (
    "table1.md",
    "significance.md",
    "table2.md",
    "readings.md",
    "alignment_error_rate/*.json",
    "figure2.png",
    "figure3.png",
    "learning_curves.png",
    "data.png",
)
PASSES = 2
"""Snakemake does not look at a model's settings while the text that it reads is being made again (its inputs
are `ancient`); a second look finds a model that both changes made outdated, and costs seconds otherwise."""


def main() -> int:
    """Run the experiment; the exit code is Snakemake's."""
    arguments, options = _arguments()
    folder: Path = arguments.folder
    if not folder.is_dir():
        return _refuse(f"{folder}: no such folder: expected an experiment, such as experiments/demo")
    with _alone_in(folder) as lock:
        if lock is None:
            return _refuse(f"{folder}: another run is at work here: wait for it, or end it")
        command = _snakemake(folder, arguments.cores, options)
        if any((folder / ".snakemake" / "locks").glob("*")):
            # We hold the folder, so the lock that Snakemake left is that of a run that was killed.
            _run([*_snakemake(folder, arguments.cores, ["--unlock"]), *options], lock)
        code = 0
        for _ in range(PASSES if _complete(options) else 1):
            code = code or _run(command, lock)
    if code == 0 and _complete(options):
        _show(folder)
    return code


def _refuse(problem: str) -> int:
    print(f"error: {problem}", file=sys.stderr)
    return 2


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description="Run an experiment; other options go to snakemake.")
    parser.add_argument("folder", type=Path, help="the experiment, such as experiments/demo; . is the paper")
    parser.add_argument("--cores", default="all", help="cores to use (all)")
    return parser.parse_known_args()


def _complete(options: Sequence[str]) -> bool:
    """Whether the call is a plain run to the end, not a dry-run or the like."""
    return not {"-n", "--dry-run", "--dryrun", "--lint", "--report", "--unlock"} & set(options)


@contextmanager
def _alone_in(folder: Path) -> Iterator[int | None]:
    """Hold the folder; yields the lock's descriptor, or None where another run holds it.

    The descriptor is handed on to Snakemake, so that the folder stays held as long as either of both lives.
    """
    (folder / ".snakemake").mkdir(exist_ok=True)
    descriptor = os.open(folder / ".snakemake" / "door.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    except BlockingIOError:
        yield None
    finally:
        os.close(descriptor)


def _snakemake(folder: Path, cores: str, options: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder), "--cores", cores, "--rerun-incomplete"]
    command += ["--quiet", "host", "reason", "rules"]
    # Every job computes on the first GPU that it sees: one job at a time. Without a GPU, cores are the only limit.
    command += ["--resources", "gpu=1"] if _has_gpu() else []
    return [*command, *options]


def _has_gpu() -> bool:
    """Whether this machine has a GPU that the environment does not hide."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return False
    if not shutil.which("nvidia-smi"):
        return False
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return listing.returncode == 0 and "GPU " in listing.stdout


def _run(command: Sequence[str], lock: int) -> int:
    """Run a command to its end; a signal to end is handed on, and Snakemake then ends in good order."""
    with subprocess.Popen(command, pass_fds=(lock,)) as process:

        def hand_on(number: int, frame: FrameType | None) -> None:
            if number != signal.SIGINT:  # the terminal itself sends that one to both
                process.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, hand_on)
        return process.wait()


def _show(folder: Path) -> None:
    from nmt.tables import show

    show([path for pattern in RESULTS for path in sorted((folder / "results").glob(pattern))])


if __name__ == "__main__":
    sys.exit(main())
