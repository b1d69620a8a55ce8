"""What `make setup` and the containers call: install the project into the environment of this interpreter, by uv.

Usage: python workflow/install.py [--dev] [--torch BUILD]
       python workflow/install.py --group docs

Every package, uv and build tools included, has the version of constraints.txt and one of its hashes. BUILD of PyTorch:
`cpu`, `cuda` (what PyPI has; on a Mac without CUDA), or one of PyTorch's index such as `cu126`, of unknown hash; unless
told, the one that the machine's NVIDIA driver can run. What pip's configuration says of indexes holds for uv too.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = "constraints.txt"
CPU_LOCK = "constraints-cpu.txt"
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
    """Install; returns the exit status of the first program that failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--dev", action="store_true", help="also what tests and linters need; the project is editable"
    )
    parser.add_argument("--torch", metavar="BUILD", help="cpu, cuda, or one of PyTorch's index such as cu126")
    parser.add_argument("--group", help="nothing but a dependency group of pyproject.toml")
    options = parser.parse_args(arguments)
    try:
        if options.group:
            uv("install", "--require-hashes", "-c", LOCK, "--group", options.group)
        else:
            install(options.dev, options.torch or fitting_build())
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr, end="")
        return error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


def install(dev: bool, build: str) -> None:
    """uv, then PyTorch, then what else the lock file has for this machine, then the project."""
    started = time.monotonic()
    lock = (ROOT / LOCK).read_text(encoding="utf-8")
    tell("uv")
    run("-m", "pip", "install", "--require-hashes", "-r", "/dev/stdin", text=block(lock, "uv"))
    constraints = ["-c", LOCK, "-b", LOCK]
    if build == "cpu" and cpu_build():
        constraints += ["-c", CPU_LOCK]
    elif build not in ("cpu", "cuda"):
        tell(f"PyTorch, build {build}, its hash unchecked")
        uv("install", "-c", LOCK, "--torch-backend", build, f"{block(lock, 'torch').split()[0]}+{build}")
    tell("everything else: a minute or two, in which KenLM is compiled")
    checked = ["--require-hashes"] if build in ("cpu", "cuda") else []
    extras = ["--extra", "workflow", *(["--extra", "dev"] if dev else [])]
    uv("install", *checked, *constraints, "-r", "pyproject.toml", *extras)
    project = ["--editable", "."] if dev else ["--reinstall-package", "nmt-repro", "."]
    uv("install", "--no-deps", "-b", LOCK, *project)
    uv("check")
    importlib.invalidate_caches()
    tell(f"done in {time.monotonic() - started:.0f} s, with PyTorch {importlib.metadata.version('torch')}")


def fitting_build() -> str:
    """The build of PyTorch that this machine can run: docs/cluster.md#gpus.

    uv's own choice, `--torch-backend=auto`, takes Intel's XPU build for any graphics of Intel, and for drivers below
    560 an index that has no such version.
    """
    if not sys.platform.startswith("linux"):
        return "cuda"
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        version = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        tell("no NVIDIA driver: PyTorch without CUDA (for GPUs elsewhere: make setup TORCH=cuda)")
        return "cpu"
    return "cuda" if int(re.findall(r"\d+", version)[0]) >= CUDA_13_DRIVER else "cu126"


def cpu_build() -> bool:
    """Install PyTorch without CUDA from where pip looks, else from PyTorch's index; whether one has it."""
    for index in ([], ["--index", CPU_INDEX]):
        command = ["install", "--no-deps", "--require-hashes", *index, "-r", CPU_LOCK]
        try:
            uv(*command, "--dry-run")
        except subprocess.CalledProcessError as error:
            problem = str(error.stderr)
        else:
            uv(*command)  # what fails here, half written, is not tried again
            return True
    reason = problem.strip().splitlines()[-1].strip()
    tell(f"{CPU_INDEX} does not give it ({reason}): PyTorch as PyPI has it, on Linux with CUDA, 2.7 GB")
    return False


def block(lock: str, name: str) -> str:
    """A package's lines of a lock file."""
    found = re.search(rf"^{name}==.*\n(?: .*\n)*", lock, flags=re.MULTILINE)
    assert found is not None
    return found[0]


def uv(*arguments: str) -> None:
    """Run `uv pip`, which asks where pip is configured to ask; raises CalledProcessError when it fails."""
    command = ["-m", "uv", "pip", arguments[0], "--quiet", "--python", sys.executable, *arguments[1:]]
    run(*command, **pip_settings())


@cache
def pip_settings() -> dict[str, str]:
    """What pip's configuration says of indexes, as uv's variables; of two places pip lists the stronger first."""
    # Bytecode now: where Python writes none later (images set PYTHONDONTWRITEBYTECODE, folders are read-only), each of
    # the hundreds of processes of a run would compile PyTorch or pandas anew, which takes a second or two.
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_COMPILE_BYTECODE": "1"}
    listing = run("-m", "pip", "config", "list")
    for key, value in re.findall(r"^\S+\.([a-z-]+)=(.*)$", listing, flags=re.MULTILINE):
        if key in UV_NAMES:
            separator = "," if key == "find-links" else " "
            settings.setdefault(UV_NAMES[key], separator.join(str(ast.literal_eval(value)).split()))
    return settings


def run(*arguments: str, text: str | None = None, **environment: str) -> str:
    """Run this interpreter in the project's folder; what it prints. Raises CalledProcessError when it fails."""
    command = [sys.executable, *arguments]
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment, **os.environ}
    ended = subprocess.run(
        command, check=True, cwd=ROOT, env=environment, input=text, capture_output=True, text=True
    )
    return ended.stdout


def tell(what: str) -> None:
    """A line about the stage that begins."""
    print(f"setup: {what}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
