"""Where Moses comes from."""

import shutil
import tarfile
from functools import partial
from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.moses import programs
from pipeline.moses.programs import Moses, provide_programs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the word aligner is already."""
    (tmp_path / "here" / "python").mkdir(parents=True)
    return tmp_path / "here"


def installation(root: Path) -> Path:
    """A complete installation by its names alone; returns its `bin`."""
    (root / "bin").mkdir(parents=True)
    for name in programs.TARGETS:
        (root / "bin" / name).touch(mode=0o755)
    (root / "scripts" / "training").mkdir(parents=True)
    (root / "scripts" / "training" / "train-model.perl").touch()
    return root / "bin"


def fail_to_fetch(path: Path) -> None:
    """A download for which there is no reason."""
    raise AssertionError(path)


def test_installation_is_linked(tmp_path, folder, monkeypatch):
    root = tmp_path / "opt"
    monkeypatch.setenv("PATH", str(installation(root)))
    assert provide_programs(folder, fail_to_fetch, 1) == "the PATH"
    assert Moses(folder).program("moses") == str(folder / "bin" / "moses")
    assert Path(Moses(folder).script("training/train-model.perl")).resolve().is_relative_to(root)
    assert provide_programs(folder, fail_to_fetch, 1) == "the PATH"


def test_decoder_alone_is_no_installation(tmp_path, monkeypatch):
    (installation(tmp_path / "opt") / "mert").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "opt" / "bin"))
    assert "moses: not on the PATH" in programs.explain_missing_moses()


def test_missing_tools_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "lacks perl, make, a C++ compiler (Debian: " in programs.explain_missing_moses()


def test_missing_headers_are_named(tmp_path, monkeypatch):
    for name in ("perl", "make", "c++"):
        program = tmp_path / name
        program.write_text('#!/bin/sh\ncase "$*" in *boost/filesystem*) exit 1; esac\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "lacks boost/filesystem.hpp (Debian: " in programs.explain_missing_moses()


@pytest.mark.usefixtures("compiler")
def test_damaged_source_is_named(tmp_path, folder):
    archive = make_source_archive(tmp_path, BJAM)
    archive.write_bytes(archive.read_bytes()[:50])
    with pytest.raises(UserError, match=r"source\.tar\.gz: damaged .*; download it again"):
        provide_programs(folder, partial(shutil.copy, archive), 1)
    assert not (folder / "bin").exists() and not list(folder.glob("build-*"))


BJAM = """#!/bin/sh
for target; do case $target in
  *//*)
    place=${target%%//*}/bin/gcc/release; program=$place/${target##*//}
    mkdir -p $place; touch $program; chmod +x $program;;
esac; done
"""
"""Leaves programs where the real one does."""


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Moses, and with what its build asks for; these builds compile nothing."""
    monkeypatch.setattr("shutil.which", lambda name: None if name == "moses" else name)


def make_source_archive(folder: Path, bjam: str) -> Path:
    """An archive like that of the source, whose build takes no time."""
    tree = folder / "mosesdecoder-0"
    (tree / "scripts" / "training").mkdir(parents=True)
    (tree / "scripts" / "training" / "train-model.perl").touch()
    (tree / "bjam").write_text(bjam)
    (tree / "bjam").chmod(0o755)
    with tarfile.open(folder / "source.tar.gz", "w:gz") as packed:
        packed.add(tree, tree.name)
    return folder / "source.tar.gz"


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("bjam", "problem"),
    [
        (BJAM, None),
        (
            "#!/bin/sh\necho 'from boost/error_code.hpp:963,'; echo 'x.cpp:1: error: no such type'; exit 1\n",
            "its build failed; .*: x.cpp:1: error: no such type",
        ),
    ],
)
def test_build_from_source(tmp_path, folder, monkeypatch, bjam, problem):
    source = make_source_archive(tmp_path, bjam)
    with pytest.raises(UserError, match="files that differ from Moses' commit"):
        provide_programs(folder, partial(shutil.copy, source), 2)
    monkeypatch.setattr(programs, "SOURCE_SHA256", programs._compute_checksum(tmp_path / "mosesdecoder-0"))
    if problem:
        with pytest.raises(UserError, match=problem):
            provide_programs(folder, partial(shutil.copy, source), 2)
        assert not (folder / "bin").exists() and not (folder / "scripts").exists()
    else:
        assert provide_programs(folder, partial(shutil.copy, source), 2) == programs.SOURCE_SHA256
        assert {path.name for path in (folder / "bin").iterdir()} == set(programs.TARGETS)
        assert (folder / "scripts" / "training").is_dir()
    assert not list(folder.glob("build-*"))


def test_missing_program_and_space_in_path(tmp_path):
    with pytest.raises(UserError, match="bin/symal: no such file"):
        Moses(tmp_path).program("symal")
    installation(tmp_path / "my programs")
    with pytest.raises(UserError, match="name of a folder has a space"):
        Moses(tmp_path / "my programs").program("moses")
