"""The recipes and rules call subcommands that exist."""

import re

from tests.running import ROOT, list_subcommands

CALLERS = [
    *ROOT.glob("container/*"),
    *ROOT.glob("workflow/**/*.sh"),
    *ROOT.glob("workflow/rules/*"),
    ROOT / "Makefile",
]
CALL = re.compile(r"""(?:^\s*|["/]|:q\} )nmt ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?""", re.MULTILINE)


def test_called_subcommands_exist():
    found = [call for file in CALLERS for call in CALL.findall(file.read_text(encoding="utf-8"))]
    assert len(found) > 10
    assert not [call for call in found if not {call[0], " ".join(call)} & set(list_subcommands())]
