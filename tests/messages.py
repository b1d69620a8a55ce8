"""What is said to a person where something cannot be done: in words of the project's own, and no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nmt.errors import UserError


def check(text: object) -> None:
    """Something is said, and it is no traceback."""
    assert str(text) and "Traceback" not in str(text)


@contextmanager
def refused() -> Iterator[pytest.ExceptionInfo[Any]]:
    """The block ends in a UserError."""
    with pytest.raises(UserError) as error:
        yield error
    check(error.value)
