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

HERE = Path(__file__).parent
STAMP = "installed"


class Unavailable(Exception):
    """An environment or a text could not be made; the message says why."""


@dataclass(frozen=True)
class Peer:
    """Says how a peer is installed.

    label: its name and version. package: what is installed, beside NAME.txt and without its own requirements. trial: a
    program that must run then. projects_torch: whether it runs the project's torch.
    """

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
    """Return the peer to which a contender such as `marian-int8` belongs; None for the project's own contenders."""
    name = contender.partition("-")[0]
    return name if name in PEERS else None


def ensure_all(
    contenders: Iterable[str], folder: Path, pip_options: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return each contender's interpreter, and for those without one, the reason, which is also printed."""
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
    """Return the interpreter of a peer's environment in `where`.

    The environment is made if it is missing, incomplete or of another recipe. Raises Unavailable, with pip's last line,
    if it cannot be made, for example without a network.
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
    """Return all that decides how an environment is made, as text."""
    requirements = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    return f"{PEERS[name].package}\n{requirements}{project_packages()}\n{sys.version}\n"


def project_packages() -> Path:
    """Return the folder of the project's torch, without importing torch."""
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    return Path(found.origin).parents[1]


def call(command: list[str]) -> str:
    """Return the standard output of a command. Raises Unavailable if the command fails."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = (result.stderr.strip() or result.stdout.strip()).splitlines() or ["no message"]
        raise Unavailable(f"`{' '.join(command)}` failed: {lines[-1]}")
    return result.stdout
