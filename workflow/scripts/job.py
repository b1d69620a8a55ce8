"""Functions that the scripts of rules share. A script imports this module first, which finds the project's packages."""

import os
import shlex
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from nmt.cli import describe_error, exit_with_error  # found by the line above
from nmt.io import progress

ShardsByCorpus = dict[str, list[tuple[Path, ...]]]
"""The shards of each corpus: for each shard the files of its sides."""
LOG_WAIT_SECONDS = 10.0
"""How long the job waits at its end for programs that still write to its log."""


@contextmanager
def job(snakemake: Any) -> Iterator[tuple[SimpleNamespace, SimpleNamespace]]:
    """Write what the `with` block prints to the job's log and to the terminal.

    The block gets the named inputs and outputs of the rule as paths. Errors of input or system are printed in one line,
    without a traceback.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    # The shell commands of other rules quote the value of this variable, so it is quoted here, too.
    os.environ[progress.LOG_VARIABLE] = shlex.quote(str(log))
    progress.clear_progress()
    with _copy_output_to(log):
        try:
            yield _read_paths(snakemake.input), _read_paths(snakemake.output)
        except Exception as error:
            message = describe_error(error)
            if message is None:  # a bug, which needs its traceback
                traceback.print_exc()
                sys.exit(1)
            exit_with_error(message)


def _read_paths(files: Any) -> SimpleNamespace:
    """Return the named files of a rule, each as a path, or as a list of paths if the rule has a list."""
    paths: dict[str, Path | list[Path]] = {}
    for name, file in files.items():
        paths[name] = Path(file) if isinstance(file, str) else [Path(path) for path in file]
    return SimpleNamespace(**paths)


def group_by_corpus(*sides: Iterable[Path]) -> ShardsByCorpus:
    """Return the shards of text by corpus.

    sides: the files of each side, named CORPUS/NUMBER.LANGUAGE.zst. Files with other names belong to the corpus "".
    """
    corpora: ShardsByCorpus = {}
    for shard in zip(*sides, strict=True):
        number = shard[0].name.partition(".")[0]
        corpus = shard[0].parent.name if number.isdigit() else ""
        corpora.setdefault(corpus, []).append(shard)
    return corpora


def list_shards(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the shards of each corpus, which have one file each."""
    return {corpus: [file for (file,) in shards] for corpus, shards in group_by_corpus(files).items()}


def map_shards(
    function: Callable[[Any], Any], shards: Iterable[tuple[Any, ...]], processes: int
) -> Iterator[Any]:
    """Yield the result of a function for each shard, in the order of the shards. Each process works on one shard.

    shards: tuples of files, the function's arguments.
    """
    # forked, since other new processes would first run the job's script again
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        yield from pool.map(function, shards)


@contextmanager
def _copy_output_to(log: Path) -> Iterator[None]:
    """Pass standard output and error, also those of programs, to the log and to standard output."""
    with subprocess.Popen(["tee", "-i", log], stdin=subprocess.PIPE) as tee:
        assert tee.stdin
        # replace descriptors 1 and 2, standard output and error, and keep copies of them
        copies = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
        for descriptor in copies:
            os.dup2(tee.stdin.fileno(), descriptor)
        tee.stdin.close()
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor, copy in copies.items():
                os.dup2(copy, descriptor)
                os.close(copy)
            # tee ends with the last program that writes to it
            with suppress(subprocess.TimeoutExpired):
                tee.wait(LOG_WAIT_SECONDS)
            tee.terminate()
