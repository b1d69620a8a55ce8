"""The library alone, out of its wheel: docs/library.md's own commands train a model on four files and translate."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.running import ROOT, build_wheel

PAGE = ROOT / "docs" / "library.md"
SMALLER = {
    **dict.fromkeys(["hidden_units", "embedding_size", "maxout_units", "alignment_units"], 8),
    **{"updates": 20, "validate_every": 10, "checkpoint_every": 10, "train_sample": 10, "max_beam": 12},
}
"""In place of the page's numbers, so that training takes seconds."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path with `nmt` as the wheel brings it, beside no checkout.

    What the extra `workflow` would install is not there.
    """
    folder = tmp_path_factory.mktemp("wheel")
    project = folder / "project"
    shutil.copytree(ROOT / "nmt", project / "nmt", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    with zipfile.ZipFile(build_wheel(project)) as archive:
        archive.extractall(folder / "site")
    (folder / "bin").mkdir()
    program = folder / "bin" / "nmt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {pin.partition("==")[0] for pin in project["optional-dependencies"]["workflow"]}
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(folder / 'site')!r})\n"
        f"sys.modules.update(dict.fromkeys({sorted(extras)}))\n"  # nothing of it can be imported
        "from nmt.cli import main\nmain()\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return folder / "bin"


def run(shell: Path, folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(shell), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
    return subprocess.run(
        ["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def smaller(settings: object) -> object:
    if isinstance(settings, dict):
        return {key: SMALLER.get(key, smaller(value)) for key, value in settings.items()}
    return settings


def test_the_page_s_commands_train_a_model_that_translates(shell, tmp_path):
    for part, start in (("train", 0), ("dev", 100)):
        numbers = range(start, start + 100)
        (tmp_path / f"{part}.en").write_text("".join(f"The dog sees {n} cats.\n" for n in numbers))
        (tmp_path / f"{part}.fr").write_text("".join(f"Le chien voit {n} chats.\n" for n in numbers))
    page = PAGE.read_text(encoding="utf-8")
    model, text = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "model.json").write_text(json.dumps(smaller(json.loads(model))))
    (tmp_path / "text.json").write_text(json.dumps(smaller(json.loads(text))))
    shown = re.sub(r"```json\n.*?```", "", page, flags=re.DOTALL)
    blocks = re.findall(r"(?:^    .*\n)+", shown, flags=re.MULTILINE)
    assert "pip install" in blocks[0]
    for block in blocks[1:]:
        ended = run(shell, tmp_path, block)
        assert ended.returncode == 0, block + ended.stderr
    assert (tmp_path / "translated.fr").read_text(encoding="utf-8").count("\n") == 100
    assert json.loads((tmp_path / "mine" / "summary.json").read_text())["updates"] == 20


def test_the_wheel_has_no_subcommands_of_the_pipeline(shell, tmp_path):
    ended = run(shell, tmp_path, "nmt status")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "Run an experiment:" not in run(shell, tmp_path, "nmt --help").stdout
