"""Text of every format, by its first bytes, whatever its name and however its bytes come."""

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
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.io.text_files import decompressed, open_lines, opened_text, read_lines, zstd
from tests.running import ROOT

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


class Dripping(io.BytesIO):
    """A stream that gives some bytes at a time, as a pipe may."""

    size = 1

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(self.size, self.size if size is None or size < 0 else size))


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("name", ["text", "text.gz", "text.sgm"])
def test_the_first_bytes_say_what_a_file_is(tmp_path: Path, pack: str, name: str) -> None:
    path = tmp_path / name
    for content, expected in ((SGML, SENTENCES), (b"un\ndeux\n", ["un", "deux"])):
        path.write_bytes(PACK[pack](content))
        assert [*read_lines(path)] == expected
        with open_lines(path) as lines:
            assert lines.take(9) == expected


@given(
    pack=st.sampled_from(sorted(PACK)),
    text=st.sampled_from(
        [SGML, b"BZ", b"(\xb5", b"<", b"<srcse", b"\xef\xbb\xbf<doc\n", b"<!-- a", b"", b"\n"]
    ),
    size=st.integers(1, 30),
)
def test_it_does_not_matter_how_the_bytes_come(pack: str, text: bytes, size: int) -> None:
    stream = Dripping(PACK[pack](text))
    stream.size = size
    expected = "".join(f"{line}\n" for line in SENTENCES).encode() if text == SGML else text
    assert io.BufferedReader(cast(io.RawIOBase, opened_text(stream, "a").stream)).read() == expected


def test_what_is_typed_is_answered_at_once() -> None:
    """No line waits for the next one to tell that it is no SGML."""
    for line in (b"<\n", b"<b>a</b>\n", b"BZ\n", b"\n", b"<doc\n"):
        reading, writing = os.pipe()
        os.write(writing, line)
        closing = threading.Timer(5, os.close, [writing])
        closing.start()
        with os.fdopen(reading, "rb", 0) as file:
            assert opened_text(file, "a").stream.read(99) == line
        assert closing.is_alive()
        closing.cancel()
        os.close(writing)


def test_standard_input_is_any_of_them_too() -> None:
    program = (
        "from pathlib import Path\nfrom nmt.io.text_files import open_lines\n"
        "with open_lines(Path('-')) as lines: print(lines.take(9))"
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
    assert opened_text(io.BytesIO(text), "a").is_plain


def test_streams_follow_one_another() -> None:
    for pack in (gzip.compress, lzma.compress, bz2.compress, zstd.compress):
        assert decompressed(io.BytesIO(pack(b"a\n") + pack(b"") + pack(b"b\n"))).read() == b"a\nb\n"
