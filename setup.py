"""The page that a package index shows: README.md, with its links and pictures leading to the repository.

The repository's address is `project.urls.Repository` of pyproject.toml. While there is none, it is REPOSITORY_URL of
the environment, as tools/site.py has it, too. If that is missing, a link to a file is only its text.
"""

import os
import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
LINK = r"(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\((?!\w+:)([^)]+)\)"
"""A picture or a link to a file here, perhaps with a picture as its text."""


def for_an_index(text: str, address: str | None) -> str:
    """Markdown whose links to files lead to the repository at `address`, and those to pages to its site on GitHub."""
    site = re.sub(r"^https://github\.com/([^/]+)/", r"https://\1.github.io/", address or "")

    def elsewhere(link: re.Match[str]) -> str:
        picture, shown, path = link.groups()
        shown = for_an_index(shown, address)
        if address is None:
            return shown
        if path.endswith(".html") and site != address:
            return f"[{shown}]({site}/{path})"
        return f"{picture}[{shown}]({address}/{'raw' if picture else 'blob'}/HEAD/{path})"

    if address:
        text = text.replace(
            "In a clone of this repository:", f"Clone it (`git clone {address} nmt && cd nmt`), then:"
        )
    return re.sub(LINK, elsewhere, text)


if __name__ == "__main__":
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    setup(
        long_description=for_an_index(
            (ROOT / "README.md").read_text(encoding="utf-8"),
            urls.get("Repository") or os.environ.get("REPOSITORY_URL"),
        ),
        long_description_content_type="text/markdown",
    )
