"""Settings as JSON: what is said of a text or a file that is at fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.cli.options import parse_settings
from nmt.errors import UserError
from nmt.settings.json_settings import read
from nmt.settings.text import Languages, VocabularySettings
from tests.messages import refused


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"source": "en"}', "--settings: target: missing"),
        (
            '{"source": "en", "target": "fr", "sorce": 1}',
            "--settings: sorce: unknown key; did you mean `source`?",
        ),
        (
            '{"source": "EN", "target": 3}',
            "--settings: source: found 'EN', expected text of the form ^[a-z]{2,3}$ (and 1",
        ),
        ('{"source": ', "--settings: (top): found '{\"source\": ', expected JSON: EOF while parsing"),
        ("nowhere.json", "--settings nowhere.json: no such file; expected JSON or the path of a JSON file"),
        ("[" * 5000, "no such file; expected JSON or the path"),
        ('{"source": ' + "[" * 5000, "expected JSON: recursion limit exceeded"),
    ],
)
def test_an_option_at_fault_is_one_short_line(text: str, problem: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_settings(Languages, text)
    assert problem in str(raised.value)
    assert len(str(raised.value)) < 250 and str(raised.value).isprintable()


def test_a_file_at_fault_is_named_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "text.json"
    with refused():
        read(Languages, file)
    file.write_bytes(b"\xff{}")
    with refused():
        read(Languages, file)
    file.write_text('{"words": 0, "target_words": "x"}')
    with pytest.raises(UserError) as raised:
        read(VocabularySettings, file, "write it again")
    assert str(raised.value) == f"{file}: words: found 0, expected 1 or more (and 2 more); write it again"


def test_a_good_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "languages.json"
    file.write_text('{"source": "en", "target": "fr"}')
    expected = Languages(source="en", target="fr")
    assert read(Languages, file) == expected
    assert parse_settings(Languages, str(file)) == parse_settings(Languages, file.read_text()) == expected
