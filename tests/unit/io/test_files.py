from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nmt.io.files import atomic_path, is_replaceable, read_json, temporary_folder
from nmt.io.text_files import write_lines


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "a.txt"
    with atomic_path(target) as temporary:
        temporary.write_text("whole")
        assert temporary.parent == target.parent
        assert temporary.suffix == ".txt"
        assert not target.exists()
    assert target.read_text() == "whole"
    assert [*target.parent.iterdir()] == [target]


def test_its_bytes_are_on_the_disk_before_it_has_its_name_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, really = tmp_path / "a", os.fsync
    target.write_text("earlier")
    synced: list[tuple[bytes | None, str]] = []

    def fsync(descriptor: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        synced.append((place.read_bytes() if place.is_file() else None, target.read_text()))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with atomic_path(target) as temporary:
        temporary.write_text("whole")
    assert synced == [(b"whole", "earlier"), (None, "whole")]


def test_what_a_killed_process_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    target, code = tmp_path / "a.txt", "import sys; from nmt.io.files import atomic_path\n"
    code += "with atomic_path(sys.argv[1]) as path: path.write_text('half'); print(path, flush=True); input()"
    command = [sys.executable, "-c", code, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        write_one_line(target)
        assert path.exists()
        process.kill()
    elsewhere = path.with_name(".a.txt.01234567-1-0f.part.txt")  # whoever writes it may live
    elsewhere.touch()
    write_one_line(target)
    assert {*tmp_path.iterdir()} == {target, elsewhere}
    os.utime(elsewhere, (0, 0))
    write_one_line(target)
    assert [*tmp_path.iterdir()] == [target]


def test_a_living_process_keeps_its_work_folder_and_a_killed_one_leaves_none(tmp_path: Path) -> None:
    code = "import pathlib, sys; from nmt.io.files import temporary_folder\n"
    code += (
        "with temporary_folder(pathlib.Path(sys.argv[1]), 'work-') as path: print(path, flush=True); input()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        other = Path(process.stdout.readline().strip())
        with temporary_folder(tmp_path, "work-"):
            assert other.is_dir()
        process.kill()
    with temporary_folder(tmp_path, "work-") as folder:
        assert [*tmp_path.iterdir()] == [folder]
    assert not [*tmp_path.iterdir()]


def test_two_threads_write_the_same_path(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with atomic_path(target) as one, atomic_path(target) as other:
        one.write_text("one")
        other.write_text("other")
    assert [*tmp_path.iterdir()] == [target]


def write_one_line(target: Path) -> None:
    with write_lines(target) as writer:
        writer.write("whole")


def test_an_error_leaves_the_earlier_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("earlier")

    def fail() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "earlier"
    assert [*tmp_path.iterdir()] == [target]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with write_lines(pipe) as writer:
        writer.write("whole")
    reader.join(timeout=60)
    assert got == [b"whole\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [*tmp_path.iterdir()] == [pipe]


def test_devices_and_what_is_open_are_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("/dev/zero", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", tmp_path / "pipe"):
        assert not is_replaceable(Path(name))
    (tmp_path / "a").write_text("")
    assert all(map(is_replaceable, (tmp_path, tmp_path / "a", tmp_path / "none", tmp_path / "a" / "none")))


def test_behind_a_link_its_target_is_replaced(tmp_path: Path) -> None:
    target, link, loose = tmp_path / "there" / "a.txt", tmp_path / "link.txt", tmp_path / "loose"
    target.parent.mkdir()
    target.write_text("earlier")
    link.symlink_to(Path("there", "a.txt"))
    loose.symlink_to(Path("there", "none"))
    for path in (link, loose):
        with atomic_path(path) as temporary:
            temporary.write_text("whole")
            assert temporary.parent == target.parent
        assert path.is_symlink() and path.read_text() == "whole"
    assert target.read_text() == "whole"


def test_json_comes_from_what_is_open_already_too() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"[1]")
    os.close(writer)
    assert read_json(f"/dev/fd/{reader}") == [1]
    os.close(reader)
