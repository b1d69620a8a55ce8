"""How a verb behaves between pipes and on a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nmt.line_stream import LineStream
    from nmt.progress import Progress


@contextmanager
def like_unix_tools() -> Iterator[None]:
    """A closed pipe (`| head -1`) and Ctrl-C end the process without a word, as they end `cat`.

    Files that were being written go away first.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def writer(output: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """A function that writes lines to standard output, at once, or to a file that appears when all is done."""
    from nmt.text import write_lines

    if output is None:
        yield _write_out
        return
    with write_lines(output) as file:

        def write(rows: Iterable[str]) -> None:
            for row in rows:
                for line in row.split("\n"):
                    file.write(line)

        yield write


def _write_out(rows: Iterable[str]) -> None:
    for row in rows:
        sys.stdout.buffer.write(row.encode() + b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def progress_over(input: Path, output: Path | None) -> Iterator[Progress | Silence]:
    """A count of lines on a terminal that shows neither what is typed nor the translations; elsewhere nothing."""
    from nmt.progress import Progress

    typed = str(input) == "-" and sys.stdin.isatty()
    mixed = output is None and sys.stdout.isatty()
    if typed or mixed or not sys.stderr.isatty():
        yield Silence()
        return
    with Progress(None, "lines", "translate" if output is None else str(output)) as progress:
        yield progress


class Silence:
    """Progress that nobody sees."""

    def update(self, n: int = 1) -> None:
        """Count nothing."""


def warn_of_pieces(first: int, pieces: Sequence[int], max_words: int) -> None:
    """Say which lines were too long to be translated whole."""
    for line, count in enumerate(pieces, start=first + 1):
        if count > 1:
            warn(f"line {line}: more than {max_words} words, translated in {count} pieces (--max-words)")


def warn_of_replaced(lines: LineStream) -> None:
    """Say how many lines were no UTF-8."""
    if lines.replaced:
        more = f" and {lines.replaced - 1} more" if lines.replaced > 1 else ""
        warn(f"{lines.name}, line {lines.first_replaced}{more}: not UTF-8; such bytes were read as U+FFFD")


def warn(message: str) -> None:
    """One line on standard error."""
    click.echo(f"nmt: warning: {message}", err=True)
