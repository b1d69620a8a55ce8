"""Downloads from real servers on this machine, which answer well, badly and as no server should, and from folders."""

import contextlib
import hashlib
import random
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError, printable
from nmt.io.files import read_json
from pipeline.config.catalogue import Archive, Source
from pipeline.download import download as module
from pipeline.download.download import download_file, read_checksums
from tests.messages import refused

DATA = random.Random(1).randbytes(700_000)
OTHER = DATA[::-1]
Known = dict[str, Any]
"""What is known of a file."""
WHOLE = {
    "bytes": len(DATA),
    "md5": hashlib.md5(DATA).hexdigest(),
    "sha256": hashlib.sha256(DATA).hexdigest(),
}
SUM_ONLY = {"md5": WHOLE["md5"]}
NOWHERE = "http://127.0.0.1:1/a"


@pytest.fixture(autouse=True, scope="module")
def shorten_waits() -> Iterator[None]:
    """Servers are asked again at once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ATTEMPTS": 3, "MIN_WAIT": 0.01, "MAX_WAIT": 0.05, "READ_TIMEOUT": 30.0}.items():
            patch.setattr(module, name, value)
        yield


Reply = Callable[[int], Iterator[bytes]]
"""What a server sends to a request for the bytes from a position, piece by piece; the connection ends with it."""


class Server(socketserver.ThreadingTCPServer):
    """Answers the requests in turn; the last answer stands for all that follow."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = [*replies]
        self.lines: list[str] = []
        self.begins: list[int] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        lines = []
        while (line := self.rfile.readline().strip()) != b"":
            lines.append(line.decode())
        begin = int("".join(lines).partition("Range: bytes=")[2].partition("-")[0] or 0)
        self.server.lines += lines[:1]
        self.server.begins.append(begin)
        reply = self.server.replies[0]
        if len(self.server.replies) > 1:
            self.server.replies.pop(0)
        with contextlib.suppress(OSError):  # the client may have seen enough
            for piece in reply(begin):
                self.wfile.write(piece)


@contextlib.contextmanager
def run_server(*replies: Reply) -> Iterator[Server]:
    with Server(*replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def format_head(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1")


def make_reply(*headers: str, status: str = "200 OK", body: bytes = b"") -> Reply:
    return lambda _: iter([format_head(status, *headers), body])


def make_file_reply(
    data: bytes = DATA, *headers: str, sent: int | None = None, length: int | None = None
) -> Reply:
    """A file, or its part that is asked for; maybe broken off after some bytes, or announced with another length."""

    def reply(begin: int) -> Iterator[bytes]:
        if begin >= len(data):
            yield format_head("416 Range Not Satisfiable", "Content-Length: 0")
            return
        announced_length = len(data) - begin if length is None else length
        all_headers = [f"Content-Length: {announced_length}", *headers]
        if begin:
            all_headers.append(f"Content-Range: bytes {begin}-{len(data) - 1}/{len(data)}")
        yield format_head("206 Partial Content" if begin else "200 OK", *all_headers)
        yield data[begin:][:sent]

    return reply


def ignore_range(reply: Reply) -> Reply:
    return lambda _: reply(0)


BUSY = make_reply("Content-Length: 0", status="503 Busy")
ABSENT = make_reply("Content-Length: 0", status="404 Not Found")


def make_source(url: str, known: Known = WHOLE, path: str = "a") -> Archive:
    return Archive(url=url, path=path, **known)


def download_from(server: Server, output: Path, known: Known = WHOLE) -> bytes:
    """What comes from the only source."""
    url = f"{server.address}/a"
    assert download_file(make_source(url, known), output) == url
    assert not partial_path(output).exists()
    return output.read_bytes()


def partial_path(output: Path) -> Path:
    return output.with_name(f"{output.name}.part")


def make_mirror(folder: Path) -> str:
    folder.mkdir()
    (folder / "a").write_bytes(DATA)
    return str(folder)


@pytest.mark.parametrize("headers", [(), ("Content-Encoding: gzip",)])
def test_download_and_its_record(tmp_path, headers):
    output = tmp_path / "folder" / "a"
    with run_server(make_file_reply(DATA, *headers)) as server:
        assert download_from(server, output, SUM_ONLY) == DATA
    assert read_checksums(output) == WHOLE
    assert read_json(tmp_path / "folder" / "a.json") == {
        "source": f"{server.address}/a",
        "checked": ["md5"],
        **WHOLE,
    }


@pytest.mark.parametrize("known", [WHOLE, SUM_ONLY])
def test_broken_connection_is_resumed(tmp_path, known):
    with run_server(
        make_file_reply(sent=300_000), make_file_reply(sent=100_000), make_file_reply()
    ) as server:
        assert download_from(server, tmp_path / "a", known) == DATA
    assert server.begins == [0, 300_000, 400_000]


def test_without_checksum_nothing_is_resumed(tmp_path):
    partial_path(tmp_path / "a").write_bytes(b"of another file")
    with run_server(make_file_reply(OTHER, sent=300_000), make_file_reply()) as server:
        assert download_from(server, tmp_path / "a", {}) == DATA
    assert server.begins == [0, 0]


@pytest.mark.parametrize("known", [WHOLE, SUM_ONLY])
@pytest.mark.parametrize("partial_size", [500_000, len(DATA)])
def test_partial_file_is_resumed(tmp_path, partial_size, known):
    partial_path(tmp_path / "a").write_bytes(DATA[:partial_size])
    with run_server(make_file_reply()) as server:
        assert download_from(server, tmp_path / "a", known) == DATA
    assert server.begins == [partial_size] * (partial_size < len(DATA) or known is SUM_ONLY)


def test_server_without_ranges(tmp_path):
    partial_path(tmp_path / "a").write_bytes(DATA[:500_000])
    with run_server(ignore_range(make_file_reply())) as server:
        assert download_from(server, tmp_path / "a") == DATA


def test_range_of_another_file(tmp_path):
    with run_server(make_file_reply(sent=300_000), make_file_reply(OTHER), make_file_reply()) as server:
        assert download_from(server, tmp_path / "a") == DATA
    assert server.begins == [0, 300_000, 0]


def test_silent_server_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "READ_TIMEOUT", 1.5)
    over = threading.Event()

    def stay_silent(begin):
        yield from make_file_reply(sent=100_000)(begin)
        over.wait(60)

    with run_server(stay_silent, make_file_reply()) as server:
        assert download_from(server, tmp_path / "a") == DATA
        over.set()
    assert server.begins[:2] == [0, 100_000]


def send_first_bytes(begin: int) -> Iterator[bytes]:
    """The first bytes of a file, whatever part is asked for; then the connection ends."""
    whole = f"Content-Range: bytes 0-{len(DATA) - 1}/{len(DATA)}"
    yield format_head("206 Partial Content" if begin else "200 OK", f"Content-Length: {len(DATA)}", whole)
    yield DATA[:300_000]


@pytest.mark.parametrize("reply", [send_first_bytes, ignore_range(make_file_reply(sent=300_000))])
@pytest.mark.parametrize("known", [WHOLE, SUM_ONLY])
def test_server_without_progress_is_left(tmp_path, reply, known):
    with run_server(reply) as server, refused():
        download_from(server, tmp_path / "a", known)
    assert len(server.begins) <= 2 + module.ATTEMPTS


def test_busy_server_is_asked_again(tmp_path):
    with run_server(BUSY, make_reply("Retry-After: 99", status="429 Busy"), make_file_reply()) as server:
        assert download_from(server, tmp_path / "a") == DATA
    with run_server(BUSY) as server, refused():
        download_from(server, tmp_path / "b")
    assert len(server.begins) == module.ATTEMPTS


FLIPPED = DATA[:1000] + bytes([DATA[1000] ^ 1]) + DATA[1001:]


@pytest.mark.parametrize(
    ("reply", "known"),
    [
        (make_file_reply(FLIPPED), WHOLE),
        (make_file_reply(FLIPPED), SUM_ONLY),
        (make_file_reply(DATA[:-1000]), WHOLE),
        (ignore_range(make_file_reply(DATA, length=701_000)), WHOLE),
        (make_reply(body=DATA + b"x"), WHOLE),
        (make_file_reply(b""), {}),
    ],
)
def test_wrong_file_is_refused(tmp_path, reply, known):
    with run_server(reply) as server, refused():
        download_from(server, tmp_path / "a", known)
    assert not (tmp_path / "a").exists()


# --- mirrors and other archives


def test_mirrors_come_first(tmp_path):
    (tmp_path / "full").mkdir()
    make_mirror(tmp_path / "full" / "wmt")
    with run_server(ABSENT) as server:
        mirrors = [str(tmp_path / "empty"), f"{server.address}/m", (tmp_path / "full").as_uri()]
        found = download_file(make_source(NOWHERE, path="wmt/a"), tmp_path / "a", mirrors)
    assert found == (tmp_path / "full" / "wmt" / "a").as_uri()
    assert server.lines == ["GET /m/wmt/a HTTP/1.1"]
    assert (tmp_path / "a").read_bytes() == DATA


def test_secrets_of_address_are_hidden(tmp_path, capfd):
    with run_server(make_file_reply(sent=1000), make_file_reply(), ABSENT) as server:
        secret = server.address.replace("http://", "http://alice:s3cret@") + "/a?sig=t0ken"
        assert download_file(make_source(secret), tmp_path / "a") == f"{server.address}/a"
        with pytest.raises(UserError) as refusal:
            download_file(make_source(secret), tmp_path / "b")
    told = capfd.readouterr().err + str(refusal.value) + (tmp_path / "a.json").read_text()
    assert "127.0.0.1" in told and not {"alice", "s3cret", "t0ken"} & set(re.findall(r"\w+", told))


def test_alternative_archive(tmp_path):
    partial_path(tmp_path / "a").write_bytes(DATA[:1000])
    with run_server(ABSENT, ABSENT, make_file_reply(OTHER)) as server:
        other = Source(url=f"{server.address}/b.zip", path="q/b.zip")
        wanted = make_source(f"{server.address}/a", {**WHOLE, "alternatives": [other]}, "p/a")
        found = download_file(wanted, tmp_path / "a", [f"{server.address}/mirror"])
    assert found == f"{server.address}/mirror/q/b.zip"
    assert [line.split()[1] for line in server.lines] == ["/mirror/p/a", "/a", "/mirror/q/b.zip"]
    assert server.begins[2] == 0
    assert (tmp_path / "a").read_bytes() == OTHER
    note = read_json(tmp_path / "a.json")
    assert (note["source"], note["checked"]) == (found, [])
    assert note["sha256"] == hashlib.sha256(OTHER).hexdigest()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "a.json"}


def test_file_of_mirror_is_copied_untouched(tmp_path):
    mine = Path(make_mirror(tmp_path / "mine #1"), "a")
    mine.chmod(0o444)
    time = mine.stat().st_mtime_ns
    output = tmp_path / "data" / "a"
    for _ in range(2):  # the second time it is there already
        assert download_file(make_source(NOWHERE, path="a"), output, [str(mine.parent)]) == str(mine)
        assert output.read_bytes() == DATA
        assert not output.is_symlink() and not output.samefile(mine)
    assert {path.name for path in output.parent.iterdir()} == {"a", "a.json"}
    assert mine.stat().st_mtime_ns == time and mine.read_bytes() == DATA


# --- odd answers

STATUSES = ("200 OK", "206 Partial Content", "302 Found", "416 Range", "429 Busy", "503 Busy", "404 No")
NAMES = ("Content-Length", "Content-Range", "Location", "Retry-After", "ETag", "Transfer-Encoding")
VALUES = (
    *("700000", "0", "-1", "9" * 25, "bytes 0-699999/700000", "bytes */700000"),
    *("/a", "//", "http://[", "chunked"),
)
TEXT = st.text(max_size=12)
HEADS = st.tuples(
    st.sampled_from(STATUSES) | TEXT,
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES) | TEXT), max_size=4),
)


@pytest.mark.fuzz
@given(heads=st.lists(HEADS, min_size=1, max_size=3), known=st.booleans())
def test_any_answer_is_file_or_error(tmp_path_factory, heads, known):
    def reply(status, headers):
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
        return lambda _: iter(["\r\n".join(lines).encode("utf-8", "replace"), DATA])

    output = tmp_path_factory.mktemp("odd") / "a"
    with run_server(*(reply(*each) for each in heads)) as server:
        try:
            found = download_from(server, output, SUM_ONLY if known else {})
        except UserError as error:
            assert (
                len(error.args) == 2
                and len(str(error)) < 700
                and list(map(printable, error.args)) == [*error.args]
            )
            assert not output.exists()
        else:
            assert found == DATA or not known
