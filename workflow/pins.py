"""What `make pins` calls: renew hashes, CI actions and the containers' base image.

Usage: python workflow/pins.py [--upgrade]

constraints.txt is locked again from pyproject.toml by uv, for every platform and Python; a package keeps its version
unless that no longer fits, or `--upgrade` is given. What cannot be reached keeps its pin and costs a line.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from workflow.install import LOCK, sections  # noqa: E402

PYTORCH_INDEX = "https://download.pytorch.org/whl/cpu/torch/"
CPU_WHEEL = r"torch-{version}%2Bcpu-cp31[123]-cp31[123]-manylinux[^#\"]*#sha256=([0-9a-f]{{64}})"
DOCKER_LOGIN = "https://auth.docker.io/token?service=registry.docker.io&scope=repository:library/{name}:pull"
DOCKER_MANIFEST = "https://registry-1.docker.io/v2/library/{name}/manifests/{tag}"
DOCKER_TYPES = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
)
SECONDS = 30

HEADINGS = {
    "build": "what the project and KenLM are built with",
    "run": "what the project needs, but for PyTorch",
    "dev": "what tests, linters and benchmarks need",
    "torch": "PyTorch from PyPI, for Linux with CUDA",
    "cuda": "what PyTorch with CUDA needs",
    "triton": "what PyTorch with CUDA needs, and tests without it",
    "cpu": "PyTorch without CUDA for Linux, from PyTorch's own index",
}
BUILD = ("setuptools", "cmake")
CUDA = ("nvidia-", "cuda-")

Failure = (requests.RequestException, subprocess.CalledProcessError, OSError, LookupError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Each of the four on its own; returns 1 if one could not be renewed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--upgrade", action="store_true", help="newest versions of what pyproject.toml does not pin"
    )
    options = parser.parse_args(arguments)
    steps: dict[str, Callable[[], None]] = {
        LOCK: lambda: renew_lock(ROOT / LOCK, options.upgrade),
        f"{LOCK}, builds without CUDA": lambda: add_cpu_wheels(ROOT / LOCK),
        "CI actions": lambda: renew_actions(sorted((ROOT / ".github" / "workflows").glob("*.yml"))),
        "base image": lambda: renew_image(ROOT / "container" / "Dockerfile", ROOT / "container" / "nmt.def"),
    }
    failed = False
    for name, step in steps.items():
        try:
            step()
        except Failure as error:
            failed = True
            print(f"error: {name} not renewed: {reason(error)}", file=sys.stderr)
        else:
            print(f"{name}: renewed")
    return int(failed)


def reason(error: Exception) -> str:
    """What went wrong, in one line: a program's own last words, where it is that failed."""
    if isinstance(error, requests.ConnectionError) and error.request is not None:
        return f"no connection to {error.request.url!r}"
    said: str = (isinstance(error, subprocess.CalledProcessError) and error.stderr) or str(error)
    return said.strip().splitlines()[-1][:300]


def renew_lock(lock: Path, upgrade: bool) -> None:
    """Lock again what pyproject.toml asks for; versions are kept where they can be."""
    before = lock.read_text(encoding="utf-8")
    needed = {name for name, _ in blocks(compiled(["--extra", "workflow"], before, upgrade))}
    parts = dict.fromkeys(HEADINGS, "")
    for name, block in blocks(compiled(["--extra", "workflow", "--extra", "dev"], before, upgrade)):
        parts[section_of(name, needed)] += name + block
    parts["cpu"] = sections(before)["cpu"]
    if torch_version(parts["cpu"]) != f"{torch_version(parts['torch'])}+cpu":
        parts["cpu"] = ""  # until PyTorch's index has been asked
    write_lock(lock, parts)


def write_lock(lock: Path, parts: Mapping[str, str]) -> None:
    """The lock file with other sections; what stands above the first stays."""
    head = lock.read_text(encoding="utf-8").partition("# [")[0]
    body = [f"# [{name}] {heading}\n{parts[name]}" for name, heading in HEADINGS.items()]
    lock.write_text(head + "".join(body), encoding="utf-8")


def compiled(options: Sequence[str], lock: str, upgrade: bool) -> str:
    """What uv makes of pyproject.toml, for every platform and every Python from 3.11 on. Raises CalledProcessError."""
    uv = shutil.which("uv", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if uv is None:
        raise LookupError(f"uv is not installed: {sys.executable} -m pip install uv")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / LOCK
        if not upgrade:
            # Versions alone: uv would take over hashes too, and miss files that were added since.
            locked = blocks(lock.partition("# [cpu]")[0])
            versions = [name + rest.partition("\n")[0].rstrip(" \\") for name, rest in locked]
            output.write_text("\n".join(versions), encoding="utf-8")
        extra = Path(folder) / "build.in"
        extra.write_text("\n".join(BUILD), encoding="utf-8")
        command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
        command += [
            "--fork-strategy",
            "fewest",
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            *options,
        ]
        command += ["--output-file", str(output), "pyproject.toml", str(extra)]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
        return output.read_text(encoding="utf-8")


def section_of(name: str, needed: Iterable[str]) -> str:
    """The section of the lock file that a package stands in."""
    if name in BUILD:
        return "build"
    if name in ("torch", "triton"):
        return name
    if name.startswith(CUDA):
        return "cuda"
    return "run" if name in needed else "dev"


def blocks(lock: str) -> list[tuple[str, str]]:
    """Each package of a lock file: its name, and the rest of its lines."""
    return re.findall(r"^([^\s=#]+)(==.*\n(?: .*\n)*)", lock, flags=re.MULTILINE)


def torch_version(section: str) -> str:
    """The version of a section's first package, or nothing."""
    return next((rest.split()[0].strip("=") for _, rest in blocks(section)), "")


def add_cpu_wheels(lock: Path) -> None:
    """PyTorch's build without CUDA, of the same version, with the hashes that PyTorch's own index states."""
    parts = sections(lock.read_text(encoding="utf-8"))
    version = torch_version(parts["torch"])
    page = requests.get(PYTORCH_INDEX, timeout=SECONDS)
    page.raise_for_status()
    found = sorted(set(re.findall(CPU_WHEEL.format(version=re.escape(version)), page.text)))
    if not found:
        raise LookupError(f"{PYTORCH_INDEX}: no torch {version}+cpu")
    hashes = "".join(f" \\\n    --hash=sha256:{each}" for each in found)
    write_lock(lock, {**parts, "cpu": f"torch=={version}+cpu{hashes}\n"})


def renew_actions(workflows: Iterable[Path]) -> None:
    """Each action at the commit of its newest version, which stands behind it as a comment."""
    for workflow in workflows:
        text = workflow.read_text(encoding="utf-8")
        for action in sorted(set(re.findall(r"uses: ([\w.-]+/[\w.-]+)@", text))):
            command = ["git", "ls-remote", "--tags", f"https://github.com/{action}"]
            listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            version, commit = newest(listing)
            text = re.sub(rf"uses: {action}@.*", f"uses: {action}@{commit} # {version}", text)
        workflow.write_text(text, encoding="utf-8")


def newest(listing: str) -> tuple[str, str]:
    """The newest version and its commit of `git ls-remote --tags`; an annotated tag's commit is the line `TAG^{}`."""
    tags = re.findall(r"^([0-9a-f]{40})\trefs/tags/(v\d+\.\d+\.\d+)(?:\^\{\})?$", listing, flags=re.MULTILINE)
    commits = {tag: commit for commit, tag in tags}
    if not commits:
        raise LookupError("no tag of the form v1.2.3")
    version = max(commits, key=lambda tag: [int(part) for part in tag[1:].split(".")])
    return version, commits[version]


def renew_image(dockerfile: Path, definition: Path) -> None:
    """Both recipes at the digest that the Dockerfile's tag has now."""
    text = dockerfile.read_text(encoding="utf-8")
    name, tag = re.findall(r"^FROM ([\w.-]+):([\w.-]+)@", text, flags=re.MULTILINE)[0]
    login = requests.get(DOCKER_LOGIN.format(name=name), timeout=SECONDS)
    login.raise_for_status()
    headers = {"Authorization": f"Bearer {login.json()['token']}", "Accept": DOCKER_TYPES}
    answer = requests.head(DOCKER_MANIFEST.format(name=name, tag=tag), headers=headers, timeout=SECONDS)
    answer.raise_for_status()
    digest = answer.headers["Docker-Content-Digest"]
    for recipe in (dockerfile, definition):
        recipe.write_text(
            re.sub(r"@sha256:[0-9a-f]{64}", f"@{digest}", recipe.read_text(encoding="utf-8")),
            encoding="utf-8",
        )


if __name__ == "__main__":
    raise SystemExit(main())
