"""What records say of code and packages."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.io import system
from tests.running import hanging


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "REPOSITORY", tmp_path)


def test_code_is_told_by_its_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    assert system.describe_code()["commit"] is None and system.describe_code()["dirty"] is None
    git(tmp_path, "init", "-q")
    assert system.describe_code()["commit"] is None
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "one")
    code = system.describe_code()
    assert code["commit"] == git(tmp_path, "rev-parse", "HEAD") and code["dirty"] is False
    (tmp_path / "untracked").write_text("1", encoding="utf-8")
    assert system.describe_code()["dirty"] is False
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert system.describe_code()["dirty"] is True


def test_no_program_that_hangs_stops_a_record_or_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    hanging("git", tmp_path, monkeypatch)
    hanging("fc-list", tmp_path, monkeypatch)
    assert system.describe_code()["commit"] is None
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "without a cache"))
    code = (
        f"from nmt.io import system; system.ANSWER_SECONDS = {system.ANSWER_SECONDS}; import nmt.plots.style"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_the_commit_of_a_checkout_that_belongs_to_somebody_else_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 12345, 12345)
    assert system.describe_code()["commit"] == commit


def test_no_user_or_host_is_told() -> None:
    told = json.dumps(system.describe_environment())
    assert str(Path.home()) not in told
    assert platform.node() not in told
