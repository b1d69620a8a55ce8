"""What records say of code and packages."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.io import system
from tests.running import hanging


def run_git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "REPOSITORY", tmp_path)


def test_commit_and_changed_files(tmp_path: Path) -> None:
    assert system.describe_code()["commit"] is None and system.describe_code()["dirty"] is None
    run_git(tmp_path, "init", "-q")
    assert system.describe_code()["commit"] is None
    (tmp_path / "a").write_text("1", encoding="utf-8")
    run_git(tmp_path, "add", "a")
    run_git(tmp_path, "commit", "-q", "-m", "one")
    code = system.describe_code()
    assert code["commit"] == run_git(tmp_path, "rev-parse", "HEAD") and code["dirty"] is False
    (tmp_path / "untracked").touch()
    assert system.describe_code()["dirty"] is False
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert system.describe_code()["dirty"] is True


def test_hanging_programs_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git(tmp_path, "init", "-q")
    hanging("git", tmp_path, monkeypatch)
    hanging("fc-list", tmp_path, monkeypatch)
    assert system.describe_code()["commit"] is None
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "without a cache"))
    code = (
        f"from nmt.io import system; system.ANSWER_SECONDS = {system.ANSWER_SECONDS}; import nmt.plots.style"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_commit_of_other_user_s_checkout(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = run_git(tmp_path, "rev-parse", "HEAD")
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 12345, 12345)
    assert system.describe_code()["commit"] == commit


def test_records_name_no_user_or_host() -> None:
    record = json.dumps(system.describe_environment())
    assert str(Path.home()) not in record
    assert platform.node() not in record
