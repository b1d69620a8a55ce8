"""JoeyNMT's own environment, made by the benchmark: `benchmarks/.joeynmt`, 300 MB, under a minute.

JoeyNMT's requirements must not reach the project's environment, but both must run the same torch, or the contest
would be between two torches. So this is a virtual environment whose path goes on to the project's packages (one line
in a .pth file): what is installed here comes first, and torch and numpy, which are not, are the project's. pip sees
the project's packages too and installs only what is missing or does not fit.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("joeynmt.txt")
JOEYNMT = "joeynmt==2.3.0"
STAMP = "installed"
TRIAL = "import joeynmt.builders, joeynmt.model, torch; print(torch.__file__)"


class Unavailable(Exception):
    """The environment could not be made; the message says why."""


def ensure(folder: Path, pip_options: list[str]) -> Path:
    """The environment's interpreter; the environment is made unless it is there, whole, and of this recipe.

    Raises Unavailable, with pip's last line, when it cannot be made: without a network, for instance.
    """
    python = folder / "bin" / "python"
    stamp, wanted = folder / STAMP, recipe()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and python.exists():
        return python
    if folder.exists():
        shutil.rmtree(folder)
    print(f"Making JoeyNMT's environment in {folder}", file=sys.stderr, flush=True)
    call([sys.executable, "-m", "venv", str(folder)])
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "project.pth").write_text(f"{project_packages()}\n", encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *pip_options]
    call([*pip, "-r", str(REQUIREMENTS)])
    call([*pip, "--no-deps", JOEYNMT])
    torch = Path(call([str(python), "-c", TRIAL]).strip().splitlines()[-1])
    if torch.parents[1] != project_packages():
        raise Unavailable(f"its torch is {torch}, not the project's: remove {folder} and try again")
    stamp.write_text(wanted, encoding="utf-8")
    return python


def recipe() -> str:
    """Everything that the environment is made from."""
    requirements = REQUIREMENTS.read_text(encoding="utf-8")
    return f"{JOEYNMT}\n{requirements}{project_packages()}\n{sys.version}\n"


def project_packages() -> Path:
    """The folder that holds the project's torch, found without importing it."""
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    return Path(found.origin).parents[1]


def call(command: list[str]) -> str:
    """Standard output of a command that must succeed."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = (result.stderr.strip() or result.stdout.strip()).splitlines() or ["no message"]
        raise Unavailable(f"`{' '.join(command)}` failed: {lines[-1]}")
    return result.stdout
