"""How a subcommand behaves in a pipeline of the shell and on a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError
from nmt.io.messages import print_warning
from nmt.settings.base import shorten

if TYPE_CHECKING:
    from nmt.data.vocabulary import Vocabulary
    from nmt.io.text_files import LineStream

READ_AHEAD = 500
"""Lines of input that are read together, so that lines of similar length share a batch."""
MAX_WORDS_IN_WARNING = 5
"""Unknown words that a warning names."""


@contextmanager
def exit_quietly_on_signals() -> Iterator[None]:
    """End the process without a message after Ctrl-C, or if the reader closes the pipe (`| head -1`), as `cat` does.

    After Ctrl-C, incomplete output files are removed first.
    """
    previous_handler = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        yield
    except KeyboardInterrupt:
        # The signal itself ends the process, so that the shell sees that the user has stopped it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGPIPE, previous_handler)


@contextmanager
def open_output(output: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """Yield a function that writes lines to a file or, if `output` is None, to standard output.

    A regular file appears when it is complete. Standard output, a named pipe or a device gets the lines of each call
    immediately.
    """
    from nmt.io.files import is_replaceable
    from nmt.io.text_files import LineWriter, write_lines

    if output is None and sys.stdout is None:
        raise UserError("standard output: closed; name a file with --output")
    is_stream = output is None or not is_replaceable(output)
    lines = (
        write_lines(output) if output else nullcontext(LineWriter(Path("standard output"), sys.stdout.buffer))
    )
    with lines as file:

        def write(texts: Iterable[str]) -> None:
            for text in texts:
                for line in text.split("\n"):  # an n-best list has several lines
                    file.write(line)
            if is_stream:
                file.flush()

        yield write


@contextmanager
def show_progress(
    name: str, stream: LineStream, input: Path, output: Path | None
) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds a number of finished lines to the progress bar.

    No progress bar is shown if the terminal also shows typed input or the output. The bar counts bytes if the size of
    the input is known, otherwise lines.
    """
    from nmt.io.progress import Progress

    output_is_shown = output is None and sys.stdout.isatty()
    has_terminal = bool(sys.stderr and sys.stderr.isatty())
    if is_typed(input) or output_is_shown or not has_terminal:
        yield lambda line_count: None
    elif stream.size is None:
        with Progress(None, "lines", name) as progress:
            yield progress.update
    else:
        with Progress(stream.size, "bytes", name) as progress:
            yield lambda line_count: progress.update(stream.bytes_done - progress.count)


def is_typed(input: Path) -> bool:
    """Return whether a person types the input, and waits for the answer to each line."""
    return str(input) == "-" and bool(sys.stdin and sys.stdin.isatty())


def warn_of_split_lines(first_line: int, piece_counts: Sequence[int], max_words: int) -> None:
    """Warn of lines that were translated in several pieces because of their length.

    Args:
        first_line: number of the first line, from 0.
        piece_counts: number of pieces of each line.
        max_words: maximum number of words in a piece.
    """
    for line_number, piece_count in enumerate(piece_counts, start=first_line + 1):
        if piece_count > 1:
            print_warning(
                f"line {line_number}: more than {max_words} words, translated in {piece_count} pieces (--max-words)"
            )


def warn_of_invalid_utf8(stream: LineStream) -> None:
    """Print a warning if lines of the input were not UTF-8."""
    if stream.invalid_line_count:
        print_warning(
            f"{stream.name}: {stream.invalid_line_count} lines are not UTF-8, first line "
            f"{stream.first_invalid_line}; invalid bytes were read as U+FFFD"
        )


class UnknownWords:
    """Counts the words of one side (source or target) that a model does not know, and warns of them."""

    def __init__(self, vocabulary: Vocabulary, side: str) -> None:
        self._vocabulary = vocabulary
        self._side = side
        self._word_count = self._unknown_count = 0
        self._examples: list[str] = []

    def count(self, sentences: Iterable[Sequence[str]]) -> None:
        """Count the words of tokenized sentences."""
        for tokens in sentences:
            unknown_words = [token for token in tokens if token not in self._vocabulary]
            self._word_count += len(tokens)
            self._unknown_count += len(unknown_words)
            different_words = dict.fromkeys([*self._examples, *unknown_words])
            self._examples = list(different_words)[:MAX_WORDS_IN_WARNING]

    def warn(self) -> None:
        """Print how many words since the last call are unknown, if any are, and the first of these."""
        if self._unknown_count:
            subject = f"{self._unknown_count:,} of {self._word_count:,} {self._side} words"
            examples = ", ".join(map(shorten, self._examples))
            print_warning(f"{subject} unknown to the model, which reads [UNK], such as {examples}")
        self._word_count = self._unknown_count = 0
        self._examples = []
