"""Runs external programs, and reports the relevant part of their output if they fail."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from nmt.errors import UserError

_SHOWN = 300
"""Maximum number of characters of a program's output in an error message."""


def call(command: Sequence[str], folder: Path | None = None) -> tuple[int, str]:
    """Run a program, and return its exit status and its output."""
    result = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return result.returncode, result.stdout


def run(command: Sequence[str], problem: str, folder: Path | None = None) -> None:
    """Run a program to its end.

    Raises:
        UserError: it failed. The message is `problem`, and the first line of its output with an error.
    """
    code, said = call(command, folder)
    if code:
        raise UserError(f"{problem}: {_first_error(said)}")


def run_logged(
    command: Sequence[str],
    log: Path,
    problem: str,
    folder: Path,
    environment: Mapping[str, str] = {},
    source: Path | None = None,
    output: Path | None = None,
    keep_open: Sequence[int] = (),
) -> None:
    """Run a program with much output, which goes into a log.

    Args:
        command: the program and its arguments.
        log: file to which its messages are added.
        problem: message for a failure.
        folder: its working directory.
        environment: variables besides those of this process.
        source: file for its standard input.
        output: file for its standard output; None: the log.
        keep_open: descriptors that the program inherits, such as a lock to be held until it has ended.

    Raises:
        UserError: it failed. The message contains its last line and the log's name.
    """
    with (
        log.open("ab") as messages,
        Path(source or os.devnull).open("rb") as given,
        Path(output or os.devnull).open("wb") as taken,
    ):
        start = messages.tell()
        code = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=given,
            stdout=taken if output else messages,
            stderr=messages,
            pass_fds=keep_open,
            check=False,
        ).returncode
    if code:
        with log.open("rb") as messages:
            messages.seek(start)
            said = messages.read().decode(errors="replace")
        raise UserError(
            f"{problem}: {Path(command[0]).name} ended with code {code}: {last_line(said)} (see {log})"
        )


def _first_error(said: str) -> str:
    # as a word: a compiler names files such as error_code.hpp before it says what is wrong; a linker says "cannot find"
    said_so = r"\berrors?\b|\bld: cannot find\b|undefined reference"
    errors = [line.strip() for line in said.split("\n") if re.search(said_so, line, re.IGNORECASE)]
    return (errors or [last_line(said)])[0][-_SHOWN:]


def last_line(said: str) -> str:
    """Return the last line of a program's output that is not empty, shortened."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    return (lines or ["it said nothing"])[-1][-_SHOWN:]
