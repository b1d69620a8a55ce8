"""docs/settings.md is what the code says of its settings."""

from __future__ import annotations

from workflow.settings_page import PAGE, format_page


def test_settings_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == format_page(), "run: make format"
