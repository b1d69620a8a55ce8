"""Install the packages of uv.lock into .venv by uv. workflow/setup.sh calls this.

Usage: python workflow/install.py [--dev] [--torch BUILD] [--python PYTHON]
       python workflow/install.py --group docs

Runs on Python 3.8 and later: where that is none for the project, uv brings one. Every package, uv and build tools
included, has the version and one of the hashes of uv.lock, and comes from where pip is configured to look. BUILD is a
build of PyTorch: `cpu`, `cuda` (what PyPI has; on a Mac without CUDA), or one of PyTorch's index such as `cu126`, whose
hash is not checked. Without `--torch`, the installed build stays; the first installation takes the one that the
machine's NVIDIA driver can run.
"""

from __future__ import annotations

import argparse
import configparser
import fcntl
import hashlib
import os
import platform
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BEGUN = VENV / "begun"
"""A file that exists during an installation and holds the build of PyTorch."""
UV = ROOT / ".uv" / "uv"
FITS = (3, 11) <= sys.version_info < (3, 15)
UNFIT = 3
"""Exit status if there is no Python for the project."""
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA_13_DRIVER = 580
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
"""Settings of pip by the variables that tell uv the same."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, and return the exit status of the first program that failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--dev", action="store_true", help="also what tests and linters need")
    parser.add_argument("--torch", metavar="BUILD", help="cpu, cuda, or one of PyTorch's index such as cu126")
    parser.add_argument("--group", help="nothing but a dependency group of pyproject.toml")
    parser.add_argument("--python", help="the interpreter is this one; unless told, any that fits")
    options = parser.parse_args(arguments)
    if options.python and not FITS:
        return UNFIT
    try:
        with alone():
            uv = Uv()
            if options.group:
                uv.install(uv.export("--only-group", options.group))
                return 0
            return install(uv, options.dev, options.torch)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr, end="")
        return error.returncode
    except (OSError, configparser.Error) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def install(uv: Uv, dev: bool, told: str | None) -> int:
    """Install the environment, PyTorch, the rest of the lock file for this machine, and the project."""
    started = time.monotonic()
    build = told or remembered() or fitting_build()
    if BEGUN.exists():
        tell("an earlier installation was interrupted: starting again")
        shutil.rmtree(VENV)
    if not (VENV / "bin" / "python").exists():
        try:
            chosen = ["--python", getattr(sys, "_base_executable", sys.executable)] if FITS else []
            uv.run("venv", "--quiet", *chosen, str(VENV))
        except subprocess.CalledProcessError as error:
            tell(f"uv has no Python either: {' '.join(error.stderr.split())[:300]}")
            return UNFIT
    BEGUN.write_text(build, encoding="utf-8")
    groups = ["--group", "workflow", *(["--group", "dev"] if dev else [])]
    tell("packages, half a minute or so")
    if build == "cpu":
        build = cpu_build(uv, uv.export(*groups, "--extra", "cpu"))
    elif build != "cuda":
        torch, rest = split(uv.export(*groups, "--extra", "cpu"))
        version = torch.partition(" ")[0].partition("+")[0]
        tell(f"PyTorch, build {build}, its hash unchecked")
        uv.install(rest, "--torch-backend", build, f"{version}+{build}", checked=False)
        uv.install(rest)
    if build == "cuda":
        # not a build of that version that has a name of its own, which a folder or index of pip's may have, too
        uv.install(re.sub("^torch==", "torch===", uv.export(*groups), flags=re.MULTILINE))
    uv.pip("install", "--no-deps", "--no-build-isolation", "--editable", ".")
    uv.pip("check")
    BEGUN.unlink()
    for stamp in ("installed", "installed-dev")[: 1 + dev]:
        (VENV / stamp).touch()
    tell(f"done in {time.monotonic() - started:.0f} s, with PyTorch's build {remembered()}")
    return 0


def remembered() -> str | None:
    """Return the build of PyTorch that is installed, or that an interrupted installation began with."""
    if BEGUN.exists():
        return BEGUN.read_text(encoding="utf-8") or None
    for path in VENV.glob("lib/python*/site-packages/torch-*.dist-info"):
        return path.name[: -len(".dist-info")].partition("+")[2] or "cuda"
    return None


def fitting_build() -> str:
    """Return the build of PyTorch that this machine can run: docs/cluster.md#gpus.

    uv's own choice, `--torch-backend=auto`, takes Intel's XPU build for any graphics of Intel, and for drivers below
    560 an index that has no such version.
    """
    if not sys.platform.startswith("linux"):
        return "cuda"
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        version = subprocess.run(query, capture_output=True, text=True, check=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        tell("no NVIDIA driver: PyTorch without CUDA (for GPUs elsewhere: make setup TORCH=cuda)")
        return "cpu"
    return "cuda" if int(re.findall(r"\d+", version)[0]) >= CUDA_13_DRIVER else "cu126"


def cpu_build(uv: Uv, requirements: str) -> str:
    """Install PyTorch without CUDA from where pip looks, else from PyTorch's index. Return the build that was taken."""
    torch, rest = split(requirements)
    for index in ([], ["--index", CPU_INDEX]):
        try:
            uv.install(torch, *index, "--dry-run")
        except subprocess.CalledProcessError as error:
            problem = str(error.stderr)
        else:
            uv.install(torch, *index)  # what fails here, half written, is not tried again
            uv.install(rest)
            return "cpu"
    reason = problem.strip().splitlines()[-1].strip()
    tell(f"{CPU_INDEX} does not give it ({reason}): PyTorch as PyPI has it, on Linux with CUDA, 2.7 GB")
    return "cuda"


def split(requirements: str) -> tuple[str, str]:
    """Return the lines of PyTorch, and all others."""
    lines = re.compile(r"^torch==.*\n(?: .*\n)*", flags=re.MULTILINE)
    return "".join(lines.findall(requirements)), lines.sub("", requirements)


class Uv:
    """The program uv: an earlier download, the user's if it can read the lock file, or else a new download.

    It asks where pip is configured to ask.
    """

    def __init__(self) -> None:
        # Bytecode now: where Python writes none later (images set PYTHONDONTWRITEBYTECODE, folders are read-only), each
        # of the hundreds of processes of a run would compile PyTorch or pandas anew, which takes a second or two.
        settings = pip_settings()
        own = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_COMPILE_BYTECODE": "1", **settings}
        self.environment = {**own, **os.environ}
        home = Path.home()
        for found in (UV, shutil.which("uv"), home / ".local" / "bin" / "uv", home / ".cargo" / "bin" / "uv"):
            self.program = str(found)
            try:
                self.export("--only-group", "setup")
            except (OSError, subprocess.CalledProcessError):
                continue
            return
        fetch_uv(settings.get("SSL_CERT_FILE"))
        self.program = str(UV)

    def run(self, *arguments: str) -> str:
        """Run a command in the project's folder and return its output. Raises CalledProcessError if it fails."""
        command = [self.program, *arguments]
        return subprocess.run(
            command, check=True, cwd=ROOT, env=self.environment, capture_output=True, text=True
        ).stdout

    def export(self, *chosen: str) -> str:
        """Return the requirements of the lock file, with hashes."""
        form = ["--no-emit-project", "--no-annotate", "--no-header"]
        return self.run("export", "--quiet", "--frozen", "--no-default-groups", *form, *chosen)

    def pip(self, command: str, *arguments: str) -> None:
        """Run `uv pip` for .venv."""
        self.run("pip", command, "--quiet", "--python", str(VENV / "bin" / "python"), *arguments)

    def install(self, requirements: str, *arguments: str, checked: bool = True) -> None:
        """Install these, or (unless `checked`) what the arguments name, as far as these say its version."""
        path = VENV / "requirements.txt"
        path.write_text(requirements, encoding="utf-8")
        listed = ["--no-deps", "--require-hashes", "-r"] if checked else ["-c"]
        self.pip("install", *listed, str(path), "-b", str(path), *arguments)


def pip_settings() -> dict[str, str]:
    """Return pip's configured indexes as uv's variables. Later files win, and variables win over files."""
    home = Path.home()
    shared = [Path(folder, "pip") for folder in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", "pip")
    folders = [*shared, Path("/etc"), home / ".pip", home / "Library" / "Application Support" / "pip", own]
    told = os.environ.get("PIP_CONFIG_FILE", "")
    parser = configparser.RawConfigParser()
    if told != os.devnull:
        parser.read(
            [*(folder / "pip.conf" for folder in [*folders, Path(sys.prefix)]), told], encoding="utf-8"
        )
    values: dict[str, str] = {}
    for section in ("global", "install"):
        if parser.has_section(section):
            values.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    settings = {}
    for key, name in UV_NAMES.items():
        value = os.environ.get("PIP_" + key.upper().replace("-", "_")) or values.get(key)
        if value:
            settings[name] = ("," if key == "find-links" else " ").join(value.split())
    return settings


def fetch_uv(certificates: str | None) -> None:
    """Install the locked version by pip, or without pip from its address on PyPI."""
    (lines,) = re.findall(
        r'^name = "uv"\n(?:.+\n)*', (ROOT / "uv.lock").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    version = re.findall(r'^version = "(\S+)"', lines, flags=re.MULTILINE)[0]
    hashes = {url: sha256 for url, sha256 in re.findall(r'url = "(\S+\.whl)", hash = "sha256:(\w+)"', lines)}
    tell(f"uv {version}")
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder, "uv.txt")
        requirements.write_text(
            " ".join([f"uv=={version}", *(f"--hash=sha256:{sha256}" for sha256 in hashes.values())])
        )
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ]
        command += ["--only-binary=:all:", "--require-hashes", "--dest", folder, "-r", str(requirements)]
        if subprocess.run(command, capture_output=True).returncode == 0:
            (wheel,) = Path(folder).glob("*.whl")
        else:
            system = {"Linux": "manylinux", "Darwin": "macosx"}.get(platform.system(), platform.system())
            fitting = [url for url in hashes if re.search(rf"-{system}.*_{platform.machine()}\.whl$", url)]
            if not fitting:
                raise OSError(f"uv: none for {platform.system()} on {platform.machine()}")
            trusted = ssl.create_default_context(cafile=certificates)
            with urllib.request.urlopen(fitting[0], timeout=60, context=trusted) as answer:
                data = answer.read()
            if hashlib.sha256(data).hexdigest() != hashes[fitting[0]]:
                raise OSError(f"{fitting[0]}: another SHA-256 than in uv.lock")
            wheel = Path(folder, "uv.whl")
            wheel.write_bytes(data)
        UV.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(".data/scripts/uv")]
            part = UV.with_name("part")
            part.write_bytes(archive.read(name))
        part.chmod(0o755)
        part.replace(UV)


@contextmanager
def alone() -> Iterator[None]:
    """Wait while another installs here; file systems without locks are trusted."""
    with (ROOT / ".venv.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("another installation is at work here: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass
        yield


def tell(what: str) -> None:
    """Print a line about the stage that begins."""
    print(f"setup: {what}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
