"""The peers' environments: `benchmarks/.joeynmt`, `.sockeye` and `.marian`, which the benchmarks make.

A peer's requirements must not change the project's environment. But JoeyNMT must run the project's torch, or the
contest would be between two versions of torch. So a .pth file in its environment adds the project's packages after its
own. torch and numpy are not installed there, so they are the project's.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
STAMP = "installed"
"""The file that an environment has when all is installed. It holds the recipe."""


class EnvironmentUnavailable(Exception):
    """An environment could not be made; the message says why."""


@dataclass(frozen=True)
class Peer:
    """Says how a peer is installed.

    label: its name and version. package: the requirement that is installed after those of NAME.txt, without its own
    requirements. trial: a program that must then run. uses_project_torch: whether the peer runs the project's torch,
    whose path the trial prints.
    """

    label: str
    package: str
    trial: str
    uses_project_torch: bool = False


PEERS = {
    "joeynmt": Peer(
        "JoeyNMT 2.3.0",
        "joeynmt==2.3.0",
        "import joeynmt.builders, joeynmt.model, torch; print(torch.__file__)",
        uses_project_torch=True,
    ),
    "sockeye": Peer("Sockeye 1.18.106", "sockeye==1.18.106", "import mxnet, sockeye"),
    "marian": Peer("Marian 1.12.42", "pymarian==1.12.42", "import pymarian"),
}


def find_peer(contender: str) -> str | None:
    """Return the peer to which a contender such as `marian-int8` belongs; None for the project's own contenders."""
    name = contender.split("-")[0]
    return name if name in PEERS else None


def prepare_environments(
    contenders: Iterable[str], folder: Path, pip_options: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the interpreter of each contender, and the reason for each contender that has none, which is printed."""
    interpreters = {}
    missing_reasons = {}
    for name in contenders:
        peer = find_peer(name)
        try:
            interpreters[name] = prepare_environment(peer, folder, pip_options) if peer else sys.executable
        except EnvironmentUnavailable as error:
            missing_reasons[name] = str(error)
            print(f"Going on without {name}: {error}", file=sys.stderr, flush=True)
    return interpreters, missing_reasons


def prepare_environment(name: str, parent: Path, pip_options: list[str]) -> str:
    """Return the interpreter of a peer's environment in the parent folder.

    The environment is made if it is missing, incomplete or of another recipe. Raises EnvironmentUnavailable, with pip's
    last line, if it cannot be made, for example without a network.
    """
    peer = PEERS[name]
    folder = parent / f".{name}"
    python = folder / "bin" / "python"
    stamp = folder / STAMP
    recipe = describe_recipe(name)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe and python.exists():
        return str(python)

    # 1. an empty environment, in which the project's packages come after its own
    if folder.exists():
        shutil.rmtree(folder)
    print(f"Making the environment of {peer.label} in {folder}", file=sys.stderr, flush=True)
    run_command([sys.executable, "-m", "venv", str(folder)])
    project_packages = find_project_packages()
    if peer.uses_project_torch:
        packages = next(folder.glob("lib/python*/site-packages"))
        (packages / "project.pth").write_text(f"{project_packages}\n", encoding="utf-8")

    # 2. the peer
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *pip_options]
    run_command([*pip, "-r", str(FOLDER / f"{name}.txt")])
    run_command([*pip, "--no-deps", peer.package])

    # 3. try it
    output = run_command([str(python), "-c", peer.trial])
    if peer.uses_project_torch:
        torch = Path(output.strip().splitlines()[-1])  # .../site-packages/torch/__init__.py
        if torch.parents[1] != project_packages:
            raise EnvironmentUnavailable(
                f"its torch is {torch}, not the project's: remove {folder} and try again"
            )
    stamp.write_text(recipe, encoding="utf-8")
    return str(python)


def describe_recipe(name: str) -> str:
    """Return, as text, everything that decides how an environment is made."""
    requirements = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return f"{PEERS[name].package}\n{requirements}{find_project_packages()}\n{sys.version}\n"


def find_project_packages() -> Path:
    """Return the folder of the project's torch, without importing torch."""
    torch = importlib.util.find_spec("torch")
    assert torch is not None and torch.origin is not None
    return Path(torch.origin).parents[1]


def run_command(command: list[str]) -> str:
    """Return the standard output of a command. Raises EnvironmentUnavailable if the command fails."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        messages = result.stderr.strip() or result.stdout.strip() or "no message"
        raise EnvironmentUnavailable(f"`{' '.join(command)}` failed: {messages.splitlines()[-1]}")
    return result.stdout
