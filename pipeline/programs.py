"""Programs of others: how they are run, and how the archives of their source code are unpacked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.io.system import last_output_line, query_program


def run_program(command: Sequence[str], problem: str, folder: Path | None = None) -> None:
    """Run a program to its end.

    Raises:
        UserError: it failed. The message is `problem`, and the first line of its output with an error.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise UserError(f"{problem}: {_first_error(done.stdout)}")


def _first_error(output: str) -> str:
    # as a word: a compiler names files such as error_code.hpp before it says what is wrong; a linker says "cannot find"
    error = r"\berrors?\b|\bld: cannot find\b|undefined reference"
    errors = (line for line in output.split("\n") if re.search(error, line, re.IGNORECASE))
    return last_output_line(next(errors, output))


def find_missing_tools(tools: Sequence[str], headers: Sequence[str]) -> list[str]:
    """Return which of the tools, and the C++ headers (with a compiler), a build would not find on this machine."""
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    absent = [name for name in tools if not shutil.which(name)]
    if compiler is None:
        return [*absent, "a C++ compiler"]
    for header in headers:
        # the folders of a conda environment are known to cmake and to conda's own compiler
        search = [f"-I{os.environ['CONDA_PREFIX']}/include"] if os.environ.get("CONDA_PREFIX") else []
        command = [compiler, *search, "-x", "c++", "-E", "-include", header, "-o", os.devnull, os.devnull]
        if query_program(*command) is None:
            absent.append(header)
    return absent


def extract_archive(archive: Path, folder: Path) -> None:
    """Write the files of a tar archive of source code below a folder.

    Raises:
        tarfile.TarError: it is damaged, or a member is outside of the folder (not checked by Python before 3.11.4).
    """
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
