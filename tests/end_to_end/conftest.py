"""Whole runs are slow tests, but for one: `make test-slow` runs them. Tests of pages share a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from tests.browser import browser

QUICK = "test_demo.py"
"""The whole run that `make test` has."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name != QUICK:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    with browser() as started:
        yield started
