"""KenLM's programs for language models, from the PATH or built by cmake from the archive of PyPI's package kenlm."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.locks import wait_for_lock
from pipeline.programs import extract_archive, find_missing_tools, run_program

PROGRAMS = ("lmplz", "build_binary", "query")
REQUIREMENT = "kenlm==0.3.0"
SHA256 = "c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8"
"""Checksum of the source archive on PyPI."""

TOOLS = (
    "Debian: apt install cmake g++ make libboost-program-options-dev libboost-thread-dev libboost-system-dev "
    "libboost-test-dev; conda: cmake cxx-compiler libboost-devel"
)
"""Requirements of a build, by the names of packages."""


def provide_programs(folder: Path, jobs: int) -> str:
    """Put the programs into `folder`, unless they are there. Return where they are from.

    If several processes need the same folder, one builds and the others wait.

    Raises:
        UserError: the programs are not on the PATH, and a build is impossible or failed; the message says why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        wait_for_lock(lock.fileno(), str(folder))
        if all((folder / name).exists() for name in PROGRAMS):
            return "an earlier call"
        programs = {name: Path(path) for name in PROGRAMS if (path := shutil.which(name))}
        if len(programs) == len(PROGRAMS):
            for name, program in programs.items():
                (folder / name).unlink(missing_ok=True)
                (folder / name).symlink_to(program.absolute())
            return "the PATH"
        _build(folder, jobs)
        return f"{REQUIREMENT}'s source archive"


def problem() -> str | None:
    """Return why this machine can neither find the programs nor build them; None if it can."""
    if all(map(shutil.which, PROGRAMS)):
        return None
    absent = find_missing_tools(["cmake", "make"], ["boost/program_options.hpp", "boost/thread.hpp"])
    if not absent:
        return None
    return (
        f"lmplz: KenLM is not on the PATH, and to build it this machine lacks {', '.join(absent)} ({TOOLS})"
    )


def _build(folder: Path, jobs: int) -> None:
    if why := problem():
        raise UserError(why)
    with temporary_folder(folder, "build-") as work:
        archive = _fetch(work)
        extract_archive(archive, work)
        _configure(work / archive.name.removesuffix(".tar.gz"), work / "build")
        command = ["cmake", "--build", str(work / "build"), "--parallel", str(jobs), "--target", *PROGRAMS]
        run_program(command, "lmplz: cmake could not build KenLM's programs")
        for name in PROGRAMS:
            with atomic_path(folder / name) as copy:
                shutil.copy2(work / "build" / "bin" / name, copy)


def _fetch(folder: Path) -> Path:
    """Download the source archive with pip, which uses the user's index, mirror or proxy, and verify its checksum."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{REQUIREMENT} --hash=sha256:{SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--quiet"]
    # pip asks a source archive for its name by what is installed here, not by whatever setuptools is newest
    command += ["--no-build-isolation", "--no-binary", "kenlm", "--require-hashes"]
    command += ["--dest", str(folder), "-r", str(requirements)]
    run_program(command, f"lmplz: pip could not fetch {REQUIREMENT}")
    return next(folder.glob("kenlm-*.tar.gz"))


STATIC = ("-DBoost_USE_STATIC_LIBS=ON", "-DCMAKE_EXE_LINKER_FLAGS=-static-libgcc -static-libstdc++")


def _configure(source: Path, build: Path) -> None:
    """Prepare the build, with static libraries if possible, since the nodes of a cluster may lack the libraries."""
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCOMPILE_TESTS=OFF", "-DENABLE_INTERPOLATE=OFF"]
    command = ["cmake", "-S", str(source), "-B", str(build), *options]
    problem = f"lmplz: cmake could not prepare the build of KenLM's programs; it needs Boost ({TOOLS})"
    try:
        run_program([*command, *STATIC], problem)
    except UserError:
        shutil.rmtree(build, ignore_errors=True)
        run_program(command, problem)
