"""Check that this machine's GPU computes correctly, and measure its speed: `make gpu-check`, about ten minutes.

Usage: python -m benchmarks.gpu_check [--device cuda|cpu] [--tiny] [--only CHECK ...] [--output FOLDER]

Each check runs in a process of its own, with a time limit. The report is printed, and written as gpu_check.md and
gpu_check.json. The exit code is 1 if a check failed. Without a GPU nothing runs, and the report says so. With
`--device cpu --tiny`, a processor makes the checks that it can make, at tiny sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from benchmarks.findings import RESULTS, ROOT, hardware, make_parser, write
from benchmarks.gpu_checks import CHECKS, Setup

SECONDS = 600
"""The time limit of one check."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the checks and report them. Return 1 if a check failed, else 0."""
    options = parse(arguments)
    setup = Setup(options.device, options.tiny, options.pip_options)
    found: dict[str, Any] = {}
    for name in options.only:
        begin = time.monotonic()
        found[name] = made(name, setup) | {"seconds": round(time.monotonic() - begin, 1)}
        print(f"{name}: {found[name]['result']}", file=sys.stderr, flush=True)
    whole = {"machine": machine(setup), "checks": found}
    text = report(whole)
    print(text)
    output = options.output or (RESULTS if available(setup) and not setup.tiny else None)
    if output is not None:
        write(output / "gpu_check.json", whole)
        (output / "gpu_check.md").write_text(text + "\n", encoding="utf-8")
    return int(any(check["result"] == "failed" for check in found.values()))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = make_parser("benchmarks.gpu_check", __doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a few units instead of the paper's sizes")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), metavar="CHECK")
    parser.add_argument(
        "--output", type=Path, help="folder of the report (benchmarks/results if there is a GPU)"
    )
    parser.add_argument("--pip-options", default="", help="for making JoeyNMT's environment, as one argument")
    return parser.parse_args(arguments)


def available(setup: Setup) -> bool:
    """Return whether this machine has the device."""
    return setup.device == "cpu" or torch.cuda.is_available()


def made(name: str, setup: Setup) -> dict[str, Any]:
    """Make a check in a process of its own. Return its result, with its figures or the reason."""
    if not available(setup):
        return {"result": "not run", "reason": "no GPU"}
    command = [sys.executable, "-m", "benchmarks.gpu_checks", name, json.dumps(asdict(setup))]
    try:
        code, output, errors = _run(command, SECONDS)
    except subprocess.TimeoutExpired:
        return {"result": "failed", "reason": f"took longer than {SECONDS} seconds"}
    lines = output.strip().splitlines()
    if code or not lines:
        said = (errors.strip().splitlines() or ["nothing was said"])[-1]
        return {"result": "failed", "reason": f"{shlex.join(command[:4])}: {said}"}
    values: dict[str, Any] = json.loads(lines[-1])
    return values


def _run(command: Sequence[str], seconds: float) -> tuple[int, str, str]:
    """Return a command's exit status, output and errors. After so many seconds it is killed with all it has started."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, output, errors


def machine(setup: Setup) -> dict[str, Any]:
    """Return the processor, the GPU and the version of PyTorch, in words."""
    found = hardware() | {"device": setup.device, "tiny": setup.tiny, "gpu": None}
    if setup.device == "cuda" and torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        found |= {"gpu": properties.name, "gpu_bytes": properties.total_memory, "cuda": torch.version.cuda}
    return found


def report(whole: dict[str, Any]) -> str:
    """Return the report as Markdown: the result of each check, and all figures."""
    about, checks = whole["machine"], whole["checks"]
    results = [check["result"] for check in checks.values()]
    tally = ", ".join(f"{results.count(kind)} {kind}" for kind in ("passed", "failed", "not run"))
    where = about["gpu"] or ("no GPU" if about["device"] == "cuda" else about["processor"])
    sizes = ", at tiny sizes" if about["tiny"] else ""
    lines = [f"# GPU check: {tally}", "", f"{where}, PyTorch {about['torch']}{sizes}", ""]
    lines += ["| check | result | seconds | |", "|---|---|---|---|"]
    for name, check in checks.items():
        meaning = (CHECKS[name].__doc__ or "").strip()
        lines.append(f"| {name} | {check['result']} | {check['seconds']} | {check.get('reason', meaning)} |")
    for name, check in checks.items():
        if figures := flat(check.get("figures", {})):
            lines += ["", f"## {name}", "", "| figure | |", "|---|---|"]
            lines += [f"| {key} | {value} |" for key, value in figures.items()]
    return "\n".join(lines)


def flat(figures: dict[str, Any], before: str = "") -> dict[str, str]:
    """Return nested figures as text, without those that are None. A name has its outer names before it."""
    found: dict[str, str] = {}
    for key, value in figures.items():
        if isinstance(value, dict):
            found |= flat(value, f"{before}{key}, ")
        elif value is not None:
            found[before + key] = f"{value:.4g}" if isinstance(value, float) else str(value)
    return found


if __name__ == "__main__":
    sys.exit(main())
