"""The page of all settings."""

import subprocess
import sys

from tests.running import ROOT

PROGRAM = "from tools.settings_page import format_page; print(format_page(), end='')"


def test_settings_page_is_up_to_date():
    # in a process of its own, since descriptions are read only by classes that are defined later
    page = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert page.stdout == (ROOT / "docs" / "settings.md").read_text(encoding="utf-8"), "run `make format`"
