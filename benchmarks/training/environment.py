"""The peers' own environments, made by the benchmarks: `benchmarks/.joeynmt`, `.sockeye` and `.marian`.

A peer's requirements must not reach the project's environment. JoeyNMT must run the same torch as the project, or the
contest would be between two torches: its environment goes on to the project's packages (one line in a .pth file), so
that what is installed there comes first, and torch and numpy, which are not, are the project's.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
STAMP = "installed"


class Unavailable(Exception):
    """The environment could not be made; the message says why."""


@dataclass(frozen=True)
class Peer:
    """What is installed without its own pins, beside those of NAME.txt; what then can be imported; whose torch."""

    label: str
    package: str
    trial: str
    projects_torch: bool = False


PEERS = {
    "joeynmt": Peer(
        "JoeyNMT 2.3.0", "joeynmt==2.3.0", "import joeynmt.builders, joeynmt.model, torch; print(torch.__file__)", True
    ),
    "sockeye": Peer("Sockeye 1.18.106", "sockeye==1.18.106", "import mxnet, sockeye"),
    "marian": Peer("Marian 1.12.42", "pymarian==1.12.42", "import pymarian"),
}  # fmt: skip


def peer_of(contender: str) -> str | None:
    """The peer that a contender such as `marian-int8` is of; None for the project's own."""
    name = contender.partition("-")[0]
    return name if name in PEERS else None


def ensure_all(
    contenders: Iterable[str], folder: Path, pip_options: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Each contender's interpreter, and why others have none; says so."""
    pythons, missing = dict[str, str](), dict[str, str]()
    for name in contenders:
        peer = peer_of(name)
        try:
            pythons[name] = sys.executable if peer is None else str(ensure(peer, folder, pip_options))
        except Unavailable as error:
            missing[name] = str(error)
            print(f"Going on without {name}: {error}", file=sys.stderr, flush=True)
    return pythons, missing


def ensure(name: str, where: Path, pip_options: list[str]) -> Path:
    """The interpreter of a peer's environment in `where`; it is made unless it is there, whole, and of this recipe.

    Raises Unavailable, with pip's last line, when it cannot be made: without a network, for instance.
    """
    peer, folder = PEERS[name], where / f".{name}"
    python, stamp, wanted = folder / "bin" / "python", folder / STAMP, recipe(name)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and python.exists():
        return python
    if folder.exists():
        shutil.rmtree(folder)
    print(f"Making the environment of {peer.label} in {folder}", file=sys.stderr, flush=True)
    call([sys.executable, "-m", "venv", str(folder)])
    if peer.projects_torch:
        packages = next(folder.glob("lib/python*/site-packages"))
        (packages / "project.pth").write_text(f"{project_packages()}\n", encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *pip_options]
    call([*pip, "-r", str(HERE / f"{name}.txt")])
    call([*pip, "--no-deps", peer.package])
    tried = call([str(python), "-c", peer.trial])
    if (
        peer.projects_torch
        and (torch := Path(tried.strip().splitlines()[-1])).parents[1] != project_packages()
    ):
        raise Unavailable(f"its torch is {torch}, not the project's: remove {folder} and try again")
    stamp.write_text(wanted, encoding="utf-8")
    return python


def recipe(name: str) -> str:
    """Everything that an environment is made from."""
    requirements = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    return f"{PEERS[name].package}\n{requirements}{project_packages()}\n{sys.version}\n"


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
