"""The one exception that speaks to the user."""

import re

_LONGEST = 2000
_ACTED_ON = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal would act on instead of showing it, and halves of surrogate pairs, which it cannot be sent."""


def printable(text: str) -> str:
    """Text from elsewhere as it may be sent to a terminal: control characters as escapes, and not too long."""
    shown = _ACTED_ON.sub(lambda found: ascii(found[0])[1:-1], text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}..."


class UserError(Exception):
    """Bad input, said in one line: which file, key or line, what was found, what was expected, what to do.

    The command line prints the message without a traceback and exits with code 2. Each of several problems
    is an argument and has a line.
    """

    def __str__(self) -> str:
        return "\n".join(printable(str(problem)).replace("\n", "\\n") for problem in self.args)


def of_system(error: OSError) -> UserError:
    """What the system refused, and for which file."""
    where = f": {error.filename}" if error.filename else ""
    return UserError(f"{error.strerror or error}{where}")


class RecurringError(UserError):
    """An error that the same call would meet again: a cluster need not try (slurm/bin/sbatch looks for these words)."""

    def __str__(self) -> str:
        return f"{super().__str__()}; tried again, it would end the same"
