"""The programs of KenLM for language models: found on the PATH, or built from the source archive of PyPI's package."""

import shutil
import sys
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.locks import open_exclusively
from pipeline.programs import explain_missing_tools, extract_archive, run_program

PROGRAMS = ("lmplz", "build_binary", "query")
PYPI_PACKAGE = "kenlm==0.3.0"
SHA256 = "c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8"
"""Checksum of the source archive on PyPI."""

PACKAGES = (
    "Debian: apt install cmake g++ make libboost-program-options-dev libboost-thread-dev libboost-system-dev "
    "libboost-test-dev; conda: cmake cxx-compiler libboost-devel"
)
"""The packages that a build needs."""


def provide_programs(folder: Path, parallel_jobs: int) -> str:
    """Put the programs into a folder, unless they are there. Return their origin: the PATH, or PyPI's package.

    If several processes need the same folder, one builds and the others wait.

    parallel_jobs: the number of processes that compile.

    Raises:
        UserError: the programs are not on the PATH, and their build failed.
    """
    with open_exclusively(folder / "lock"):
        if not all((folder / name).exists() for name in PROGRAMS):
            if all(map(shutil.which, PROGRAMS)):
                for name in PROGRAMS:
                    (folder / name).unlink(missing_ok=True)
                    (folder / name).symlink_to(Path(str(shutil.which(name))).absolute())
            else:
                _build_programs(folder, parallel_jobs)
    return "the PATH" if (folder / PROGRAMS[0]).is_symlink() else PYPI_PACKAGE


def explain_missing_programs() -> str | None:
    """Return why this machine can neither find the programs nor build them, or None if it can."""
    if all(map(shutil.which, PROGRAMS)):
        return None
    headers = ["boost/program_options.hpp", "boost/thread.hpp"]
    return explain_missing_tools("lmplz", ["cmake", "make"], headers, PACKAGES)


def _build_programs(folder: Path, parallel_jobs: int) -> None:
    """Build the programs in a temporary folder, and copy them to `folder`."""
    with temporary_folder(folder, "build-") as work_folder:
        # 1. the source code
        archive = _download_archive(work_folder)
        extract_archive(archive, work_folder)

        # 2. the build
        build_folder = work_folder / "build"
        _configure_build(work_folder / archive.name.removesuffix(".tar.gz"), build_folder)
        command = ["cmake", "--build", str(build_folder), "--parallel", str(parallel_jobs), "--target"]
        command += PROGRAMS
        run_program(command, "lmplz: cmake could not build KenLM's programs")

        # 3. its programs
        for name in PROGRAMS:
            with atomic_path(folder / name) as copy:
                shutil.copy2(build_folder / "bin" / name, copy)


def _download_archive(folder: Path) -> Path:
    """Download the source archive with pip, which uses the user's index, mirror or proxy, and verify its checksum."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PYPI_PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--quiet"]
    # pip runs setuptools to read the name of a source archive: without build isolation it runs the installed version,
    # not the newest one.
    command += ["--no-build-isolation", "--no-binary", "kenlm", "--require-hashes"]
    command += ["--dest", str(folder), "-r", str(requirements)]
    run_program(command, f"lmplz: pip could not fetch {PYPI_PACKAGE}")
    return next(folder.glob("kenlm-*.tar.gz"))


def _configure_build(source: Path, build: Path) -> None:
    """Prepare the build, with static libraries if possible, since the nodes of a cluster may lack the libraries."""
    static_options = [
        "-DBoost_USE_STATIC_LIBS=ON",
        "-DCMAKE_EXE_LINKER_FLAGS=-static-libgcc -static-libstdc++",
    ]
    command = ["cmake", "-S", str(source), "-B", str(build)]
    command += ["-DCMAKE_BUILD_TYPE=Release", "-DCOMPILE_TESTS=OFF", "-DENABLE_INTERPOLATE=OFF"]
    problem = f"lmplz: cmake could not prepare the build of KenLM's programs; it needs Boost ({PACKAGES})"
    try:
        run_program(command + static_options, problem)
    except UserError:
        shutil.rmtree(build, ignore_errors=True)
        run_program(command, problem)
