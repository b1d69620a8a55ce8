"""KenLM's programs: built from the pinned archive, or taken from the PATH."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nmt import kenlm_programs
from nmt.errors import UserError
from nmt.kenlm_programs import PROGRAMS, provide
from tests import kenlm
from tests.running import ROOT


def test_both_programs_are_there_and_run() -> None:
    folder = kenlm.programs()
    for name in PROGRAMS:
        result = subprocess.run([folder / name, "--help"], capture_output=True, text=True, check=False)
        assert "arpa" in (result.stdout + result.stderr)
    assert provide(folder, 1) == "already there"
    assert {path.name for path in folder.iterdir()} == {*PROGRAMS, "lock"}


def test_programs_on_the_path_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tmp_path / "bin"
    found.mkdir()
    for name in PROGRAMS:
        (found / name).write_text(f"#!/bin/sh\necho {name}\n")
        (found / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(found), prepend=os.pathsep)
    assert provide(tmp_path / "ours", 1) == "the PATH"
    assert subprocess.check_output([tmp_path / "ours" / "lmplz"], text=True) == "lmplz\n"


def test_what_a_build_needs_is_said_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"cmake and a C\+\+ compiler is missing \(Debian: apt install cmake"):
        provide(tmp_path / "ours", 1)
    assert not (tmp_path / "ours" / "lmplz").exists()


def test_another_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kenlm-0.3.0.tar.gz").write_bytes(b"another")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(kenlm_programs, "on_path", lambda: None)
    monkeypatch.setattr(kenlm_programs, "missing_tools", lambda: [])
    with pytest.raises(UserError, match=r"pip could not fetch kenlm==0\.3\.0"):
        provide(tmp_path / "ours", 1)
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["lock"]


PROJECT = """\
cmake_minimum_required(VERSION 3.10)
project(probe CXX)
find_package(Boost REQUIRED COMPONENTS program_options)
if (Boost_USE_STATIC_LIBS AND REFUSE)
  message(FATAL_ERROR "static libraries are not here")
endif ()
add_executable(probe probe.cc)
target_link_libraries(probe Boost::program_options)
"""
PROBE = """\
#include <boost/program_options.hpp>
int main() { boost::program_options::options_description("probe").add_options()("help", "help"); }
"""


@pytest.mark.parametrize("static", [True, False])
def test_programs_bring_their_libraries_where_these_are_there_to_be_linked_in(
    tmp_path: Path, static: bool
) -> None:
    source, build = tmp_path / "source", tmp_path / "build"
    source.mkdir()
    refuse = "" if static else "set(REFUSE ON)\n"
    (source / "CMakeLists.txt").write_text(PROJECT.replace("find_", f"{refuse}find_", 1), encoding="utf-8")
    (source / "probe.cc").write_text(PROBE, encoding="utf-8")
    try:
        kenlm_programs._configure(source, build)
    except (UserError, FileNotFoundError) as error:
        pytest.skip(str(error))
    subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
    needed = subprocess.check_output(["ldd", build / "probe"], text=True)
    if static and not any(Path("/usr/lib").rglob("libboost_program_options.a")):
        pytest.skip("Boost's static libraries are not installed")
    assert ("libboost" in needed, "libstdc++" in needed) == (not static, not static)


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    """The first holds the folder, puts the programs there and lets go; the second then finds them."""
    first = (
        "import sys, time; from pathlib import Path; from nmt import kenlm_programs as k\n"
        f"folder = Path({str(tmp_path / 'ours')!r}); folder.mkdir()\n"
        "with k._alone(folder):\n"
        "    print('holding', flush=True); time.sleep(1)\n"
        "    [(folder / name).write_text('') for name in k.PROGRAMS]\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", first], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        assert provide(tmp_path / "ours", 1) == "already there"
        assert process.wait() == 0


def test_the_version_is_that_of_the_package() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert kenlm_programs.REQUIREMENT in pins.split("\n")
    assert re.fullmatch("[0-9a-f]{64}", kenlm_programs.SHA256)
