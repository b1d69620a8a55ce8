"""What `make setup` and the containers call: install the project into the environment of this interpreter.

Usage: python workflow/install.py [--dev] [--torch REQUIREMENT] [option of pip]...

Every package, build tools included, has the version of constraints.txt and one of its hashes; pip refuses other files.
`--torch "torch==2.13.0+cu126"` takes another build of PyTorch, of unknown hash; pip's options name the index.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = "constraints.txt"


def main(arguments: Sequence[str] | None = None) -> int:
    """Install; returns the exit status of the first pip that failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--dev", action="store_true", help="also what tests and linters need; the project is editable"
    )
    parser.add_argument("--torch", metavar="REQUIREMENT", help="another build of PyTorch, its hash unchecked")
    options, pip_options = parser.parse_known_args(arguments)
    try:
        install(Installer(pip_options), dev=options.dev, torch=options.torch)
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


class Installer:
    """pip in the environment of this interpreter, with the sections of the lock file."""

    def __init__(self, options: Sequence[str]) -> None:
        self.command = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        self.options = list(options)
        self.sections = sections((ROOT / LOCK).read_text(encoding="utf-8"))
        # Nothing is built in an environment of its own, whose packages pip would not check: build tools are found here.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        self.environment = {**os.environ, "PATH": path}

    def offers_cpu_build(self) -> bool:
        """Whether an index or folder that pip looks into has the locked build of PyTorch without CUDA."""
        build = re.match(r"torch==(\S+)", self.sections["cpu"])
        command = [*self.command, "index", "versions", "torch", *self.options]
        listing = subprocess.run(
            command, check=False, capture_output=True, text=True, env=self.environment
        ).stdout
        return build is not None and build[1] in re.split(r"[\s,()]+", listing)

    def pip(self, *arguments: str) -> None:
        """Run pip; raises CalledProcessError when it fails."""
        subprocess.run([*self.command, *arguments], check=True, cwd=ROOT, env=self.environment)

    def locked(self, *names: str) -> None:
        """Install sections of the lock file."""
        with tempfile.TemporaryDirectory() as folder:
            requirements = Path(folder) / "requirements.txt"
            requirements.write_text("".join(self.sections[name] for name in names), encoding="utf-8")
            checked = ("--require-hashes", "--no-deps", "--no-build-isolation")
            self.pip("install", *self.options, *checked, "-r", str(requirements))


def install(installer: Installer, dev: bool, torch: str | None) -> None:
    """Build tools first; then PyTorch without CUDA where an index offers that, as pip itself would choose."""
    installer.locked("build")
    installer.locked("run", *(["dev"] if dev else []))
    if torch is None:
        build = ["cpu"] if installer.offers_cpu_build() else ["torch", "cuda"]
        installer.locked(*build, *(["triton"] if dev or "cuda" in build else []))
    else:
        installer.pip("install", *installer.options, torch)
    installer.pip(
        "uninstall", "--quiet", "--yes", "cmake"
    )  # built KenLM; the system's is the one to find from now on
    project = ["--editable", "."] if dev else ["."]
    installer.pip("install", "--no-index", "--no-deps", "--no-build-isolation", *project)
    installer.pip("check")


def sections(lock: str) -> dict[str, str]:
    """The requirements below each heading `# [name] ...` of the lock file."""
    _, *parts = re.split(r"^# \[(\w+)\].*\n", lock, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
