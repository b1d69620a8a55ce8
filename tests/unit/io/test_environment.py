"""What records say of code, packages and settings."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.io import environment
from pipeline.config import snapshot
from pipeline.config.overlays import find_layers, load
from tests.running import ROOT


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_code_is_told_by_its_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    assert environment.code(tmp_path)["commit"] is None and environment.code(tmp_path)["dirty"] is None
    git(tmp_path, "init", "-q")
    assert environment.code(tmp_path)["commit"] is None
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "one")
    code = environment.code(tmp_path)
    assert code["commit"] == git(tmp_path, "rev-parse", "HEAD") and code["dirty"] is False
    (tmp_path / "untracked").write_text("1", encoding="utf-8")
    assert environment.code(tmp_path)["dirty"] is False
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert environment.code(tmp_path)["dirty"] is True


def test_packages_are_those_of_the_project_in_their_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [*project["dependencies"], *project["optional-dependencies"]["workflow"]]
    pinned = dict(line.split("==") for line in stated)
    assert set(environment.PACKAGES) <= set(pinned)
    for name, version in environment.packages().items():
        assert version.split("+")[0] == pinned[name]


def test_no_user_or_host_is_told() -> None:
    told = json.dumps(environment.origin())
    assert str(Path.home()) not in told
    assert Path("/etc/hostname").read_text(encoding="utf-8").strip() not in told


def test_settings_are_published_without_what_has_no_influence_and_read_again(tmp_path: Path) -> None:
    demo = load(find_layers(ROOT / "config.yaml", ROOT / "experiments" / "demo"))
    values = snapshot.published(demo)
    assert not {"mirrors", "resources"} & set(values)
    assert sorted(values["corpora"]) == ["demo-dev", "demo-test", "demo-train"] and not values["archives"]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    again = snapshot.read(path)
    assert snapshot.published(again) == values
    assert again.models == demo.models and again.artifacts == demo.artifacts


def test_published_settings_name_the_archives_and_texts_in_use() -> None:
    values = snapshot.published(load(find_layers(ROOT / "config.yaml", ROOT)))
    assert "wmt14-test" in values["archives"] and "giga-fren" in values["corpora"]
    assert "newstest2010" not in values["corpora"]


@pytest.mark.parametrize(
    ("text", "says"), [("{", "expected JSON"), ("{}", "seed: missing"), ("[]", "settings of a run")]
)
def test_other_files_are_refused_by_their_first_key(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        snapshot.read(path)
