"""What `make pins` calls: renew hashes, CI actions and the containers' base image.

Usage: python workflow/pins.py [--upgrade]

constraints.txt is locked again from pyproject.toml by uv; a package keeps its version unless that no longer fits, or
`--upgrade` is given. constraints-cpu.txt gets the hashes of PyTorch without CUDA. What cannot be reached keeps its pin
and costs a line.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from workflow.install import CPU_INDEX, CPU_LOCK, LOCK, block  # noqa: E402

CPU_WHEEL = r"torch-{version}%2Bcpu-cp31[123]-cp31[123]-manylinux[^#\"]*#sha256=([0-9a-f]{{64}})"
DOCKER_LOGIN = "https://auth.docker.io/token?service=registry.docker.io&scope=repository:library/{name}:pull"
DOCKER_MANIFEST = "https://registry-1.docker.io/v2/library/{name}/manifests/{tag}"
DOCKER_TYPES = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
)
SECONDS = 30

BUILD = ("setuptools", "wheel", "cmake")
"""What the project and KenLM are built with."""

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
        CPU_LOCK: lambda: renew_cpu_lock(ROOT / LOCK, ROOT / CPU_LOCK),
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
    """Lock again what pyproject.toml asks for, for every platform and every Python from 3.11 on."""
    before = lock.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        output, build = Path(folder) / LOCK, Path(folder) / "build.in"
        if not upgrade:
            # Versions alone: uv would take over hashes too, and miss files that were added since.
            output.write_text(
                "\n".join(re.findall(r"^[^\s#].*?(?= \\$)", before, re.MULTILINE)), encoding="utf-8"
            )
        build.write_text("\n".join(BUILD), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--generate-hashes",
        ]
        command += ["--python-version", "3.11", "--fork-strategy", "fewest", "--no-header", "--no-annotate"]
        command += ["--all-extras", "--group", "docs"]
        command += ["--output-file", str(output), "pyproject.toml", str(build)]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
        head = re.match(r"(?:#.*\n|\n)*", before)
        lock.write_text((head[0] if head else "") + output.read_text(encoding="utf-8"), encoding="utf-8")


def renew_cpu_lock(lock: Path, cpu_lock: Path) -> None:
    """PyTorch's build without CUDA, of the locked version, with the hashes that PyTorch's own index states."""
    version = block(lock.read_text(encoding="utf-8"), "torch").split()[0]
    page = requests.get(f"{CPU_INDEX}/torch/", timeout=SECONDS)
    page.raise_for_status()
    found = sorted(
        set(re.findall(CPU_WHEEL.format(version=re.escape(version.removeprefix("torch=="))), page.text))
    )
    if not found:
        raise LookupError(f"{page.url}: no {version}+cpu")
    head = cpu_lock.read_text(encoding="utf-8").partition("torch==")[0]
    hashes = "".join(f" \\\n    --hash=sha256:{each}" for each in found)
    cpu_lock.write_text(f"{head}{version}+cpu{hashes}\n", encoding="utf-8")


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
