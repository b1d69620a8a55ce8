"""The programs of KenLM: built from the pinned archive, or found on the PATH."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from pipeline.kenlm import PACKAGES, PROGRAMS, PYPI_PACKAGE, _configure_build, provide_programs
from pipeline.programs import explain_missing_tools
from tests import kenlm


def test_provided_programs_run():
    folder = kenlm.programs()
    for name in PROGRAMS:
        result = subprocess.run([folder / name, "--help"], capture_output=True, text=True, check=False)
        assert re.search("language models|lm_file|input.arpa", result.stdout + result.stderr)
    assert provide_programs(folder, 1) in ("the PATH", PYPI_PACKAGE)
    # no file of the build is left; build.json is the workflow's record, if it has used the programs in this checkout
    assert {path.name for path in folder.iterdir()} - {"build.json"} == {*PROGRAMS, "lock"}


def test_programs_on_the_path_are_linked(tmp_path, monkeypatch):
    installed = tmp_path / "bin"
    installed.mkdir()
    for name in PROGRAMS:
        (installed / name).write_text(f"#!/bin/sh\necho {name}\n")
        (installed / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(installed), prepend=os.pathsep)
    assert provide_programs(tmp_path / "links", 1) == "the PATH"
    assert subprocess.check_output([tmp_path / "links" / "lmplz"], text=True) == "lmplz\n"


PROJECT = """\
cmake_minimum_required(VERSION 3.10)
project(probe CXX)
find_package(Boost REQUIRED COMPONENTS program_options)
add_executable(probe probe.cc)
target_link_libraries(probe Boost::program_options)
"""
PROBE = """\
#include <boost/program_options.hpp>
int main() { boost::program_options::options_description("probe").add_options()("help", "help"); }
"""


def test_build_links_static_libraries(tmp_path):
    if problem := explain_missing_tools("probe", ["cmake", "make"], [], PACKAGES):
        pytest.skip(problem)
    if not any(Path("/usr/lib").rglob("libboost_program_options.a")):
        pytest.skip("Boost's static libraries are not installed")
    source, build = tmp_path / "source", tmp_path / "build"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    (source / "probe.cc").write_text(PROBE, encoding="utf-8")
    _configure_build(source, build)
    subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
    libraries = subprocess.check_output(["ldd", build / "probe"], text=True)
    assert "libboost" not in libraries and "libstdc++" not in libraries
