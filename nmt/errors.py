"""The exceptions whose messages are written for the user."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST = 2000
_ACTED_ON = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, on which a terminal would act, and halves of surrogate pairs, which cannot be encoded."""


def printable(text: str) -> str:
    """Return text that is safe for a terminal: control characters as escapes, and limited in length."""
    shown = _ACTED_ON.sub(lambda found: ascii(found[0])[1:-1], text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}..."


class UserError(Exception):
    """Bad input, in one line: which file, key or line, what was found, what was expected, what to do.

    The command line prints the message without a traceback and exits with code 2. If there are several problems, each
    is an argument and gets a line.
    """

    def __str__(self) -> str:
        return "\n".join(printable(str(problem)).replace("\n", "\\n") for problem in self.args)


def of_system(error: OSError) -> UserError:
    """Return a UserError that says what the system refused, and for which file."""
    if isinstance(error, FileExistsError):
        return UserError(f"{error.filename}: a file, expected a folder; name another path")
    where = f": {error.filename}" if error.filename else ""
    return UserError(f"{error.strerror or error}{where}")


@contextmanager
def system_errors() -> Iterator[None]:
    """Turn an error of the operating system into a `UserError` of one line."""
    try:
        yield
    except OSError as error:
        raise of_system(error) from None


class RecurringError(UserError):
    """An error that a repeated call would meet again. A cluster need not retry (slurm/bin/sbatch finds these words)."""

    def __str__(self) -> str:
        return f"{super().__str__()}; tried again, it would end the same"
