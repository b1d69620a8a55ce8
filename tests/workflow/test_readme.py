"""README and docs: links lead somewhere, pictures are small, README stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.running import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def anchors(page: Path) -> set[str]:
    """What GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("http", "../../actions")):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert not heading or heading in anchors(target), f"{page.name}: {link}"


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
    assert targets and not {target for target in targets if f"\n{target}:" not in makefile} - {"and", "g"}
