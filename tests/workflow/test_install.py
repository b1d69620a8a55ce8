"""`make setup` installs the lock file's packages and no other: of its versions, of its hashes, for every platform."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.running import ROOT
from tests.workflow.test_house import pins
from workflow.install import CPU_LOCK, LOCK

LOCKS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (LOCK, CPU_LOCK)}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_a_hash_and_one_place(name: str) -> None:
    _, *packages = re.split(r"^(?=[^\s#])", LOCKS[name], flags=re.MULTILINE)
    for package in packages:
        assert re.fullmatch(r"\S+==[^\n]*( \\\n    --hash=sha256:[0-9a-f]{64})+\n", package), package
    names = [package.partition("==")[0] for package in packages]
    assert len(set(names)) == len(names)


def test_lock_holds_what_is_asked_for() -> None:
    lock = pins(LOCKS[LOCK].split("\n"))
    assert len(lock) > 130
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for requirements in project["project"]["optional-dependencies"].values():
        assert pins([*project["project"]["dependencies"], *requirements]).items() <= lock.items()
    assert pins(project["build-system"]["requires"]).items() <= lock.items()
    assert {"cmake", "setuptools", "wheel"} <= set(lock)  # what KenLM asks for to be built
    assert {"nvidia-nvjitlink", "cuda-bindings", "cuda-pathfinder"} <= set(lock)  # what PyTorch leaves open
    assert pins(LOCKS[CPU_LOCK].split("\n")) == {"torch": f"{lock['torch']}+cpu"}


def wheel(folder: Path, name: str, version: str = "1.0", needs: str = "") -> str:
    """Make a package with an empty module; returns its requirement with its hash."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", metadata + (f"Requires-Dist: {needs}\n" if needs else ""))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
        archive.writestr(f"{name}.py", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the uv that runs here."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for found in Path(sysconfig.get_path("purelib")).glob("uv*"):
        (packages / found.name).symlink_to(found)
    (folder / "bin" / "uv").symlink_to(Path(sysconfig.get_path("scripts")) / "uv")
    return folder


PROJECT = """[build-system]
requires = []
build-backend = 'backend'
backend-path = ['.']
[project]
name = 'nmt-repro'
version = '1.0'
dependencies = ['torch==1.0']
optional-dependencies = {workflow = ['for-workflow==1.0'], dev = ['for-dev==1.0']}
"""
BACKEND = """import shutil
def build_wheel(folder, *rest):
    return shutil.copy('nmt_repro-1.0-py3-none-any.whl', folder).rpartition('/')[2]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the script and lock files, and a folder of packages that pip's configuration names."""
    files = tmp_path / "files"
    for folder in (files, tmp_path / "workflow", tmp_path / "bin"):
        folder.mkdir()
    shutil.copy(ROOT / "workflow" / "install.py", tmp_path / "workflow")
    lock = [wheel(files, name) for name in ("for_workflow", "for_dev", "for_cuda")]
    lock += [
        wheel(files, "torch", needs="for-cuda==1.0"),
        re.findall(r"^uv==.*\n(?: .*\n)*", LOCKS[LOCK], re.M)[0],
    ]
    (tmp_path / LOCK).write_text("".join(lock), encoding="utf-8")
    (tmp_path / CPU_LOCK).write_text(wheel(files, "torch", "1.0+cpu"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "backend.py").write_text(BACKEND, encoding="utf-8")
    wheel(tmp_path, "nmt_repro")
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = {(tmp_path / 'empty').as_uri()}\nfind-links = {files}\n", encoding="utf-8"
    )
    return tmp_path


def install(environment: Path, project: Path, driver: str | None = None) -> tuple[int, str, dict[str, str]]:
    """Exit status, output, and what is installed afterwards; `driver` is the version of NVIDIA's."""
    (project / "bin" / "nvidia-smi").write_text(
        f"#!/bin/sh\necho {driver}\n" if driver else "#!/bin/sh\nexit 9\n", encoding="utf-8"
    )
    (project / "bin" / "nvidia-smi").chmod(0o755)
    python = str(environment / "bin" / "python")
    names = ["torch", "for_workflow", "for_dev", "for_cuda", "nmt-repro"]
    subprocess.run(
        [python, "-m", "pip", "uninstall", "--quiet", "--yes", *names], check=True, capture_output=True
    )
    clean = {
        "PATH": f"{project / 'bin'}:/usr/bin:/bin",
        "PIP_CONFIG_FILE": str(project / "pip.conf"),
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(project / "cache"),
    }
    result = subprocess.run(
        [python, str(project / "workflow" / "install.py")],
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    frozen = subprocess.check_output([python, "-m", "pip", "freeze", "--all"], text=True)
    packages = dict(re.findall(r"^([\w-]+)(?:==| @ )(\S+)$", frozen, flags=re.MULTILINE))
    return (
        result.returncode,
        result.stdout,
        {name.replace("-", "_"): version for name, version in packages.items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "offered", "build"),
    [(None, True, "1.0+cpu"), (None, False, "1.0"), ("580.65.06", False, "1.0")],
    ids=["without a driver", "without an index", "with a driver"],
)
def test_the_build_of_pytorch_fits_the_machine(
    environment: Path, project: Path, driver: str | None, offered: bool, build: str
) -> None:
    if not offered:
        (project / "files" / "torch-1.0+cpu-py3-none-any.whl").unlink()
    status, output, installed = install(environment, project, driver)
    assert status == 0, output
    assert installed["torch"] == build
    assert ("for_cuda" in installed) == (build == "1.0")
    assert {"for_workflow", "nmt_repro"} <= set(installed) and "for_dev" not in installed
    assert ("PyTorch without CUDA" in output) == (driver is None)
    assert ("does not give it" in output) == (driver is None and not offered)
    assert f"with PyTorch {build}" in output and output.count("\n") < 7
    # nothing has imported it yet
    assert list(environment.glob("lib/*/site-packages/__pycache__/torch.*.pyc"))


def test_an_old_driver_gets_an_older_cuda(environment: Path, project: Path) -> None:
    status, output, installed = install(environment, project, "550.54.14")
    assert status != 0 and "torch" not in installed  # PyTorch's index is not asked in this test
    assert "you require torch==1.0+cu126" in output


@pytest.mark.parametrize("changed", ["for_workflow-1.0", "torch-1.0+cpu"])
def test_a_file_with_another_hash_is_refused(environment: Path, project: Path, changed: str) -> None:
    with zipfile.ZipFile(project / "files" / f"{changed}-py3-none-any.whl", "a") as archive:
        archive.writestr("added.py", "")
    status, output, installed = install(environment, project)
    assert status != 0
    assert "Hash mismatch" in output
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
    for name in ("Makefile", "pyproject.toml", LOCK, CPU_LOCK, "workflow/install.py"):
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
