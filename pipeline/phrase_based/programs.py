"""Moses' programs and scripts, from an installation on the PATH or a build of the pinned source archive.

The word aligner eflomal, a Python package that only this part needs, is installed beside them.
"""

from __future__ import annotations

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

from nmt.errors import UserError
from nmt.io.files import sha256, temporary_folder
from nmt.io.locks import wait_for_lock
from nmt.io.system import last_output_line
from pipeline.programs import extract_archive, find_missing_tools, run_program

REPEATABLE = {"LC_ALL": "C", "PERL_HASH_SEED": "0"}
"""Without these variables, the order of a table's lines would depend on the order of Perl's hashes."""

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


SOURCE = "84be1e9c786a86c346f3d56839f42d49bc43c352fb5d47fd20b60797c4a4e26f"
"""Checksum of the files of Moses' commit 34452895, since its archive is packed on demand and has none of its own. In
the unpacked folder: find . -type f -not -path './contrib/*' | LC_ALL=C sort | xargs sha256sum | sha256sum"""

EFLOMAL = "eflomal==2.0.0 --hash=sha256:b71183dcf85bf4f59f44ef7a59f5268df1c17c0c8d8093f77b220025ffdba100"
"""eflomal with the checksum of its source archive on PyPI, which pip compiles."""
BUILT_BY = "setuptools==84.2.1\nwheel==0.48.0\nnumpy==2.4.6\nCython==3.3.1\n"
"""What eflomal's build needs, of which it states no versions."""


@dataclass(frozen=True)
class Moses:
    """A folder with Moses: its programs in `bin`, and its scripts in `scripts`, which look for the programs there."""

    root: Path

    @classmethod
    def from_build_file(cls, build: str) -> Moses:
        """Return the folder of the file that says what was built."""
        return cls(Path(build).parent)

    def program(self, name: str) -> str:
        """Return a program's absolute path."""
        return self._existing("bin", name)

    def script(self, name: str) -> str:
        """Return a script's absolute path, by its place under `scripts`."""
        return self._existing("scripts", name)

    def eflomal(self) -> Any:
        """Return the word aligner, a Python package."""
        folder = self._existing("python")
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            return importlib.import_module("eflomal")
        except ImportError as error:
            raise UserError(
                f"{folder}: no eflomal for this Python ({error}); remove {self.root} and run again"
            ) from None

    def _existing(self, *parts: str) -> str:
        path = self.root.absolute().joinpath(*parts)
        if not path.exists():
            raise UserError(f"{path}: no such file; remove {self.root}, and the rule moses_programs makes it")
        if " " in str(path.resolve()):
            raise UserError(
                f"{path}: Moses' scripts cannot work where a folder has a space in its name; move it"
            )
        return str(path)


def reset_moses_log(log: str) -> Path:
    """Return an empty file beside a job's log for what Moses' programs say, which is much."""
    path = Path(log).with_suffix(".moses.log")
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
        log: file to which its messages are added.
        problem: message for a failure.
        folder: its working directory.
        source: file for its standard input.
        output: file for its standard output; None: the log.

    Raises:
        UserError: it failed. The message contains its last line and the log's name.
    """
    with (
        log.open("ab") as messages,
        Path(source or os.devnull).open("rb") as given,
        Path(output or os.devnull).open("wb") as taken,
    ):
        start = messages.tell()
        code = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **REPEATABLE},
            stdin=given,
            stdout=taken if output else messages,
            stderr=messages,
            check=False,
        ).returncode
    if code:
        with log.open("rb") as messages:
            messages.seek(start)
            said = last_output_line(messages.read().decode(errors="replace"))
        raise UserError(f"{problem}: {Path(command[0]).name} ended with code {code}: {said} (see {log})")


def provide_programs(folder: Path, fetch: Callable[[Path], object], jobs: int) -> str:
    """Put `bin`, `scripts` and `python` into `folder`, unless they are there. Return their origin.

    Of several processes that want the same folder, one builds and the others wait.

    Args:
        folder: gets the programs, the scripts, and the Python package of the word aligner.
        fetch: downloads the archive of Moses' source to a path, if it is needed.
        jobs: parallel compilations.

    Raises:
        UserError: neither on the PATH nor to be built; the message says what is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        wait_for_lock(lock.fileno(), str(folder))
        if not (folder / "python").exists():
            install_eflomal(folder)
        made = all((folder / "bin" / name).exists() for name in TARGETS) and (folder / "scripts").exists()
        if made and not (folder / "bin").is_symlink():
            return "an earlier call"
        installed = on_path()
        if installed:
            for name in ("bin", "scripts"):
                _clear(folder / name)
            # no link to the whole folder: Snakemake removes what a rule makes, and that would be the user's own program
            (folder / "bin").mkdir()
            for name in (*(f"bin/{program}" for program in TARGETS), "scripts"):
                (folder / name).symlink_to(installed / name)
            return f"the PATH ({installed})"
        source = folder / "source.tar.gz"
        if why := explain_missing_moses():
            raise UserError(why)
        fetch(source)
        _build(folder, source, jobs)
        return "its source"


def on_path() -> Path | None:
    """Return the installation that the PATH's moses belongs to, if it is complete."""
    moses = shutil.which("moses")
    root = Path(os.path.realpath(moses)).parent.parent if moses else None
    complete = root and all((root / "bin" / name).exists() for name in TARGETS)
    return root if root and complete and (root / "scripts/training/train-model.perl").exists() else None


def install_eflomal(folder: Path) -> None:
    """Install eflomal by pip, so that a user's index, mirror or proxy is asked, and compare its checksum."""
    with temporary_folder(folder, "build-") as work:
        requirements, built_by = work / "requirements.txt", work / "built-by.txt"
        requirements.write_text(f"{EFLOMAL}\n", encoding="utf-8")
        built_by.write_text(BUILT_BY, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        command += ["--no-deps", "--require-hashes", "--no-binary", "eflomal", f"--target={work / 'python'}"]
        run_program(
            [*command, "-r", str(requirements), "--build-constraint", str(built_by)],
            "eflomal: pip could not build it (it needs a C compiler and make)",
        )
        (work / "python").rename(folder / "python")


def explain_missing_moses() -> str | None:
    """Return why this machine can neither find Moses nor build it; None if it can."""
    absent = (
        []
        if on_path()
        else find_missing_tools(["perl", "make"], ["boost/thread.hpp", "zlib.h", "bzlib.h", "lzma.h"])
    )
    if not absent:
        return None
    return f"moses: not on the PATH, and to build it this machine lacks {', '.join(absent)} ({PACKAGES})"


def _build(folder: Path, source: Path, jobs: int) -> None:
    with temporary_folder(folder, "build-") as work:
        tree = _unpack(source, work)
        bjam, conda = ["./bjam", f"-j{jobs}", "-q", "--no-xmlrpc-c"], os.environ.get("CONDA_PREFIX", "")
        if conda and Path(conda, "include/boost").exists():
            bjam.append(f"--with-boost={conda}")
        run_program([*bjam, *TARGETS.values()], f"moses: its build failed; it needs {PACKAGES}", tree)
        (work / "bin").mkdir()
        for name, target in TARGETS.items():
            # bjam leaves a program under the folder of its target, by compiler and variant
            (built,) = (path for path in (tree / target.split("//")[0] / "bin").rglob(name) if path.is_file())
            shutil.copy2(built, work / "bin" / name)
        for name, made in (("bin", work / "bin"), ("scripts", tree / "scripts")):
            _clear(folder / name)
            made.rename(folder / name)


def _unpack(source: Path, folder: Path) -> Path:
    """Return the folder in the archive with the source."""
    try:
        extract_archive(source, folder)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UserError(f"{source}: no whole archive of Moses' source ({error}); download it again") from None
    tree = next((path for path in folder.iterdir() if path.is_dir()), folder)
    if _checksum(tree) != SOURCE:
        raise UserError(f"{source}: other files than those of Moses' commit 34452895; download it again")
    return tree


def _checksum(tree: Path) -> str:
    """Return the checksum of the names and checksums of files, without `contrib`, which is not built."""
    files = {
        f"./{path.relative_to(tree)}": path
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    lines = [
        f"{sha256(files[name])}  {name}\n" for name in sorted(files) if not name.startswith("./contrib/")
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
