"""Settings as JSON: what is said of a text or a file that is at fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.cli.options import parse_settings
from nmt.settings.json_settings import read
from nmt.settings.text import Languages, VocabularySettings
from tests.messages import refused


@pytest.mark.parametrize(
    "text",
    [
        '{"source": "en"}',
        '{"source": "en", "target": "fr", "sorce": 1}',
        '{"source": "EN", "target": 3}',
        '{"source": ',
        "nowhere.json",
        "[" * 5000,
        '{"source": ' + "[" * 5000,
    ],
    ids=range(7),
)
def test_an_option_at_fault_is_one_short_line(text: str) -> None:
    with refused() as raised:
        parse_settings(Languages, text)
    assert len(str(raised.value)) < 250 and str(raised.value).isprintable()


def test_a_file_at_fault_is_named_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "text.json"
    with refused():
        read(Languages, file)
    file.write_bytes(b"\xff{}")
    with refused():
        read(Languages, file)
    file.write_text('{"words": 0, "target_words": "x"}')
    with refused():
        read(VocabularySettings, file, "write it again")


def test_a_good_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "languages.json"
    file.write_text('{"source": "en", "target": "fr"}')
    expected = Languages(source="en", target="fr")
    assert read(Languages, file) == expected
    assert parse_settings(Languages, str(file)) == parse_settings(Languages, file.read_text()) == expected
