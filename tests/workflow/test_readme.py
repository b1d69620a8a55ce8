"""README stays short and its pictures small."""

from __future__ import annotations

import re

from tests.running import ROOT


def test_readme_is_short_and_its_pictures_small() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 700
    pictures = [ROOT / path for path in re.findall(r"!\[[^\]]+\]\((docs/[^)]+)\)", text)]
    assert len(pictures) >= 2
    assert sum(path.stat().st_size for path in pictures) < 300_000
