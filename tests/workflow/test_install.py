"""`make setup` installs the lock file's packages and no other: of its versions, of its hashes, for every platform."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.running import ROOT
from workflow import install

LOCK = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
PROJECT_FILE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WITHOUT_COMPILER = PROJECT_FILE["tool"]["uv"]["extra-build-variables"]
PYTHONS = ("311", "312", "313", "314")


def test_the_lock_file_is_what_pyproject_asks_for() -> None:
    install.Uv().run("lock", "--check", "--offline")


def test_every_file_has_a_hash() -> None:
    registered = [package for package in LOCK["package"] if "registry" in package["source"]]
    assert len(registered) > 150
    for package in registered:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files and all(file["hash"].startswith("sha256:") for file in files), package["name"]


def fits(file: str, python: str, platform: tuple[str, str]) -> bool:
    """Whether a wheel is for this Python and platform."""
    pythons, abi, platforms = file.removesuffix(".whl").rsplit("-", 3)[1:]
    return ("py3" in pythons or f"cp{python}" in pythons.split(".") or abi == "abi3") and (
        platforms == "any"
        or (platform[0] in platforms and ("universal2" in platforms or platform[1] in platforms))
    )


@pytest.mark.parametrize("platform", [("manylinux", "x86_64"), ("manylinux", "aarch64"), ("macosx", "arm64")])
def test_no_experiment_needs_a_compiler(platform: tuple[str, str]) -> None:
    requirements = install.Uv().export("--group", "workflow", "--extra", "cpu", "--no-hashes")
    system = "linux" if platform[0] == "manylinux" else "darwin"
    wanted = {
        tuple(line.split(" ;")[0].split("=="))
        for line in requirements.split("\n")
        if "==" in line and ("sys_platform" not in line or f"sys_platform == '{system}'" in line)
    }
    wheels = {
        (package["name"], package["version"]): [file["url"].rpartition("/")[2] for file in package["wheels"]]
        for package in LOCK["package"]
        if "wheels" in package
    }
    assert len(wanted) > 80 and ("torch", "2.13.0+cpu" if system == "linux" else "2.13.0") in wanted
    lacking = {
        (name, python)
        for name, version in wanted
        for python in PYTHONS
        if not any(fits(file, python, platform) for file in wheels.get((name, version), []))
    }
    lacking.discard(("backports-zstd", "314"))  # whose content is in Python 3.14
    # the first is Python alone, the others are built without their compiled part
    assert lacking == {("connection-pool", python) for python in PYTHONS} | {
        (name, "314") for name, variables in WITHOUT_COMPILER.items() if variables["CC"] == "true"
    }


def wheel(folder: Path, name: str, version: str = "1.0", needs: str = "") -> None:
    """Make a package with an empty module."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", metadata + (f"Requires-Dist: {needs}\n" if needs else ""))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
        archive.writestr(f"{name}.py", "")


PROJECT = """[build-system]
requires = []
build-backend = 'backend'
backend-path = ['.']
[project]
name = 'nmt-repro'
version = '1.0'
requires-python = '>=3.11'
dependencies = ['torch==1.0']
optional-dependencies = {workflow = ['for-workflow==1.0'], cpu = ['torch==1.0'], cuda = ['torch==1.0']}
[dependency-groups]
setup = []
workflow = ['nmt-repro[workflow]']
dev = ['for-dev==1.0']
[tool.uv]
conflicts = [[{ extra = 'cpu' }, { extra = 'cuda' }]]
[[tool.uv.index]]
name = 'pypi'
url = 'pypi'
format = 'flat'
default = true
[[tool.uv.index]]
name = 'pytorch-cpu'
url = 'pytorch'
format = 'flat'
explicit = true
[tool.uv.sources]
torch = [{ index = 'pytorch-cpu', extra = 'cpu' }]
"""
BACKEND = """import shutil
def build_editable(folder, *rest):
    return shutil.copy('nmt_repro-1.0-py3-none-any.whl', folder).rpartition('/')[2]
"""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the scripts and a lock file; its packages lie in two folders."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("pypi", "pytorch", "workflow", "bin", ".uv"):
        (folder / name).mkdir()
    for name in ("install.py", "setup.sh"):
        shutil.copy(ROOT / "workflow" / name, folder / "workflow")
    (folder / ".uv" / "uv").symlink_to(str(shutil.which(install.Uv().program)))
    for name in ("for_workflow", "for_dev", "for_cuda"):
        wheel(folder / "pypi", name)
    wheel(folder / "pypi", "torch", needs="for-cuda==1.0")
    wheel(folder / "pytorch", "torch", "1.0+cpu")
    wheel(folder, "nmt_repro")
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "backend.py").write_text(BACKEND, encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    subprocess.run([folder / ".uv" / "uv", "lock", "--offline", "--quiet"], cwd=folder, env=own, check=True)
    lock = (folder / "uv.lock").read_text(encoding="utf-8")
    for path in [
        *(folder / "pypi").iterdir(),
        *(folder / "pytorch").iterdir(),
    ]:  # uv hashes what has an address
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        lock = lock.replace(f'"{path.name}" }}', f'"{path.name}", hash = "sha256:{sha256}" }}')
    (folder / "uv.lock").write_text(lock, encoding="utf-8")
    return folder


@pytest.fixture
def project(locked: Path, tmp_path: Path) -> Path:
    shutil.copytree(locked, tmp_path, symlinks=True, dirs_exist_ok=True)
    configuration = (
        f"[global]\nindex-url = {(tmp_path / 'empty').as_uri()}\n"
        f"find-links = {tmp_path / 'pypi'}\n    {tmp_path / 'pytorch'}\n"
    )
    (tmp_path / "pip.conf").write_text(configuration, encoding="utf-8")
    return tmp_path


def begin(project: Path, *options: str, driver: str | None = None) -> subprocess.Popen[str]:
    """Start an installation; `driver` is the version of NVIDIA's."""
    (project / "bin" / "nvidia-smi").write_text(
        f"#!/bin/sh\necho {driver}\n" if driver else "#!/bin/sh\nexit 9\n", encoding="utf-8"
    )
    (project / "bin" / "nvidia-smi").chmod(0o755)
    return subprocess.Popen(
        ["sh", str(project / "workflow" / "setup.sh"), *options],
        env={
            "PATH": f"{project / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(project),
            "PIP_CONFIG_FILE": str(project / "pip.conf"),
            "UV_OFFLINE": "1",
            "UV_CACHE_DIR": str(project / "cache"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end(project: Path, begun: subprocess.Popen[str]) -> tuple[int, str, dict[str, str]]:
    """Exit status, output, and the versions that are installed afterwards."""
    output, _ = begun.communicate(timeout=600)
    found = [path.name.split("-") for path in project.glob(".venv/lib/python3*/site-packages/*.dist-info")]
    return begun.returncode, output, {name: version.removesuffix(".dist") for name, version, *_ in found}


def run(project: Path, *options: str, driver: str | None = None) -> tuple[int, str, dict[str, str]]:
    return end(project, begin(project, *options, driver=driver))


@pytest.mark.parametrize(
    ("driver", "offered", "build"),
    [(None, True, "1.0+cpu"), (None, False, "1.0"), ("580.65.06", False, "1.0")],
    ids=["without a driver", "without an index", "with a driver"],
)
def test_the_build_of_pytorch_fits_the_machine(
    project: Path, driver: str | None, offered: bool, build: str
) -> None:
    if not offered:
        (project / "pytorch" / "torch-1.0+cpu-py3-none-any.whl").unlink()
    status, output, installed = run(project, driver=driver)
    assert status == 0, output
    assert installed["torch"] == build
    assert ("for_cuda" in installed) == (build == "1.0")
    assert {"for_workflow", "nmt_repro"} <= set(installed) and "for_dev" not in installed
    assert ("PyTorch without CUDA" in output) == (driver is None)
    assert ("does not give it" in output) == (driver is None and not offered)
    assert output.count("\n") < 7
    assert (project / ".venv" / "installed").exists() and not (project / ".venv" / "installed-dev").exists()
    # nothing has imported it yet
    assert list(project.glob(".venv/lib/*/site-packages/__pycache__/torch.*.pyc"))


def test_a_build_that_was_asked_for_stays(project: Path) -> None:
    status, output, installed = run(project, "--torch", "cuda")
    assert status == 0 and installed["torch"] == "1.0", output
    status, output, installed = run(project, "--dev")  # no driver
    assert status == 0 and installed["torch"] == "1.0" and "for_dev" in installed, output
    (project / ".venv" / "begun").write_text("cpu")  # what an interrupted installation leaves
    status, output, installed = run(project, driver="580.65.06")
    assert "interrupted" in output and installed["torch"] == "1.0+cpu" and "for_dev" not in installed


def test_an_old_driver_gets_an_older_cuda(project: Path) -> None:
    status, output, installed = run(project, driver="550.54.14")
    assert status != 0 and "torch" not in installed  # PyTorch's index is not asked in this test
    assert "you require torch==1.0+cu126" in output


@pytest.mark.parametrize("changed", ["pypi/for_workflow-1.0", "pytorch/torch-1.0+cpu"])
def test_a_file_with_another_hash_is_refused(project: Path, changed: str) -> None:
    with zipfile.ZipFile(project / f"{changed}-py3-none-any.whl", "a") as archive:
        archive.writestr("added.py", "")
    status, output, installed = run(project)
    assert status != 0
    assert "Hash mismatch" in output
    assert changed.split("/")[1].split("-")[0] not in installed


def test_of_two_installations_at_once_one_waits(project: Path) -> None:
    slow = project / "bin" / "uv-slow"
    slow.write_text(f'#!/bin/sh\nsleep 0.3\nexec {(project / ".uv" / "uv").resolve()} "$@"\n')
    slow.chmod(0o755)
    (project / ".uv" / "uv").unlink()
    (project / ".uv" / "uv").symlink_to(slow)
    first = begin(project)
    while not (project / ".venv.lock").exists():
        assert first.poll() is None, end(project, first)
        time.sleep(0.01)
    second = begin(project, "--dev")
    for begun, waits in ((first, False), (second, True)):
        status, output, installed = end(project, begun)
        assert status == 0 and {"torch", "for_workflow"} <= set(installed), output
        assert ("another installation is at work" in output) == waits
        assert "interrupted" not in output


# --- the interpreter, and uv ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [(3, 7), (3, 10), (3, 11), (3, 14), (3, 15)])
@pytest.mark.parametrize("told", [True, False])
def test_setup_takes_the_versions_of_python_that_the_project_states(
    tmp_path: Path, version: tuple[int, int], told: bool
) -> None:
    for name in ("Makefile", "pyproject.toml", "uv.lock", "workflow/install.py", "workflow/setup.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python3"
    pretend = f"""import sys; sys.version_info = {(*version, 0)}
if sys.argv[1] == "-c": exec(sys.argv[2])
elif sys.argv[1] == "--version": print("Python {version[0]}.{version[1]}.0")
else: sys.argv = sys.argv[1:]; exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"),
                                    {{"__name__": "__main__", "__file__": sys.argv[0]}})
"""
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c {shlex.quote(pretend)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    for program in ("bash", "dirname", "make", "sh", "uname"):
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    # uv has no Python: what the version does not fit, nothing does; what fits is what uv is told to take
    uv = tmp_path / ".uv" / "uv"
    uv.parent.mkdir()
    uv.write_text('#!/bin/sh\n[ "$1" != venv ] || { echo "asked: $*" >&2; exit 2; }\n', encoding="utf-8")
    uv.chmod(0o755)
    ended = subprocess.run(
        ["make", "setup", "TORCH=cpu", *([f"PYTHON={python}"] if told else [])],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    accepted = SpecifierSet(PROJECT_FILE["project"]["requires-python"]).contains("{}.{}.0".format(*version))
    assert ended.returncode == 2 and ("--python" in ended.stdout) == accepted, ended.stderr
    said = ended.stderr.split("\nmake")[0]
    assert said.startswith("error: ") and "\n" not in said
    assert ("3.11 to 3.14 needed" in said) == (version >= (3, 8) or not told)
    assert accepted or not (tmp_path / ".venv").exists()


def test_without_any_python_the_distributions_package_is_named(tmp_path: Path) -> None:
    for program in ("dirname", "sh", "uname"):
        (tmp_path / program).symlink_to(str(shutil.which(program)))
    ended = subprocess.run(
        [tmp_path / "sh", ROOT / "workflow" / "setup.sh"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert re.match(r"error: Python 3.11 to 3.14 needed, no python3 found: .+ \(or install uv", ended.stderr)


def test_pips_files_and_variables_say_where_uv_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for folder, text in (
        ("shared/pip", "[global]\nindex-url = https://shared\n"),
        (
            "own/pip",
            "[global]\nindex_url = https://own\ncert = /own\nextra-index-url =\n    https://a\n    https://b\n",
        ),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "pip.conf").write_text(text, encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("PIP_FIND_LINKS", "/a /b")
    assert install.pip_settings() == {
        "UV_DEFAULT_INDEX": "https://own",
        "UV_INDEX": "https://a https://b",
        "UV_FIND_LINKS": "/a,/b",
        "SSL_CERT_FILE": "/own",
    }
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert install.pip_settings() == {"UV_FIND_LINKS": "/a,/b"}


def test_uv_is_fetched_without_pip_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = tmp_path / "served"
    served.mkdir()
    names = [
        f"uv-1.0-py3-none-{tag}.whl"
        for tag in ("manylinux_2_17_x86_64", "manylinux_2_17_aarch64", "macosx_11_0_arm64")
    ]
    for name in names:
        with zipfile.ZipFile(served / name, "w") as archive:
            archive.writestr("uv-1.0.data/scripts/uv", f"#!/bin/sh\necho {name}\n")
    handler = partial(SimpleHTTPRequestHandler, directory=str(served))
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "UV", tmp_path / ".uv" / "uv")
    monkeypatch.setattr(install.platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.sys, "executable", str(shutil.which("false")))  # no pip
    lines = "".join(
        f'    {{ url = "http://127.0.0.1:{server.server_port}/{name}", '
        f'hash = "sha256:{hashlib.sha256((served / name).read_bytes()).hexdigest()}", size = 1 }},\n'
        for name in names
    )
    lock = f'[[package]]\nname = "uv"\nversion = "1.0"\nwheels = [\n{lines}]\n\n[[package]]\n'
    (tmp_path / "uv.lock").write_text(lock, encoding="utf-8")
    try:
        install.fetch_uv(None)
        assert subprocess.check_output([install.UV], text=True) == f"{names[1]}\n"
        (served / names[1]).write_bytes(b"another")
        with pytest.raises(OSError, match=r"another SHA-256"):
            install.fetch_uv(None)
    finally:
        server.shutdown()
