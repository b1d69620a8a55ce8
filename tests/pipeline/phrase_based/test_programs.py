"""Where Moses comes from."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.phrase_based import programs
from pipeline.phrase_based.programs import Moses, provide
from tests.messages import refused
from tests.moses_programs import installation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the word aligner is already."""
    (tmp_path / "here" / "python").mkdir(parents=True)
    return tmp_path / "here"


def test_an_installation_on_the_path_is_linked(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "opt"
    monkeypatch.setenv("PATH", str(installation(root)))
    assert provide(folder, None, 1) == f"the PATH ({root})"
    assert Moses(folder).program("moses") == str(folder / "bin" / "moses")
    assert Path(Moses(folder).script("training/train-model.perl")).resolve().is_relative_to(root)
    assert provide(folder, None, 1) == "an earlier call"


def test_a_lonely_decoder_on_the_path_is_not_enough(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installation(tmp_path / "opt") / "mert").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "opt" / "bin"))
    with refused():
        provide(folder, None, 1)


def test_what_a_build_needs_is_named_first(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused():
        provide(folder, tmp_path / "source.tar.gz", 1)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    if programs.missing_tools():
        pytest.skip("no compiler, Boost or Perl")
    monkeypatch.setitem(programs.HEADERS, "Boost", "boost/there_is_no_such.hpp")
    assert programs.missing_tools() == ["Boost"]


def test_a_part_of_boost_that_cannot_be_linked_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boost's headers are one package of Debian, its libraries many: the linker would miss one after 20 minutes."""
    if programs.missing_tools():
        pytest.skip("no compiler, Boost or Perl")
    monkeypatch.setattr(programs, "LIBRARIES", [*programs.LIBRARIES, "boost_there_is_no_such"])
    assert programs.missing_tools() == ["boost_there_is_no_such"]


@pytest.mark.parametrize(("damage", "said"), [("cut", "no whole archive"), ("other", "no Jamroot")])
def test_a_damaged_source_is_named(tmp_path: Path, folder: Path, damage: str, said: str) -> None:
    (tmp_path / "README").write_text("no Moses\n" * 1000)
    archive = tmp_path / "source.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / "README", "other/README")
    if damage == "cut":
        archive.write_bytes(archive.read_bytes()[:50])
    if programs.missing_tools():
        pytest.skip("no compiler, Boost or Perl")
    with pytest.raises(UserError, match=rf"source\.tar\.gz: {said}"):
        provide(folder, archive, 1)
    assert not (folder / "bin").exists() and not list(folder.glob("build-*"))


BJAM = """#!/bin/sh
for target; do case $target in
  *//*)
    place=${target%%//*}/bin/gcc/release; program=$place/${target##*//}
    mkdir -p $place; touch $program; chmod +x $program;;
esac; done
"""
"""Leaves programs where the real one does."""


def source_with(folder: Path, bjam: str) -> Path:
    """An archive like that of the source, whose build takes no time."""
    tree = folder / "mosesdecoder-0"
    (tree / "scripts" / "training").mkdir(parents=True)
    (tree / "Jamroot").touch()
    (tree / "bjam").write_text(bjam)
    (tree / "bjam").chmod(0o755)
    with tarfile.open(folder / "source.tar.gz", "w:gz") as packed:
        packed.add(tree, tree.name)
    return folder / "source.tar.gz"


@pytest.mark.parametrize(
    ("bjam", "problem"),
    [
        (BJAM, None),
        (BJAM.replace("*//*)", "*//moses) ;; *//*)"), "its build ended without moses"),
        (
            "#!/bin/sh\necho 'from boost/error_code.hpp:963,'; echo 'x.cpp:1: error: no such type'; exit 1\n",
            "its build failed: x.cpp:1: error: no such type",
        ),
        (
            "#!/bin/sh\n"
            "echo '/usr/bin/ld: cannot find -lz'; echo 'collect2: error: ld returned 1 exit status'; exit 1\n",
            "its build failed: /usr/bin/ld: cannot find -lz",
        ),
    ],
)
def test_programs_and_scripts_come_from_a_build(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, bjam: str, problem: str | None
) -> None:
    monkeypatch.setattr(programs, "on_path", lambda: None)
    monkeypatch.setattr(programs, "missing_tools", list)
    source = source_with(tmp_path, bjam)
    if problem:
        with refused():
            provide(folder, source, 2)
        assert not (folder / "bin").exists() and not (folder / "scripts").exists()
    else:
        assert provide(folder, source, 2) == str(source)
        assert {path.name for path in (folder / "bin").iterdir()} == set(programs.TARGETS)
        assert (folder / "scripts" / "training").is_dir()
    assert not list(folder.glob("build-*"))


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with refused():
        Moses(tmp_path).program("symal")


def test_folders_with_spaces_are_refused(tmp_path: Path) -> None:
    installation(tmp_path / "my programs")
    with refused():
        Moses(tmp_path / "my programs").program("moses")
