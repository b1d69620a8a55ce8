"""The messages that people meet most, in one file: tests/messages.yaml.

A test says `with refused():` where it expects a message. Where the file has the message of that test, it must be the
same; of other tests any message will do.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from nmt.errors import UserError
from tests.running import ROOT

RECORDED: dict[str, list[str]] = yaml.safe_load(
    (ROOT / "tests" / "messages.yaml").read_text(encoding="utf-8")
)
"""Messages of each test in their order."""
_met: Counter[str] = Counter()

_CHANGES = (
    (r"Using workflow specific profile .*\n", ""),
    (r"[^\s'\":(]*/pytest-\d+/(popen-gw\d+/)?[^/\s'\":,;)]+", "TMP"),
    (re.escape(str(ROOT)), "ROOT"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"[\d,]+ bytes free", "N bytes free"),
    (r"process \d+ on [\w.-]+", "process N on HOST"),
    (r"torch \d+\.\d+\.\d+(\+\w+)?", "torch VERSION"),
)


def check(text: object) -> None:
    """Compare a message with the next one of this test, if the file has this test."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    said = str(text)
    assert said and "Traceback" not in said
    if test not in RECORDED:
        return
    for pattern, name in _CHANGES:
        said = re.sub(pattern, name, said)
    wanted = RECORDED[test][_met[test]]
    _met[test] += 1
    assert said == wanted, "tests/messages.yaml has another message"


@contextmanager
def refused() -> Iterator[pytest.ExceptionInfo[Any]]:
    """The block ends in a UserError with the message that is recorded."""
    with pytest.raises(UserError) as error:
        yield error
    check(error.value)
