"""The site: every page has a place, links lead as they do in the repository, finished experiments are shown."""

import importlib.util
import re

import pytest
import yaml

from tests.running import ROOT
from tools import site

NAVIGATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]


def test_navigation_has_every_page():
    named = {
        page
        for entry in NAVIGATION
        for page in ([entry] if isinstance(entry, str) else next(iter(entry.values())))
    }
    pages = (page for pattern in site.PAGES for page in ROOT.glob(pattern))
    found = {str(page.relative_to(ROOT).with_suffix(".md")) for page in pages}
    assert named == {*found, "gallery/index.md"}


def test_links_of_copied_pages_exist(tmp_path):
    site.copy_pages(tmp_path)
    pages = list(tmp_path.rglob("*.md"))
    links = [
        page.parent / link for page in pages for link in site.LINK.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 40 and all(link.exists() for link in links)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="needs what `make docs` installs")
def test_site_is_built_without_a_warning(tmp_path):
    assert site.main([], tmp_path) == 0
    assert (tmp_path / "pages" / "library" / "nmt.model.html").exists()
    for page in (tmp_path / "pages").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(
            r'<(?:script|img|iframe)[^>]* src="?https?:|<link[^>]*stylesheet[^>]* href="?https?:', text
        )
