"""What a package index shows of the project: the wheel's own description and addresses."""

import email
import re
import shutil
import zipfile
from email.message import Message
from pathlib import Path

from tests.running import ROOT, build_wheel

ADDRESS = "https://git.example.org/somebody/nmt"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def metadata(folder: Path, address: str) -> Message:
    """The metadata of a wheel of the project, in whose pyproject.toml this address is written."""
    project = folder / "project"
    (project / "nmt").mkdir(parents=True)
    for name in ("setup.py", "README.md", "LICENSE", "nmt/__init__.py"):
        shutil.copy(ROOT / name, project / name)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = re.sub(r"(?m)^Repository = .*\n", "", settings)
    settings = settings.replace("[project.urls]", f'[project.urls]\nRepository = "{address}"')
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    with zipfile.ZipFile(build_wheel(project)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        return email.message_from_bytes(archive.read(name))


def test_package_page_links_to_the_repository(tmp_path):
    found = metadata(tmp_path, ADDRESS)
    text = found.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(re.findall(r"\]\(", README)) and all(
        link.startswith("https://") for link in links
    )
    for link in (link for link in links if link.startswith(ADDRESS)):
        kind, head, path = link.removeprefix(f"{ADDRESS}/").split("/", 2)
        assert (ROOT / path.partition("#")[0]).is_file() and head == "HEAD"
        assert kind == ("raw" if path.endswith((".gif", ".png", ".svg")) else "blob")
    assert f"git clone {ADDRESS} nmt" in text
    assert f"Repository, {ADDRESS}" in found.get_all("Project-URL", [])
    assert found["Description-Content-Type"] == "text/markdown"
