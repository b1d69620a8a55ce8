"""Options of `nmt`'s commands as parts of a shell line, and constraints of wildcards."""

import re
import shlex
from collections.abc import Iterable
from typing import Any


def format_option(name: str, value: object) -> str:
    """Return `--name VALUE`, quoted for the shell. The name of a setting such as batch_size becomes --batch-size."""
    return shlex.join([f"--{name.replace('_', '-')}", str(value)])


def format_options(values: Iterable[tuple[str, Any]]) -> str:
    """Return `--name VALUE` for each value that is not None."""
    return " ".join(format_option(name, value) for name, value in values if value is not None)


def match_any(names: Iterable[str]) -> str:
    """Return a regular expression that matches each of the names; without names it matches nothing."""
    return "|".join(re.escape(name) for name in names) or "(?!)"
