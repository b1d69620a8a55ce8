"""The authors' own code, GroundHog: its conversion for a Python of today, the environment in which it runs, and a call.

GroundHog (lisa-groundhog/GroundHog, BSD licence) is written for Python 2 and Theano. Here it is cloned, converted by
lib2to3, and run with Aesara, Theano's successor. Nothing else of it is changed but `CORRECTIONS`.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.running import ROOT

ADDRESS = "https://github.com/lisa-groundhog/GroundHog"
COMMIT = "4d2433b6ff03da63f3619ecb3e8c501901779cdb"
SOURCE = os.environ.get("NMT_TEST_GROUNDHOG", ADDRESS)
"""A git repository with this commit: an address or a folder."""
PACKAGES = ["aesara==2.9.4", "numpy==1.23.5", "scipy==1.10.1", "tables==3.8.0", "setuptools==75.8.0"]
"""NumPy 1.23 is the last one that makes arrays of lists of different lengths, as GroundHog does."""

FOLDER = ROOT / ".groundhog"
CODE, ENVIRONMENT, COMPILED = FOLDER / "code", FOLDER / "environment", FOLDER / "compiled"
PYTHON = ENVIRONMENT / "bin" / "python"
PROGRAMS = Path(__file__).parent / "programs"

CORRECTIONS = {
    # a tab counted as eight spaces
    "groundhog/trainer/SGD_adadelta.py": [(r"^\t", " " * 8)],
    # the quotient of two integers was an integer
    "experiments/nmt/sample.py": [(r" / voc_size", " // voc_size"), (r"\(seq\) / 2", "(seq) // 2")],
    # lib2to3 renames methods `next` only if they have no arguments
    "experiments/nmt/encdec.py": [
        (r"def next\(self, peek", "def __next__(self, peek"),
        (r"Iterator\.next", "Iterator.__next__"),
    ],
}
"""What Python 3 reads differently and lib2to3 does not see: regular expressions and what takes the place of a match."""


def run_program(name: str, *arguments: object) -> None:
    """Run one of `PROGRAMS` in GroundHog's environment. The test fails with the end of its output if it fails."""
    environment = os.environ | {
        "PYTHONPATH": str(CODE),
        "OMP_NUM_THREADS": "1",
        "AESARA_FLAGS": ",".join(
            [
                "floatX=float32",
                "mode=FAST_COMPILE",
                "on_unused_input=ignore",
                "traceback__limit=0",
                # a sum over all weights would become one sum of more terms than NumPy can add at once
                "optimizer_excluding=local_add_canonizer",
                f"base_compiledir={COMPILED}",
            ]
        ),
    }
    command = [str(PYTHON), str(PROGRAMS / name), *map(str, arguments)]
    result = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if result.returncode:
        pytest.fail(f"{name}: {result.stdout[-4000:]}")


def prepare() -> None:
    """Clone, convert and install, unless this has been done with the same commit and packages."""
    finished = FOLDER / "finished"
    wanted = "\n".join([COMMIT, *PACKAGES, repr(CORRECTIONS)])
    if finished.exists() and finished.read_text() == wanted:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    clone()
    install()
    convert()
    finished.write_text(wanted)


def clone() -> None:
    """Put the files of the commit into `CODE`."""
    call(
        ["git", "clone", "--quiet", "--no-checkout", SOURCE, str(CODE)],
        f"GroundHog cannot be cloned from {SOURCE}; NMT_TEST_GROUNDHOG names another address or a folder",
    )
    call(
        ["git", "-C", str(CODE), "checkout", "--quiet", COMMIT],
        f"{SOURCE} has no commit {COMMIT}",
    )


def install() -> None:
    """Make the environment with Aesara. lib2to3 is a part of Python 3.11, and is missing since Python 3.13."""
    uv = str(ROOT / ".uv" / "uv")
    call(
        [uv, "venv", "--quiet", "--python", "3.11", str(ENVIRONMENT)],
        "GroundHog needs Python 3.11, which is neither here nor could be downloaded",
    )
    call(
        [uv, "pip", "install", "--quiet", "--python", str(PYTHON), *PACKAGES],
        f"packages cannot be installed: {', '.join(PACKAGES)}",
    )


def convert() -> None:
    """Convert the code for Python 3."""
    folders = [str(CODE / name) for name in ("groundhog", "experiments")]
    call(
        [str(PYTHON), "-W", "ignore", "-m", "lib2to3", "--write", "--nobackups", *folders],
        "lib2to3 cannot convert GroundHog",
    )
    for name, corrections in CORRECTIONS.items():
        path = CODE / name
        text = path.read_text()
        for pattern, replacement in corrections:
            text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
            assert count, f"{name}: {pattern} is not there"
        path.write_text(text)


def call(command: list[str], problem: str) -> None:
    """Run a command. If it fails, the test fails in one line, with the line of the output that names the error."""
    try:
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    except FileNotFoundError:
        pytest.fail(f"{problem} ({command[0]} is missing)", pytrace=False)
    if result.returncode:
        lines = [line.strip() for line in result.stdout.splitlines()]
        errors = [line for line in lines if line.startswith(("error", "fatal", "×"))]
        pytest.fail(f"{problem} ({(errors or lines or [''])[-1]})", pytrace=False)
