"""The messages that tests expect, in one file: tests/messages.yaml.

A test says `with refused():` where it expects a message. The file has the message itself. After a change of wording,
`make test OPTIONS=--renew-messages` writes the messages of the tests that ran, and `git diff` shows what users will
read differently.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from nmt.errors import UserError
from tests.running import ROOT

FILE = ROOT / "tests" / "messages.yaml"


class _Dumper(yaml.SafeDumper):
    """Writes a message of several lines as it is."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)

Recorded = dict[str, list[str]]

expected: Recorded | None = None
"""Messages of each test in their order; None while they are written anew."""
met: Recorded = {}

_CHANGES = (
    (r"[^\s'\":(]*/pytest-\d+/(popen-gw\d+/)?[^/\s'\":,;)]+", "TMP"),
    (re.escape(str(ROOT)), "ROOT"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"[\d,]+ bytes free", "N bytes free"),
    (r"process \d+ on [\w.-]+", "process N on HOST"),
    (r"torch \d+\.\d+\.\d+(\+\w+)?", "torch VERSION"),
    (r"its md5 is \w+", "its md5 is SUM"),
)


def recorded() -> Recorded:
    """The messages in the file."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def renew() -> None:
    """Write those that were met, beside those of other tests that there still are."""
    ran = {test.partition("[")[0] for test in met}
    for test, said in recorded().items():
        function = test.partition("[")[0]
        file, _, name = function.partition("::")
        path = ROOT / file
        if function not in ran and path.exists() and f"def {name}(" in path.read_text(encoding="utf-8"):
            met[test] = said
    FILE.write_text(yaml.dump(met, Dumper=_Dumper, allow_unicode=True, width=10**6), encoding="utf-8")


def check(text: object) -> None:
    """Compare a message with the next one of this test."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    said = str(text)
    for pattern, name in _CHANGES:
        said = re.sub(pattern, name, said)
    number = len(met.setdefault(test, []))
    met[test].append(said)
    if expected is not None:
        wanted = expected.get(test, [])[number : number + 1]
        assert [said] == wanted, f"found {said!r}, tests/messages.yaml has {wanted}: see tests/messages.py"


@contextmanager
def refused() -> Iterator[pytest.ExceptionInfo[Any]]:
    """The block ends in a UserError with the message that is recorded."""
    with pytest.raises(UserError) as error:
        yield error
    check(error.value)
