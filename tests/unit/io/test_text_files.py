from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.io.progress import Progress
from nmt.io.text_files import line_writer, read_lines, read_pairs
from tests.bitexts import write_text
from tests.messages import refused

SUFFIXES = ["", ".gz", ".zst"]
LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(lines=LINES)
@example(lines=["a\u2028b\u2029c", "d\x85e\x0bf\x0cg", "h\ri\x1cj", ""])
def test_lines_come_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, lines: list[str]) -> None:
    path = write_text(tmp_path_factory.mktemp("text") / f"a{suffix}", lines)
    assert [*read_lines(path)] == lines


def test_a_line_break_inside_a_line_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 2: holds a line break"):
        write_text(tmp_path / "a", ["a", "b\nc"])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_lines_give_equal_bytes(tmp_path: Path, suffix: str) -> None:
    first = write_text(tmp_path / f"a{suffix}", ["x"] * 1000).read_bytes()
    assert write_text(tmp_path / f"b{suffix}", ["x"] * 1000).read_bytes() == first


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
@pytest.mark.parametrize("fault", ["cut", "flipped"])
def test_damaged_files_are_never_taken_for_whole(tmp_path: Path, suffix: str, fault: str) -> None:
    path = write_text(tmp_path / f"a{suffix}", [f"line {i * 7919}" for i in range(50_000)])
    data = bytearray(path.read_bytes())
    if fault == "cut":
        del data[-5:]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with refused():
        list(read_lines(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_appended_is_read_as_one_with_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    pieces = [["a", "b"], [], [f"line {i * 7919}" for i in range(50_000)], ["c"]]
    for lines in pieces:
        with line_writer(path, append=True) as writer:
            for line in lines:
                writer.write(line)
    assert [*read_lines(path)] == [line for lines in pieces for line in lines]


@pytest.mark.parametrize("fault", ["cut", "garbage"])
def test_what_follows_a_zstd_frame_must_be_one(tmp_path: Path, fault: str) -> None:
    path = write_text(tmp_path / "a.zst", ["a"])
    frame = path.read_bytes()
    path.write_bytes(frame + (frame[:-3] if fault == "cut" else b"garbage"))
    with refused():
        list(read_lines(path))


@pytest.mark.parametrize(("sources", "targets"), [(3, 5), (5, 3), (0, 1), (1, 0)])
def test_uneven_sides_name_both_files_and_counts(tmp_path: Path, sources: int, targets: int) -> None:
    source = write_text(tmp_path / "s", ["x"] * sources)
    target = write_text(tmp_path / "t", ["x"] * targets)
    with refused():
        list(read_pairs(source, target))


def test_a_pipe_is_read_though_nobody_knows_how_far(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    with Progress(None, "bytes", "read", stream=io.StringIO()) as progress:
        assert [*read_lines(f"/dev/fd/{reading}", progress)] == ["a", "b"]
    os.close(reading)


def test_progress_counts_the_bytes_on_the_disk(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.zst", [f"line {i}" for i in range(5000)])
    log = io.StringIO()
    with Progress(path.stat().st_size, "bytes", "read", stream=log, every=0) as progress:
        list(read_lines(path, progress))
    assert progress.count == path.stat().st_size
    assert "(100%) bytes" in log.getvalue().splitlines()[-1]
