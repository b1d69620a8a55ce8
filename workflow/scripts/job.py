"""What the scripts of rules share: a script imports this module first, which finds the project's packages."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from nmt.cli import describe_error, exit_with_error  # found by the line above
from nmt.io import progress

PATIENCE = 10.0
"""Seconds that a program which outlives the job may keep its log open."""


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Write what the block says to the job's log, beside the terminal; an error of input or system is one line."""
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    os.environ[progress.LOG_VARIABLE] = shlex.quote(str(log))
    progress.clear_progress()
    with _logged(log):
        try:
            yield
        except Exception as error:
            line = describe_error(error)
            if line is None:
                raise
            exit_with_error(line)


def by_corpus(*sides: Iterable[str]) -> dict[str, list[tuple[Path, ...]]]:
    """Return the shards of text in files CORPUS/NUMBER.LANGUAGE.zst, each with its sides, by corpus.

    A text in files of another name is the one shard of a corpus without a name.
    """
    found: dict[str, list[tuple[Path, ...]]] = {}
    for files in zip(*sides, strict=True):
        shard = tuple(map(Path, files))
        number = shard[0].name.partition(".")[0]
        found.setdefault(shard[0].parent.name if number.isdigit() else "", []).append(shard)
    return found


def over_shards(
    function: Callable[[Any], Any], shards: Iterable[tuple[Any, ...]], processes: int
) -> Iterator[Any]:
    """Yield what a function returns for each shard, given as a tuple of its files, in their order.

    So many processes work on a shard each. They are forked, since others would run the job's script anew.
    """
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        yield from pool.map(function, shards)


@contextmanager
def _logged(log: Path) -> Iterator[None]:
    """Pass standard output and error, those of programs too, on to the log and to standard output."""
    with subprocess.Popen(["tee", "-i", log], stdin=subprocess.PIPE) as tee:
        assert tee.stdin
        before = [os.dup(stream) for stream in (1, 2)]
        for stream in (1, 2):
            os.dup2(tee.stdin.fileno(), stream)
        tee.stdin.close()
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, original in zip((1, 2), before, strict=True):
                os.dup2(original, stream)
                os.close(original)
            with suppress(subprocess.TimeoutExpired):
                tee.wait(PATIENCE)
            tee.terminate()
