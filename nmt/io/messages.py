"""Messages to a person on standard error: errors and warnings, on a terminal in color and wrapped at its width."""

import os
import shutil
import sys
import textwrap
from typing import TextIO

from nmt.errors import printable

COLORS = {"red": "31", "yellow": "33"}
ERROR_START, WARNING_START = "error: ", "warning: "


def print_error(message: str) -> None:
    """Print an error. Each line of the message is a problem."""
    _print_lines(ERROR_START, "red", message)


def print_warning(message: str) -> None:
    """Print a warning."""
    _print_lines(WARNING_START, "yellow", message)


def _print_lines(start: str, color: str, message: str) -> None:
    """Print the lines of a message, each after `start` ("error: "), which alone is in color."""
    stream = sys.stderr
    if stream is None:  # it is closed
        return
    for line in message.split("\n"):
        text = wrap_text(start + printable(line), stream)
        print(set_color(color, start, stream) + text[len(start) :], file=stream, flush=True)


def set_color(color: str, text: str, stream: TextIO) -> str:
    """Return a text in a color if it is printed on a terminal, unless the variable NO_COLOR is set (no-color.org)."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{COLORS[color]}m{text}\033[0m"


def wrap_text(text: str, stream: TextIO, indent: int = 0) -> str:
    """Return a line as lines that fit on a terminal. Words, such as the name of a file, stay whole.

    indent: number of spaces before each line but the first.
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
