"""The benchmark of the explorer: its page, and what it times in a browser; no times are asserted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.explorer import EVENTS, browser, measure, write


def test_everything_is_timed_in_a_browser(tmp_path: Path) -> None:
    page = write(tmp_path, sentences=40, models=2)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("needs a browser and its driver (Debian: apt install chromium chromium-driver)")
    with browser() as driver:
        found = measure(driver, page, rounds=1)
        assert list(found) == ["start", *EVENTS] and all(value > 0 for value in found.values())
        driver.execute_script(EVENTS["filter"][0])
        shown = driver.execute_script("return document.querySelector('#summary b').textContent")
        assert 0 < int(shown) < 40
