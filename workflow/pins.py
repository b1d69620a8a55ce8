"""Renew uv.lock, CI actions and the containers' base image. `make pins` calls this.

Usage: python workflow/pins.py [--upgrade]

uv locks the requirements of pyproject.toml again. A package keeps its version if it still fits, unless `--upgrade` is
given. What cannot be reached keeps its pin, and a line says so.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from workflow.install import Uv  # noqa: E402

DOCKER_LOGIN = "https://auth.docker.io/token?service=registry.docker.io&scope=repository:library/{name}:pull"
DOCKER_MANIFEST = "https://registry-1.docker.io/v2/library/{name}/manifests/{tag}"
DOCKER_TYPES = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
)
SECONDS = 30

Failure = (requests.RequestException, subprocess.CalledProcessError, OSError, LookupError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Renew each of the three on its own. Return 1 if one could not be renewed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--upgrade", action="store_true", help="newest versions of what pyproject.toml does not pin"
    )
    options = parser.parse_args(arguments)
    steps: dict[str, Callable[[], None]] = {
        "uv.lock": lambda: renew_lock(options.upgrade),
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
    """Return what went wrong in one line: the last line of a program that failed, or the error itself."""
    if isinstance(error, requests.ConnectionError) and error.request is not None:
        return f"no connection to {error.request.url!r}"
    said: str = (isinstance(error, subprocess.CalledProcessError) and error.stderr) or str(error)
    return said.strip().splitlines()[-1][:300]


def renew_lock(upgrade: bool) -> None:
    """Renew the lock file for every platform and every Python that pyproject.toml names."""
    Uv().run("lock", *(["--upgrade"] if upgrade else []))


def renew_actions(workflows: Iterable[Path]) -> None:
    """Pin each action at the commit of its newest version, with the version in a comment."""
    for workflow in workflows:
        text = workflow.read_text(encoding="utf-8")
        for action in sorted(set(re.findall(r"uses: ([\w.-]+/[\w.-]+)@", text))):
            command = ["git", "ls-remote", "--tags", f"https://github.com/{action}"]
            listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            version, commit = newest(listing)
            text = re.sub(rf"uses: {action}@.*", f"uses: {action}@{commit} # {version}", text)
        workflow.write_text(text, encoding="utf-8")


def newest(listing: str) -> tuple[str, str]:
    """Return the newest version and its commit from `git ls-remote --tags` (of an annotated tag, `TAG^{}`)."""
    tags = re.findall(r"^([0-9a-f]{40})\trefs/tags/(v\d+\.\d+\.\d+)(?:\^\{\})?$", listing, flags=re.MULTILINE)
    commits = {tag: commit for commit, tag in tags}
    if not commits:
        raise LookupError("no tag of the form v1.2.3")
    version = max(commits, key=lambda tag: [int(part) for part in tag[1:].split(".")])
    return version, commits[version]


def renew_image(dockerfile: Path, definition: Path) -> None:
    """Pin both recipes at the current digest of the Dockerfile's tag."""
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
