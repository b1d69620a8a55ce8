"""Moses' programs and scripts, from an installation on the PATH or a build of the pinned source archive.

The word aligner eflomal, a Python package that only this part needs, is installed beside them.
"""

import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import commit_file, sha256, temporary_folder
from nmt.io.locks import open_exclusively
from nmt.io.progress import clear_progress
from nmt.io.system import last_output_line
from pipeline.programs import explain_missing_tools, extract_archive, run_program

REPEATABLE_ENVIRONMENT = {"LC_ALL": "C", "PERL_HASH_SEED": "0"}
"""With these variables, Perl's hashes have the same order in each run, and so do the lines of the tables."""

TARGETS = {
    "moses": "moses-cmd//moses",
    "mert": "mert//mert",
    "extractor": "mert//extractor",
    "kbmira": "mert//kbmira",
    "pro": "mert//pro",
    "evaluator": "mert//evaluator",
    "symal": "symal//symal",
    "extract": "phrase-extract//extract",
    "score": "phrase-extract//score",
    "consolidate": "phrase-extract//consolidate",
    "lexical-reordering-score": "phrase-extract/lexical-reordering//lexical-reordering-score",
}
"""The programs by the names in Moses' scripts, each with its target of the build."""

PACKAGES = (
    "Debian: apt install g++ make perl libboost-all-dev zlib1g-dev libbz2-dev liblzma-dev; "
    "conda: cxx-compiler make perl libboost-devel zlib bzip2 xz"
)

SOURCE_SHA256 = "84be1e9c786a86c346f3d56839f42d49bc43c352fb5d47fd20b60797c4a4e26f"
"""Checksum of the files of Moses' commit 34452895. The archive itself has none, since it is packed on demand. In the
unpacked folder: find . -type f -not -path './contrib/*' | LC_ALL=C sort | xargs sha256sum | sha256sum"""

EFLOMAL = "eflomal==2.0.0 --hash=sha256:b71183dcf85bf4f59f44ef7a59f5268df1c17c0c8d8093f77b220025ffdba100"
"""eflomal with the checksum of its source archive on PyPI, which pip compiles."""
BUILD_REQUIREMENTS = "setuptools==84.2.1\nwheel==0.48.0\nnumpy==2.4.6\nCython==3.3.1\n"
"""The packages that build eflomal. eflomal itself does not fix their versions."""


@dataclass(frozen=True)
class Moses:
    """A folder with Moses: programs in `bin`, and in `scripts` the scripts that call them."""

    root: Path

    def program(self, name: str) -> str:
        """Return a program's absolute path."""
        return self._find_path("bin", name)

    def script(self, name: str) -> str:
        """Return a script's absolute path, by its name under `scripts`."""
        return self._find_path("scripts", name)

    def import_eflomal(self) -> Any:
        """Return the Python package of the word aligner."""
        folder = self._find_path("python")
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            return importlib.import_module("eflomal")
        except ImportError as error:
            raise UserError(
                f"{folder}: no eflomal for this Python ({error}); remove {self.root} and run again"
            ) from None

    def _find_path(self, *names: str) -> str:
        """Return the absolute path of a file or folder. Raise a UserError if it is missing, or its path has a space."""
        path = self.root.absolute().joinpath(*names)
        if not path.exists():
            raise UserError(f"{path}: no such file; remove {self.root}, and the rule moses_programs makes it")
        if " " in str(path.resolve()):
            raise UserError(f"{path}: Moses' scripts fail if the name of a folder has a space; move it")
        return str(path)


def reset_moses_log(job_log: str) -> Path:
    """Return the path of an empty log for the many messages of Moses' programs, next to the log of a job."""
    path = Path(job_log).with_suffix(".moses.log")
    path.unlink(missing_ok=True)
    return path.absolute()


def run_logged(
    command: Sequence[str],
    log: Path,
    problem: str,
    folder: Path,
    source: Path | None = None,
    output: Path | None = None,
) -> None:
    """Run a program with much output, which goes into a log.

    Args:
        command: the program and its arguments.
        log: the file to which the program's messages are added.
        problem: the start of the error message.
        folder: the working directory of the program.
        source: the file for its standard input; None: no input.
        output: the file for its standard output; None: the log.

    Raises:
        UserError: the program failed. The error message contains the last line of its output, and the log's name.
    """
    with (
        log.open("ab") as messages,
        Path(source or os.devnull).open("rb") as input_file,
        Path(output or os.devnull).open("wb") as output_file,
    ):
        start = messages.tell()
        process = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **REPEATABLE_ENVIRONMENT},
            stdin=input_file,
            stdout=output_file if output else messages,
            stderr=messages,
            check=False,
        )
    if process.returncode:
        with log.open("rb") as messages:
            messages.seek(start)
            last_line = last_output_line(messages.read().decode(errors="replace"))
        program = Path(command[0]).name
        raise UserError(f"{problem}: {program} ended with code {process.returncode}: {last_line} (see {log})")


def provide_programs(folder: Path, fetch: Callable[[Path], object], parallel_jobs: int) -> str:
    """Put `bin`, `scripts` and `python` into a folder, unless they are there.

    Returns the origin of the programs: the PATH, or the checksum of the source that they were built from.

    If several processes call this with the same folder, one builds and the others wait.

    Args:
        folder: where the programs, the scripts, and the Python package of the word aligner are put.
        fetch: downloads the archive of Moses' source to a path, if it is needed.
        parallel_jobs: parallel compilations.

    Raises:
        UserError: Moses is not on the PATH, and its build failed.
    """
    with open_exclusively(folder / "lock"):
        if not (folder / "python").exists():
            install_eflomal(folder)

        if not _is_complete(folder):
            with temporary_folder(folder, "build-") as work_folder:
                installation = _find_installation()
                if not installation:
                    fetch(folder / "source.tar.gz")
                    _build_programs(folder / "source.tar.gz", work_folder, parallel_jobs)
                for name in ("bin", "scripts"):
                    if installation:
                        (work_folder / name).symlink_to(installation / name)
                    shutil.rmtree(folder / name, ignore_errors=True)  # a folder
                    (folder / name).unlink(missing_ok=True)  # or a link
                    commit_file(work_folder / name, folder / name)
    return "the PATH" if (folder / "scripts").is_symlink() else SOURCE_SHA256


def _is_complete(root: Path) -> bool:
    """Return whether a folder has all of Moses' programs, and its scripts."""
    files = [*(f"bin/{name}" for name in TARGETS), "scripts/training/train-model.perl"]
    return all((root / file).exists() for file in files)


def _find_installation() -> Path | None:
    """Return the folder of the installation that the PATH's moses belongs to, or None if it is not complete."""
    moses = shutil.which("moses")
    if moses is None:
        return None
    installation = Path(os.path.realpath(moses)).parent.parent  # without bin/moses
    return installation if _is_complete(installation) else None


def install_eflomal(folder: Path) -> None:
    """Install eflomal into `folder/python` by pip, which knows the user's index and compares the checksum."""
    with temporary_folder(folder, "build-") as work_folder:
        requirements = work_folder / "requirements.txt"
        requirements.write_text(f"{EFLOMAL}\n", encoding="utf-8")
        constraints = work_folder / "build-constraints.txt"
        constraints.write_text(BUILD_REQUIREMENTS, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        command += ["--no-deps", "--require-hashes", "--no-binary", "eflomal"]
        command += ["--target", str(work_folder / "python")]
        command += ["-r", str(requirements), "--build-constraint", str(constraints)]
        run_program(command, "eflomal: pip could not build it (it needs a C compiler and make)")
        commit_file(work_folder / "python", folder / "python")


def explain_missing_moses() -> str | None:
    """Return why this machine can neither find Moses nor build it, or None if it can."""
    if _find_installation():
        return None
    headers = ["boost/filesystem.hpp", "boost/program_options.hpp", "boost/thread.hpp"]
    headers += ["zlib.h", "bzlib.h", "lzma.h"]
    return explain_missing_tools("moses", ["perl", "make"], headers, PACKAGES)


def _build_programs(source: Path, folder: Path, parallel_jobs: int) -> None:
    """Compile the programs of the source archive, and put them and the scripts into a folder."""
    tree = _unpack_source(source, folder)
    clear_progress()  # the 100% of the download, since the compilation may take half an hour

    # compile, with the Boost of a conda environment if there is one
    command = ["./bjam", f"-j{parallel_jobs}", "-q", "--no-xmlrpc-c"]
    conda = os.environ.get("CONDA_PREFIX")
    if conda and Path(conda, "include/boost").exists():
        command.append(f"--with-boost={conda}")
    command += TARGETS.values()
    run_program(command, f"moses: its build failed; it needs {PACKAGES}", tree)

    # bjam leaves a program under the folder of its target, by compiler and variant
    (folder / "bin").mkdir()
    for name, target in TARGETS.items():
        build_folder = tree / target.split("//")[0] / "bin"
        (program,) = (path for path in build_folder.rglob(name) if path.is_file())
        shutil.copy2(program, folder / "bin" / name)
    (tree / "scripts").rename(folder / "scripts")


def _unpack_source(source: Path, folder: Path) -> Path:
    """Unpack the source archive, and return the folder in it.

    Raises:
        UserError: the archive is damaged, or contains a different commit.
    """
    with errors_as_user_error(source, tarfile.TarError, remedy="download it again"):
        extract_archive(source, folder)
    tree = next((path for path in folder.iterdir() if path.is_dir()), folder)
    if _compute_checksum(tree) != SOURCE_SHA256:
        raise UserError(f"{source}: files that differ from Moses' commit 34452895; download it again")
    return tree


def _compute_checksum(tree: Path) -> str:
    """Return the SHA-256 of a list with checksum and name of each file. `contrib`, which is not built, is left out."""
    line_of_name = {}
    for path in tree.rglob("*"):
        name = f"./{path.relative_to(tree)}"
        if path.is_file() and not path.is_symlink() and not name.startswith("./contrib/"):
            line_of_name[name] = f"{sha256(path)}  {name}\n"  # a line of the program sha256sum
    listing = "".join(line_of_name[name] for name in sorted(line_of_name))
    return hashlib.sha256(listing.encode()).hexdigest()
