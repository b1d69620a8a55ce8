"""What a package index shows of the project: the wheel's own description, addresses and classifiers."""

from __future__ import annotations

import email
import re
import shutil
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.running import ROOT, build_wheel

ADDRESS = "https://git.example.org/somebody/nmt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def metadata(folder: Path, address: str | None) -> Message:
    """The metadata of a wheel of the project, in whose pyproject.toml this address is written."""
    project = folder / "project"
    (project / "nmt").mkdir(parents=True)
    for name in ("setup.py", "README.md", "LICENSE", "nmt/__init__.py"):
        shutil.copy(ROOT / name, project / name)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = re.sub(r"(?m)^Repository = .*\n", "", settings)
    told = f'[project.urls]\nRepository = "{address}"' if address else "[project.urls]"
    (project / "pyproject.toml").write_text(settings.replace("[project.urls]", told), encoding="utf-8")
    with zipfile.ZipFile(build_wheel(project)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        return email.message_from_bytes(archive.read(name))


def test_links_and_pictures_lead_to_the_repository(tmp_path: Path) -> None:
    found = metadata(tmp_path, ADDRESS)
    text = found.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(re.findall(r"\]\(", README)) and all(
        link.startswith("https://") for link in links
    )
    for link in (link for link in links if link.startswith(ADDRESS)):
        kind, head, path = link.removeprefix(f"{ADDRESS}/").split("/", 2)
        assert (ROOT / path.partition("#")[0]).is_file() and head == "HEAD"
        assert kind == ("raw" if path.endswith((".png", ".svg")) else "blob")
    assert f"git clone {ADDRESS} nmt" in text
    assert f"Repository, {ADDRESS}" in found.get_all("Project-URL", [])
    assert found["Description-Content-Type"] == "text/markdown"


def test_on_github_a_page_is_that_of_the_site(tmp_path: Path) -> None:
    text = metadata(tmp_path, "https://github.com/somebody/nmt").get_payload()
    assert "(https://somebody.github.io/nmt/docs/playground.html)" in text


def test_without_an_address_a_link_to_a_file_is_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPOSITORY_URL", raising=False)
    text = metadata(tmp_path, None).get_payload()
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]+)\)", text))
    assert "\nLicence MIT\n" in text and " all results " in " ".join(text.split())


def test_the_machine_that_builds_may_know_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPOSITORY_URL", ADDRESS)
    text = metadata(tmp_path, None).get_payload()
    assert f"git clone {ADDRESS} nmt" in text and f"]({ADDRESS}/blob/HEAD/docs/" in text


def test_readme_clones_from_the_address_that_is_known() -> None:
    address = PROJECT["urls"].get("Repository", "REPOSITORY")
    assert f"    git clone {address} nmt && cd nmt\n" in README


@pytest.mark.parametrize("minor", range(9, 17))
def test_classifiers_name_the_pythons_that_it_needs(minor: int) -> None:
    named = f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]
    assert named == SpecifierSet(PROJECT["requires-python"]).contains(f"3.{minor}.0")
