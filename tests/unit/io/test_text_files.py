"""Lines of text of every format, from files and pipes, whatever bytes they hold and however these come."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.io.compression import COMPRESSED, decompress, zstd
from nmt.io.progress import Progress
from nmt.io.text_files import (
    LineStream,
    line_writer,
    open_lines,
    open_text,
    read_lines,
    read_pair_groups,
    read_pairs,
)
from tests.bitexts import write_text
from tests.messages import refused
from tests.running import ROOT

SUFFIXES = ["", *COMPRESSED]
LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])).filter(
        lambda line: not line.endswith("\r") and not line.startswith("\ufeff")
    )
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(lines=LINES)
@example(lines=["a\u2028b\u2029c", "d\x85e\x0bf\x0cg", "h\ri\x1cj", ""])
def test_lines_come_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, lines: list[str]) -> None:
    path = write_text(tmp_path_factory.mktemp("text") / f"a{suffix}", lines)
    assert [*read_lines(path)] == lines


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_of_windows_reads_as_any_other_however_it_is_read(tmp_path: Path, suffix: str) -> None:
    path = write_text(tmp_path / f"a{suffix}", ["\ufeffThe book\r", "\ufeffa\r", "b"])
    lines = ["The book", "\ufeffa", "b"]
    assert [*read_lines(path)] == lines
    with open_lines(path) as stream:
        assert [*stream.read_groups(10)] == [lines]


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
def test_uneven_sides_are_refused(tmp_path: Path, sources: int, targets: int) -> None:
    source = write_text(tmp_path / "s", ["x"] * sources)
    target = write_text(tmp_path / "t", ["x"] * targets)
    with refused():
        list(read_pairs(source, target))


def test_a_pipe_is_read_though_nobody_knows_how_far() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    with Progress(None, "bytes", "read") as progress:
        assert [*read_lines(f"/dev/fd/{reading}", progress)] == ["a", "b"]
    os.close(reading)


def test_progress_counts_the_bytes_on_the_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_text(tmp_path / "a.zst", [f"line {i}" for i in range(5000)])
    with Progress(path.stat().st_size, "bytes", "read") as progress:
        list(read_lines(path, progress))
    assert progress.count == path.stat().st_size
    assert "(100%) bytes" in capsys.readouterr().err.splitlines()[-1]


# --- formats ----------------------------------------------------------------------------------------------------------

SGML = (
    b'<?xml version="1.0"?>\n<!DOCTYPE mteval>\n<refset setid="x"><doc docid="1">\n<hl>\n'
    b'<seg id="1"> A &amp; B &lt;c&gt; &#8217;x &copy </seg>\n</hl>\n'
    b'<p><SEG id="2">two\nlines</SEG> <seg id="3">&quot;l&apos;a&quot;\xe2\x80\xa8b</seg>\n</p></doc></refset>\n'
)
SENTENCES = ["A & B <c> ’x &copy", "two lines", '"l\'a"\u2028b']
PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("name", ["text", "text.gz", "text.sgm"])
def test_the_first_bytes_say_what_a_file_is(tmp_path: Path, pack: str, name: str) -> None:
    path = tmp_path / name
    for content, expected in ((SGML, SENTENCES), (b"un\ndeux\n", ["un", "deux"])):
        path.write_bytes(PACK[pack](content))
        assert [*read_lines(path)] == expected
        with open_lines(path) as lines:
            assert lines.take_lines(9) == expected


def held(content: bytes) -> io.BufferedReader[Any]:
    """An open file of this content."""
    return io.BufferedReader(io.BytesIO(content))


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize(
    "text", [b"BZ", b"(\xb5", b"<", b"<srcse", b"\xef\xbb\xbf<doc\n", b"<!-- a", b"", b"\n"]
)
def test_short_text_that_begins_like_something_else_is_text(pack: str, text: bytes) -> None:
    assert open_text(held(PACK[pack](text)), "a").stream.read() == text


def test_what_is_typed_is_answered_at_once() -> None:
    """No line waits for the next one to tell that it is no SGML."""
    for line in (b"<\n", b"<b>a</b>\n", b"BZ\n", b"\n", b"<doc\n"):
        reading, writing = os.pipe()
        os.write(writing, line)
        closing = threading.Timer(60, os.close, [writing])
        closing.start()
        with os.fdopen(reading, "rb") as file:
            assert open_text(file, "a").stream.read1(99) == line
        assert closing.is_alive()
        closing.cancel()
        os.close(writing)


def test_standard_input_is_any_of_them_too() -> None:
    program = (
        "from pathlib import Path\nfrom nmt.io.text_files import open_lines\n"
        "with open_lines(Path('-')) as lines: print(lines.take_lines(9))"
    )
    for text in (SGML, gzip.compress(SGML)):
        found = subprocess.run(
            [sys.executable, "-c", program], input=text, capture_output=True, cwd=ROOT, check=True
        )
        assert found.stdout.decode().strip() == str(SENTENCES)


@pytest.mark.parametrize(
    "text", [b"<seg " * 200_000, b"<doc " * 200_000, b"</seg " * 200_000, b"<!--" * 50_000]
)
def test_what_only_begins_like_sgml_is_text(text: bytes) -> None:
    assert open_text(held(text), "a").is_plain


def test_streams_follow_one_another() -> None:
    for pack in (gzip.compress, lzma.compress, bz2.compress, zstd.compress):
        assert decompress(held(pack(b"a\n") + pack(b"") + pack(b"b\n"))).read() == b"a\nb\n"


# --- streams ----------------------------------------------------------------------------------------------------------


def stream(parts: list[bytes]) -> LineStream:
    rest = iter([*parts, b""])
    return LineStream("test", lambda: next(rest), None)


@given(st.lists(st.binary(min_size=1, max_size=12), max_size=12), st.integers(1, 5))
def test_lines_do_not_depend_on_how_the_bytes_come(parts: list[bytes], size: int) -> None:
    whole = b"".join(parts)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    groups = list(stream(parts).read_groups(size))
    assert [len(group) for group in groups[:-1]] == [size] * (len(groups) - 1)
    assert [line for group in groups for line in group] == [
        (line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line).decode("utf-8", "replace")
        for number, line in enumerate(line.removesuffix(b"\r") for line in expected)
    ]


def test_only_line_feeds_end_lines_and_bad_bytes_are_counted() -> None:
    lines = stream(["a\u2028b\x85c\vd\r\n".encode(), b"\xff\n\n", b"\xed\xa0\x80 end"])
    assert list(lines.read_groups(9)) == [["a\u2028b\x85c\vd", "\ufffd", "", "\ufffd\ufffd\ufffd end"]]
    assert (lines.replaced_lines, lines.first_replaced_line) == (2, 2)


def test_a_group_ends_where_the_input_pauses() -> None:
    reading, writing = os.pipe()
    lines = LineStream("pipe", lambda: os.read(reading, 100), reading)
    groups = lines.read_groups(100)
    os.write(writing, b"one\ntwo\nthr")
    assert next(groups) == ["one", "two"]
    threading.Timer(0.2, lambda: (os.write(writing, b"ee\n"), os.close(writing))).start()
    assert list(groups) == [["three"]]
    os.close(reading)


def test_a_group_of_long_lines_is_short() -> None:
    groups = list(stream([b"x" * 200_000 + b"\n"] * 5).read_groups(100))
    assert [len(group) for group in groups] == [2, 2, 1]


def test_a_line_without_an_end_is_refused() -> None:
    parts = (b"x" * (1 << 20) for _ in range(1 << 20))
    with refused():
        list(LineStream("endless", lambda: next(parts)).read_groups(1))


def test_a_file_says_how_much_of_it_is_done(tmp_path: Path) -> None:
    for name in ("text", "text.gz"):
        # compressed, more than gzip reads at once
        write_text(tmp_path / name, (f"line {number}" for number in range(400_000)))
        with open_lines(tmp_path / name) as lines:
            assert lines.size == (tmp_path / name).stat().st_size
            done = [lines.bytes_done for _ in lines.read_groups(1000)]
        assert done == sorted(done) and done[0] < done[-1] == lines.size
    assert stream([b"a"]).size is None


def test_sides_stay_in_step() -> None:
    pairs = list(read_pair_groups(stream([b"a\nb\nc\n"]), stream([b"A\nB\nC\n"]), 2))
    assert pairs == [[("a", "A"), ("b", "B")], [("c", "C")]]
    with refused():
        list(read_pair_groups(stream([b"a\nb\n"]), stream([b"A\n"]), 2))
    with refused():
        list(read_pair_groups(stream([b"a\n"]), stream([b"A\nB\n"]), 2))
