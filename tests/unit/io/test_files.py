import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from nmt.io.files import atomic_path, is_replaceable, read_json, temporary_folder, write_text
from nmt.io.npy import write_array
from nmt.io.text_files import write_lines
from tests.messages import refused


def test_file_appears_when_block_ends(tmp_path):
    target = tmp_path / "folder" / "a.txt"
    with atomic_path(target) as temporary:
        temporary.write_text("complete")
        assert temporary.parent == target.parent
        assert temporary.suffix == ".txt"
        assert not target.exists()
    assert target.read_text() == "complete"
    assert [*target.parent.iterdir()] == [target]


def test_bytes_are_on_disk_before_renaming(tmp_path, monkeypatch):
    target, real_fsync = tmp_path / "a", os.fsync
    target.write_text("earlier")
    synced = []

    def record_fsync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        synced.append((path.read_bytes() if path.is_file() else None, target.read_text()))
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record_fsync)
    write_text(target, "complete")
    assert synced == [(b"complete", "earlier"), (None, "complete")]


def test_file_too_large_for_its_disk(tmp_path):
    with refused(), atomic_path(tmp_path / "a"):
        raise OSError(errno.EFBIG, "")


def start_process(context: str, path: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that uses a temporary path and waits, and this path."""
    code = "import pathlib, sys; from nmt.io.files import atomic_path, temporary_folder\n"
    code += f"with {context} as path: print(path, flush=True); input()"
    command = [sys.executable, "-c", code, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_leftover_files_are_removed(tmp_path):
    """Those of killed processes of this machine, and old ones of others, but not those of a living process."""
    target = tmp_path / "a.txt"
    process, path = start_process("atomic_path(sys.argv[1])", target)
    with process:
        path.touch()
        write_text(target, "complete")
        assert path.exists()
        process.kill()
    other_machine = path.with_name(".a.txt.01234567-1-0f.part.txt")  # its process may live
    other_machine.touch()
    write_text(target, "complete")
    assert {*tmp_path.iterdir()} == {target, other_machine}
    os.utime(other_machine, (0, 0))
    write_text(target, "complete")
    assert [*tmp_path.iterdir()] == [target]


def test_leftover_folders_are_removed(tmp_path):
    process, path = start_process("temporary_folder(pathlib.Path(sys.argv[1]), 'work-')", tmp_path)
    with process:
        with temporary_folder(tmp_path, "work-"):
            assert path.is_dir()
        process.kill()
    with temporary_folder(tmp_path, "work-") as folder:
        assert [*tmp_path.iterdir()] == [folder]
    assert not [*tmp_path.iterdir()]


def test_same_path_is_written_twice_at_a_time(tmp_path):
    target = tmp_path / "a.txt"
    with atomic_path(target) as outer, atomic_path(target) as inner:
        outer.write_text("outer")
        inner.write_text("inner")
    assert [*tmp_path.iterdir()] == [target]


def test_error_keeps_earlier_file(tmp_path):
    target = tmp_path / "a"
    target.write_text("earlier")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "earlier"
    assert [*tmp_path.iterdir()] == [target]


def test_error_names_the_file(tmp_path):
    with pytest.raises(PermissionError) as caught, atomic_path(tmp_path / "text.fr") as temporary:
        raise PermissionError(errno.EACCES, "Permission denied", str(temporary))
    assert caught.value.filename == str(tmp_path / "text.fr")


def test_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    contents = []
    reader = threading.Thread(target=lambda: contents.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with write_lines(pipe) as writer:
        writer.write("complete")
    reader.join(timeout=60)
    assert contents == [b"complete\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [*tmp_path.iterdir()] == [pipe]


def test_redirected_output_keeps_earlier_content(tmp_path):
    """Of several commands, as in `for ...; do nmt ... --output /dev/stdout; done > all`."""
    with (tmp_path / "all").open("wb") as output:
        for _ in range(2):
            write_text(f"/dev/fd/{output.fileno()}", "text\n")
            write_array(f"/dev/fd/{output.fileno()}", np.uint8, (0,), [])
    content = (tmp_path / "all").read_bytes()
    assert content.count(b"text\n") == content.count(b"NUMPY") == 2


def test_is_replaceable(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("/dev/zero", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", tmp_path / "pipe"):
        assert not is_replaceable(name)
    (tmp_path / "a").touch()
    for path in (tmp_path, tmp_path / "a", tmp_path / "none", tmp_path / "a" / "none"):
        assert is_replaceable(path)


def test_target_of_link_is_replaced(tmp_path):
    target, link, broken_link = tmp_path / "there" / "a.txt", tmp_path / "link.txt", tmp_path / "broken"
    write_text(target, "earlier")
    link.symlink_to(Path("there", "a.txt"))
    broken_link.symlink_to(Path("there", "none"))
    for path in (link, broken_link):
        with atomic_path(path) as temporary:
            temporary.write_text("complete")
            assert temporary.parent == target.parent
        assert path.is_symlink() and path.read_text() == "complete"
    assert target.read_text() == "complete"


def test_json_of_open_file():
    reader, writer = os.pipe()
    os.write(writer, b"[1]")
    os.close(writer)
    assert read_json(f"/dev/fd/{reader}") == [1]
    os.close(reader)
