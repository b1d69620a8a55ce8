"""Exceptions whose messages are written for the user, and their messages for errors of the system and of readers."""

from __future__ import annotations

import errno
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MAX_CHARACTERS = 2000
_UNSAFE_CHARACTER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Line ends and other control characters, on which a terminal would act, and halves of surrogate pairs, which cannot be
encoded. The tab is none of them."""


def printable(text: str) -> str:
    """Return text as one line that is safe for a terminal: control characters as escapes, and limited in length."""
    # `ascii` returns the escape of a character in quotes, which are cut off: "'\\n'" -> "\\n"
    safe_text = _UNSAFE_CHARACTER.sub(lambda match: ascii(match[0])[1:-1], text[:_MAX_CHARACTERS])
    return safe_text if len(text) <= _MAX_CHARACTERS else f"{safe_text}..."


class UserError(Exception):
    """Bad input, in one line: which file, key or line, what was found, what was expected, what to do.

    The command line prints the message without a traceback and exits with code 2. If there are several problems, each
    is an argument and gets a line.
    """

    def __str__(self) -> str:
        return "\n".join(printable(str(problem)) for problem in self.args)


PERMANENT_ERROR_END = "; tried again, it would end the same"


class PermanentError(UserError):
    """An error that would occur again if the job were repeated.

    So a cluster need not repeat the job: workflow/failures.py finds `PERMANENT_ERROR_END` in the job's log.
    """

    def __str__(self) -> str:
        return super().__str__() + PERMANENT_ERROR_END


def convert_os_error(error: OSError, path: str | Path | None = None) -> UserError:
    """Return a UserError that says what the operating system refused, and for which file.

    `path` is the file; by default, it is the one that the error names.
    """
    reason = error.strerror or str(error)
    location = path or error.filename
    return UserError(f"{location}: {reason}" if location else reason)


@contextmanager
def os_errors_as_user_error(path: str | Path | None = None) -> Iterator[None]:
    """Turn an error of the operating system into a `UserError` of one line; see `convert_os_error`."""
    try:
        yield
    except OSError as error:
        raise convert_os_error(error, path) from None


# a disk that is full, a quota that is reached, a file that is too large for the file system
FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
READER_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    EOFError,
    RecursionError,
    zlib.error,
    lzma.LZMAError,
)
"""Errors that readers of Python's library raise for a damaged file."""


@contextmanager
def errors_as_user_error(
    location: str | Path, *further_errors: type[Exception], remedy: str = "make it again"
) -> Iterator[None]:
    """Turn the error of a reader about a damaged file into a `UserError` that begins with `location`.

    Args:
        location: the file, or a place in it.
        further_errors: errors that this reader raises besides `READER_ERRORS`. All others are faults of the program,
            and are not changed.
        remedy: what the user can do.
    """
    try:
        yield
    except (*READER_ERRORS, *further_errors) as error:
        if isinstance(error, OSError) and error.errno is not None:
            # If the disk is full, the fault lies with a file that the block writes, not with the one that it reads.
            # The code that writes reports it.
            if error.errno in FULL_DISK_ERRORS:
                raise
            raise convert_os_error(error, error.filename or location) from None
        first_line = str(error).partition("\n")[0]
        reason = first_line[:200] or type(error).__name__
        raise UserError(f"{location}: damaged ({reason}); {remedy}") from error
