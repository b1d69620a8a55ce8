"""The behaviour of a subcommand in a pipeline and on a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmt.errors import printable

if TYPE_CHECKING:
    from nmt.data.vocabulary import Vocabulary
    from nmt.io.text_files import LineStream

READ_AHEAD = 500
"""Lines of input that are read together, so that lines of similar length share a batch."""
MOST_NAMED = 5
"""Unknown words that a warning names."""


@contextmanager
def like_unix_tools() -> Iterator[None]:
    """Let a closed pipe (`| head -1`) and Ctrl-C end the process without a message, as with `cat`.

    After Ctrl-C, unfinished output files are removed first.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def writer(output: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """Yield a function that writes lines to standard output at once, or to a file that appears when it is complete.

    A named pipe or a device also gets the lines at once.
    """
    from nmt.io.files import is_replaceable
    from nmt.io.text_files import LineWriter, write_lines

    at_once = output is None or not is_replaceable(output)
    standard = nullcontext(LineWriter(Path("standard output"), sys.stdout.buffer))
    with write_lines(output) if output else standard as file:

        def write(rows: Iterable[str]) -> None:
            for row in rows:
                for line in row.split("\n"):
                    file.write(line)
            if at_once:
                file.flush()

        yield write


@contextmanager
def progress_over(
    name: str, lines: LineStream, input: Path, output: Path | None
) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds a number of finished lines to the progress on a terminal.

    No progress is shown if the terminal also shows typed input or the output. Bytes are counted if their total is
    known, otherwise lines.
    """
    from nmt.io.progress import Progress

    mixed = output is None and sys.stdout.isatty()
    if is_typed(input) or mixed or sys.stderr is None or not sys.stderr.isatty():
        yield lambda count: None
        return
    with Progress(lines.size, "lines" if lines.size is None else "bytes", name) as progress:
        yield lambda count: progress.update(
            count if lines.size is None else lines.bytes_done - progress.count
        )


def is_typed(input: Path) -> bool:
    """Return whether somebody types the input, and waits for an answer to each line."""
    return str(input) == "-" and sys.stdin.isatty()


def warn_of_pieces(first: int, pieces: Sequence[int], max_words: int) -> None:
    """Warn of lines that were translated in several pieces because of their length."""
    for line, count in enumerate(pieces, start=first + 1):
        if count > 1:
            warn(f"line {line}: more than {max_words} words, translated in {count} pieces (--max-words)")


def warn_of_replaced(lines: LineStream) -> None:
    """Warn of lines that were not UTF-8."""
    if lines.replaced_lines:
        more = f" and {lines.replaced_lines - 1} more" if lines.replaced_lines > 1 else ""
        warn(
            f"{lines.name}, line {lines.first_replaced_line}{more}: not UTF-8; invalid bytes were read as U+FFFD"
        )


class UnknownWords:
    """Counts the words of one side of a text that the model does not know, and says so in one line."""

    def __init__(self, vocabulary: Vocabulary, side: str) -> None:
        self._vocabulary = vocabulary
        self._side = side
        self._words = 0
        self._unknown: Counter[str] = Counter()

    def add(self, tokens: Sequence[str]) -> None:
        """Count the words of a line."""
        self._words += len(tokens)
        self._unknown.update(token for token in tokens if token not in self._vocabulary)

    def warn(self) -> None:
        """Say how many words were unknown since the last warning, and name the most frequent ones."""
        if unknown := self._unknown.total():
            named = ", ".join(printable(word) for word, _ in self._unknown.most_common(MOST_NAMED))
            more = ", ..." * (len(self._unknown) > MOST_NAMED)
            is_are = "is" if unknown == 1 else "are"
            warn(
                f"{unknown:,} of {self._words:,} {self._side} words {is_are} unknown to the model, which reads [UNK]:"
                f" {named}{more}"
            )
        self._words = 0
        self._unknown.clear()


def warn(message: str) -> None:
    """Print a warning in one line on standard error."""
    click.echo(f"nmt: warning: {message}", err=True)
