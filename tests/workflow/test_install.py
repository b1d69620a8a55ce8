"""`make setup` installs the lock file's packages and no other: of its versions, of its hashes, for every platform."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.running import ROOT
from tests.workflow.test_house import pins
from workflow.install import sections
from workflow.pins import blocks

LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
ORDER = ("build", "run", "dev", "torch", "cuda", "triton", "cpu")


def test_every_package_has_a_hash_and_one_place() -> None:
    found = [(name, rest) for section in sections(LOCK).values() for name, rest in blocks(section)]
    assert len(found) > 130
    assert sum("==" in line for line in LOCK.split("\n")) == len(found)
    for name, rest in found:
        assert re.fullmatch(r"==[^\n]*( \\\n    --hash=sha256:[0-9a-f]{64})+\n", rest), name
    names = [name for name, _ in found]
    assert {name for name in names if names.count(name) > 1} == {"torch"}  # with and without CUDA


def test_sections_hold_what_their_installation_needs() -> None:
    parts = {name: pins(text.split("\n")) for name, text in sections(LOCK).items()}
    assert set(parts) == set(ORDER)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    dependencies, dev = [*project["project"]["dependencies"], *extras["workflow"]], extras["dev"]
    assert pins(dependencies).items() <= {**parts["run"], **parts["torch"]}.items()
    assert pins(dev).items() <= {**parts["run"], **parts["dev"], **parts["triton"]}.items()
    assert pins(project["build-system"]["requires"]).items() <= parts["build"].items()
    assert parts["cpu"] == {"torch": f"{parts['torch']['torch']}+cpu"}
    # What PyTorch with CUDA leaves open is locked too, and nobody else needs it.
    assert {"nvidia-nvjitlink", "cuda-bindings", "cuda-pathfinder"} <= set(parts["cuda"])
    assert list(parts["triton"]) == ["triton"]
    assert not [
        name for name in (*parts["run"], *parts["dev"]) if name.startswith(("nvidia", "cuda", "triton"))
    ]


def wheel(folder: Path, name: str, version: str = "1.0") -> str:
    """Make a package with nothing in it; returns its requirement with its hash."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


def make_project(folder: Path, lock: dict[str, str]) -> None:
    """A project whose build backend copies a wheel, with the script and a lock file."""
    (folder / "workflow").mkdir()
    shutil.copy(ROOT / "workflow" / "install.py", folder / "workflow")
    text = "".join(f"# [{name}] what for\n{lock[name]}" for name in ORDER)
    (folder / "constraints.txt").write_text(text, encoding="utf-8")
    backend = "requires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    (folder / "pyproject.toml").write_text(f"[build-system]\n{backend}", encoding="utf-8")
    wheel(folder, "project")
    (folder / "backend.py").write_text(
        "import shutil\ndef build_wheel(folder, *rest):\n    name = 'project-1.0-py3-none-any.whl'\n"
        "    shutil.copy(name, folder)\n    return name\n",
        encoding="utf-8",
    )


def install(environment: Path, folder: Path, *options: str) -> tuple[int, str, dict[str, str]]:
    """Exit status, output, and what is installed afterwards."""
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--isolated", "--disable-pip-version-check"]
    local = ["--isolated", "--no-index", "--find-links", str(folder / "files")]
    command = [pip[0], str(folder / "workflow" / "install.py"), *options, *local]
    # Where the machine's pip looks is not where the test's may.
    clean = {"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": "/dev/null"}
    result = subprocess.run(
        command, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    frozen = subprocess.check_output([*pip, "freeze", "--all"], text=True)
    return (
        result.returncode,
        result.stdout,
        dict(re.findall(r"^(\w+)(?:==| @ )(\S+)$", frozen, flags=re.MULTILINE)),
    )


@pytest.fixture
def lock(tmp_path: Path) -> dict[str, str]:
    files = tmp_path / "files"
    files.mkdir()
    found = {name: wheel(files, f"for_{name}") for name in ("build", "run", "dev", "cuda", "triton")}
    return {**found, "torch": wheel(files, "torch"), "cpu": wheel(files, "torch", "1.0+cpu")}


@pytest.mark.slow
@pytest.mark.parametrize("build", ["1.0+cpu", "1.0"])
def test_the_build_of_pytorch_is_the_one_that_an_index_offers(
    environment: Path, lock: dict[str, str], tmp_path: Path, build: str
) -> None:
    make_project(tmp_path, lock)
    if build == "1.0":
        (tmp_path / "files" / "torch-1.0+cpu-py3-none-any.whl").unlink()
    status, output, installed = install(environment, tmp_path)
    assert status == 0, output
    assert installed["torch"] == build
    assert ("for_cuda" in installed) == ("for_triton" in installed) == (build == "1.0")
    assert {"for_build", "for_run", "project"} <= set(installed)
    assert "for_dev" not in installed
    subprocess.run(
        [str(environment / "bin" / "pip"), "uninstall", "-qy", "torch", "for_cuda", "for_triton", "for_run"],
        check=True,
    )


@pytest.mark.parametrize("changed", ["for_run-1.0", "torch-1.0+cpu"])
def test_a_file_with_another_hash_is_refused(
    environment: Path, lock: dict[str, str], tmp_path: Path, changed: str
) -> None:
    make_project(tmp_path, lock)
    with zipfile.ZipFile(tmp_path / "files" / f"{changed}-py3-none-any.whl", "a") as archive:
        archive.writestr("added.py", "")
    status, output, installed = install(environment, tmp_path)
    assert status != 0
    assert "DO NOT MATCH THE HASHES" in output
    assert changed.split("-")[0] not in installed


# --- the interpreter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ((3, 10), "Python 3.11 or 3.12 needed"),
        ((3, 11), "no C++ compiler"),
        ((3, 12), "no C++ compiler"),
        ((3, 13), "Python 3.11 or 3.12 needed"),
    ],
)
def test_setup_takes_the_versions_of_python_that_the_project_states(
    tmp_path: Path, version: tuple[int, int], says: str
) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "workflow/install.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / "python"
    pretend = (
        f"import sys; sys.version_info = {(*version, 0)}; exec(sys.argv[2] if len(sys.argv) > 2 else '')"
    )
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c {shlex.quote(pretend)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    # neither compiler nor installed packages are found: what passes the check of the version stops at the next
    (tmp_path / "bin").mkdir()
    for program in ("bash", "make", "sh"):
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    ended = subprocess.run(
        ["make", "setup", f"PYTHON={python}"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2 and says in ended.stderr
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    assert ("compiler" in says) == SpecifierSet(stated).contains("{}.{}.0".format(*version))
