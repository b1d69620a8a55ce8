"""Moses for tests: scripts and symal from the source archive, or all of it where it is built."""

import functools
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.moses.programs import TARGETS, Moses, install_eflomal, provide_programs
from tests.running import MIRROR, ROOT

BUILT = ROOT / ".moses"
"""Where the workflow puts them, too."""


def source() -> Path | None:
    """The source archive, where somebody has put it."""
    return next(iter(sorted((MIRROR / "moses").glob("*.tar.gz"))), None)


@functools.cache
def _provided() -> str | None:
    def fetch(path: Path) -> None:
        archive = source()
        if archive is None:
            raise UserError("no archive of Moses' source")
        shutil.copy(archive, path)

    try:
        provide_programs(BUILT, fetch, parallel_jobs=2)
    except UserError as error:
        return str(error)
    return None


def whole() -> Moses:
    """All of Moses, built where it is not there; fails, and says why, where that cannot be."""
    if problem := _provided():
        pytest.fail(f"{problem}; NMT_TEST_MIRROR names a folder with the archive of its source")
    return Moses(BUILT)


def aligner(folder: Path) -> Moses:
    """What word alignment needs, compiled in seconds; skips without the source archive or a compiler."""
    archive = source()
    if archive is None or not shutil.which("c++"):
        pytest.skip("the source archive of Moses and a C++ compiler are needed")
    with tarfile.open(archive) as packed:
        wanted = [m for m in packed.getmembers() if m.name.split("/")[1:2] in (["symal"], ["scripts"])]
        packed.extractall(folder / "source", wanted, filter="data")
    tree = next((folder / "source").iterdir())
    (folder / "bin").mkdir()
    parts = [str(tree / "symal" / "symal.cpp"), "-x", "c", str(tree / "symal" / "cmd.c")]
    command = ["c++", "-O1", "-w", *parts, "-o", str(folder / "bin" / "symal")]
    subprocess.run(command, check=True, capture_output=True)
    (tree / "scripts").rename(folder / "scripts")
    if (BUILT / "python").exists():
        (folder / "python").symlink_to(BUILT / "python")
    else:
        try:
            install_eflomal(folder)
        except UserError as error:
            pytest.skip(str(error))
    return Moses(folder)


def installation(root: Path) -> Path:
    """A complete installation by its names alone; returns its `bin`."""
    (root / "bin").mkdir(parents=True)
    for name in TARGETS:
        (root / "bin" / name).touch(mode=0o755)
    (root / "scripts" / "training").mkdir(parents=True)
    (root / "scripts" / "training" / "train-model.perl").touch()
    return root / "bin"
