"""Programs of others: runs them, and extracts archives of their source code."""

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
    """Run a program to its end, in a working directory if one is given.

    Raises:
        UserError: the program failed. The message is `problem` and the first line of its output that has an error.
    """
    result = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode:
        raise UserError(f"{problem}: {_find_first_error(result.stdout)}")


def _find_first_error(output: str) -> str:
    """Return the first line of an output that reports an error or, if there is none, the last line."""
    # "error" as a word of its own, since a compiler also prints names of files such as error_code.hpp; then the words
    # of a linker
    pattern = r"\berrors?\b|\bld: cannot find\b|undefined reference"
    error_lines = [line for line in output.split("\n") if re.search(pattern, line, re.IGNORECASE)]
    return last_output_line(error_lines[0] if error_lines else output)


def explain_missing_tools(
    program: str, tools: Sequence[str], headers: Sequence[str], packages: str
) -> str | None:
    """Return why this machine cannot build a program, or None if it has what is needed and a C++ compiler.

    Args:
        program: the name of the program.
        tools: the programs that the build needs.
        headers: the files that the build includes, of the libraries that it needs.
        packages: the names of the packages that have all of this, for the message.
    """
    missing_tools = [tool for tool in tools if not shutil.which(tool)]
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler:
        # Libraries may also be in a conda environment, or where Homebrew puts them on Apple silicon: cmake looks there
        # by itself, but a compiler does not.
        folders = [os.environ.get("CONDA_PREFIX", ""), "/opt/homebrew"]
        options = ["-M", "-x", "c++", *(f"-I{folder}/include" for folder in folders)]
        for header in headers:
            # the source is an empty file (os.devnull)
            if query_program(compiler, *options, "-include", header, os.devnull) is None:
                missing_tools.append(header)
    else:
        missing_tools.append("a C++ compiler")

    if not missing_tools:
        return None
    missing_names = ", ".join(missing_tools)
    return f"{program}: not on the PATH, and to build it this machine lacks {missing_names} ({packages})"


def extract_archive(archive: Path, folder: Path) -> None:
    """Extract a tar archive of source code into a folder.

    Raises:
        tarfile.TarError: it is damaged, or a member is outside of the folder (not checked by Python before 3.11.4).
    """
    with tarfile.open(archive) as tar:
        # "data" refuses members outside of the folder; older versions of Python ignore the attribute
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)
