"""What a version publishes: the package, and what finished experiments made, with checksums."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.messages import check
from tests.running import ROOT
from workflow import release


def test_the_package_holds_what_it_needs_and_passes_pypi_s_check(tmp_path: Path) -> None:
    release.add_package(tmp_path)
    release.write_sums(tmp_path)
    assert subprocess.run(["sha256sum", "--check", release.SUMS], cwd=tmp_path, check=False).returncode == 0
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info" not in name}
    package = {
        str(path.relative_to(ROOT)) for path in (ROOT / "nmt").rglob("*") if "__pycache__" not in path.parts
    }
    assert names == {name for name in package if (ROOT / name).is_file()}
    with tarfile.open(source) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", *names} <= packed


def test_what_is_missing_is_said_in_a_line_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    assert release.main(["new", "demo"]) == 2
    check(capsys.readouterr().err)
    assert release.main(["demo", "demo"]) == 2
    check(capsys.readouterr().err)
    Path("demo/results").mkdir()
    Path("demo/results/report.html").touch()
    assert release.main(["new", "demo", f"{tmp_path}/demo"]) == 2
    check(capsys.readouterr().err)
    assert os.listdir() == ["demo"]
