"""docs/settings.md is what the code says of its settings."""

from __future__ import annotations

from workflow.settings_page import PAGE, format_page


def test_the_page_of_settings_is_that_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == format_page(), "run: make format"
