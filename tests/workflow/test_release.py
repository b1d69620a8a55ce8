"""What a version publishes: the package, and what finished experiments made, with checksums."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "demo").mkdir()
    assert release.main([str(tmp_path / "new"), str(tmp_path / "demo")]) == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path}/demo: not finished; make EXPERIMENT={tmp_path}/demo run\n"
    )
    assert release.main([str(tmp_path / "demo"), str(tmp_path / "demo")]) == 2
    assert "is there already; name a new folder, or remove it" in capsys.readouterr().err
    (tmp_path / "demo" / "results").mkdir()
    (tmp_path / "demo" / "results" / "report.html").touch()
    assert release.main([str(tmp_path / "new"), str(tmp_path / "demo"), str(tmp_path / "demo" / ".")]) == 2
    assert "demo: two experiments of this name" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["demo"]
