"""Lines of text of every format, from files and pipes, whatever bytes they hold and however these come."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.io.compression import COMPRESSED, zstd
from nmt.io.progress import Progress
from nmt.io.text_files import (
    LineStream,
    line_writer,
    open_lines,
    open_text,
    read_lines,
    read_pair_groups,
)
from tests.bitexts import write_text
from tests.messages import refused
from tests.running import run_python

SUFFIXES = ["", *COMPRESSED]
LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])).filter(
        lambda line: not line.endswith("\r") and not line.startswith("\ufeff")
    )
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(lines=LINES)
@example(lines=["a\u2028b\u2029c", "d\x85e\x0bf\x0cg", "h\ri\x1cj", ""])
def test_lines_round_trip(tmp_path_factory, suffix, lines):
    path = write_text(tmp_path_factory.mktemp("text") / f"a{suffix}", lines)
    assert [*read_lines(path)] == lines


def test_windows_text(tmp_path):
    path = write_text(tmp_path / "a", ["\ufeffThe book\r", "\ufeffa\r", "b"])
    lines = ["The book", "\ufeffa", "b"]
    assert [*read_lines(path)] == lines
    with open_lines(path) as stream:
        assert [*stream.read_groups(10)] == [lines]


def test_line_break_inside_line_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="line 2: holds a line break"):
        write_text(tmp_path / "a", ["a", "b\nc"])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_equal_lines_give_equal_bytes(tmp_path, monkeypatch, suffix):
    first = write_text(tmp_path / f"a{suffix}", ["x"] * 1000).read_bytes()
    monkeypatch.setattr("time.time", lambda: 1.0)
    assert write_text(tmp_path / f"b{suffix}", ["x"] * 1000).read_bytes() == first


MANY_LINES = [f"line {i * 7919}" for i in range(50_000)]


@pytest.mark.parametrize("suffix", COMPRESSED)
@pytest.mark.parametrize("fault", ["cut", "flipped"])
def test_damaged_file_is_refused(tmp_path, suffix, fault):
    path = write_text(tmp_path / f"a{suffix}", MANY_LINES)
    data = bytearray(path.read_bytes())
    if fault == "cut":
        del data[-5:]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with refused():
        list(read_lines(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_appended_lines(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    for lines in (["a", "b"], [], MANY_LINES, ["c"]):
        with line_writer(path) as writer:
            for line in lines:
                writer.write(line)
    assert [*read_lines(path)] == ["a", "b", *MANY_LINES, "c"]


def test_progress_counts_bytes_on_disk(tmp_path):
    path = write_text(tmp_path / "a.zst", MANY_LINES)
    with Progress(path.stat().st_size, "bytes", "read") as progress:
        list(read_lines(path, progress))
    assert progress.count == path.stat().st_size


# --- formats ----------------------------------------------------------------------------------------------------------

SGML = (
    b'<?xml version="1.0"?>\n<!DOCTYPE mteval>\n<refset setid="x"><doc docid="1">\n<hl>\n'
    b'<seg id="1"> A &amp; B &lt;c&gt; &#8217;x &copy </seg>\n</hl>\n'
    b'<p><SEG id="2">two\nlines</SEG> <seg id="3">&quot;l&apos;a&quot;\xe2\x80\xa8b</seg>\n</p></doc></refset>\n'
)
SENTENCES = ["A & B <c> ’x &copy", "two lines", '"l\'a"\u2028b']
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
    "pzstd": lambda data: b"\x50\x2a\x4d\x18\x04\0\0\0size" + zstd.compress(data),
}


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", ["text", "text.gz", "text.sgm"])
def test_first_bytes_tell_the_format(tmp_path, compression, name):
    path = tmp_path / name
    for content, expected in ((SGML, SENTENCES), (b"un\ndeux\n", ["un", "deux"])):
        path.write_bytes(COMPRESS[compression](content))
        assert [*read_lines(path)] == expected


def open_file(content: bytes) -> io.BufferedReader[Any]:
    """An open file of this content."""
    return io.BufferedReader(io.BytesIO(content))


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize(
    "text", [b"BZ", b"(\xb5", b"<", b"<srcse", b"\xef\xbb\xbf<doc\n", b"<!-- a", b"", b"\n"]
)
def test_short_text_like_other_formats(compression, text):
    assert open_text(open_file(COMPRESS[compression](text)), "a").read() == text


def test_typed_line_is_read_before_the_next():
    """No line waits for the next one to tell that it is no SGML."""
    for line in (b"<\n", b"<b>a</b>\n", b"BZ\n", b"\n", b"<doc\n"):
        reader, writer = os.pipe()
        os.write(writer, line)
        closing = threading.Timer(60, os.close, [writer])
        closing.start()
        with os.fdopen(reader, "rb") as file:
            assert open_text(file, "a").read1(99) == line
        assert closing.is_alive()
        closing.cancel()
        os.close(writer)


def test_formats_of_standard_input():
    code = "from nmt.io.text_files import read_lines; print([*read_lines('-')])"
    for text in (SGML, gzip.compress(SGML)):
        assert run_python("-c", code, input=text, text=False).stdout.decode().strip() == str(SENTENCES)


@pytest.mark.parametrize(
    "text", [b"<seg " * 200_000, b"<doc " * 200_000, b"</seg " * 200_000, b"<!--" * 50_000]
)
def test_long_text_like_sgml(text):
    file = open_file(text)
    assert open_text(file, "a") is file


# --- streams ----------------------------------------------------------------------------------------------------------


def stream_of(*chunks: bytes) -> LineStream:
    """A stream of the lines of these chunks."""
    remaining_chunks = iter([*chunks, b""])
    return LineStream("test", lambda: next(remaining_chunks))


@given(st.lists(st.binary(min_size=1, max_size=12), max_size=12), st.integers(1, 5))
def test_chunks_do_not_change_lines(chunks, size):
    expected = b"".join(chunks).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if b"".join(chunks).endswith(b"\n") or not chunks:
        expected.pop()
    groups = list(stream_of(*chunks).read_groups(size))
    assert [len(group) for group in groups[:-1]] == [size] * (len(groups) - 1)
    lines = [line for group in groups for line in group]
    assert lines == [line.removesuffix(b"\r").decode("utf-8", "replace") for line in expected]


def test_invalid_bytes_are_replaced_and_counted():
    lines = stream_of("a\u2028b\x85c\vd\r\n".encode(), b"\xff\n\n", b"\xed\xa0\x80 end")
    assert list(lines.read_groups(9)) == [["a\u2028b\x85c\vd", "\ufffd", "", "\ufffd\ufffd\ufffd end"]]
    assert (lines.invalid_line_count, lines.first_invalid_line) == (2, 2)


def test_group_ends_when_input_pauses():
    reader, writer = os.pipe()
    groups = LineStream("pipe", lambda: os.read(reader, 100), reader).read_groups(100)
    os.write(writer, b"one\ntwo\nthr")
    assert next(groups) == ["one", "two"]
    threading.Timer(0.2, lambda: (os.write(writer, b"ee\n"), os.close(writer))).start()
    assert list(groups) == [["three"]]
    os.close(reader)


def test_group_of_long_lines_is_short():
    groups = list(stream_of(*[b"x" * 200_000 + b"\n"] * 5).read_groups(100))
    assert [len(group) for group in groups] == [2, 2, 1]


def test_endless_line_is_refused():
    with refused():
        list(LineStream("endless", lambda: b"x" * (1 << 20)).read_groups(1))


def test_pair_groups():
    groups = list(read_pair_groups(stream_of(b"a\nb\nc\n"), stream_of(b"A\nB\nC\n"), 2))
    assert groups == [(["a", "b"], ["A", "B"]), (["c"], ["C"])]
    for sources, targets in ((b"a\nb\n", b"A\n"), (b"a\n", b"A\nB\n")):
        with refused():
            list(read_pair_groups(stream_of(sources), stream_of(targets), 2))
