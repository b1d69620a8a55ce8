"""README stays short, its pictures small, and what it names exists."""

from __future__ import annotations

import re

from tests.running import ROOT


def test_readme_is_short_and_its_pictures_small() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 700
    pictures = [ROOT / path for path in re.findall(r"!\[[^\]]+\]\((docs/[^)]+)\)", text)]
    assert len(pictures) >= 2
    assert sum(path.stat().st_size for path in pictures) < 300_000


def test_readme_names_make_targets_and_subcommands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z0-9]+)", text))
    assert targets and not {target for target in targets if f"\n{target}:" not in makefile} - {"and", "git"}
