"""One source's transfer, from servers that answer what no server should: raw answers over real connections."""

from __future__ import annotations

import contextlib
import hashlib
import random
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from pipeline.download import transfer
from pipeline.download.download import File, download
from pipeline.download.transfer import Expected, Patience

DATA = random.Random(1).randbytes(300_000)
OTHER = random.Random(2).randbytes(300_000)
MD5 = hashlib.md5(DATA).hexdigest()
QUICK = Patience(attempts=3, wait=0.01, connect=1.0, silence=0.3)

Reply = Callable[[str], Iterator[bytes]]
"""What a server sends for a request's head, piece by piece; the connection ends with it."""


class Server(socketserver.ThreadingTCPServer):
    """Answers the requests in turn; the last answer stands for all that follow."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = [*replies]
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        lines = []
        while (line := self.rfile.readline().strip()) != b"":
            lines.append(line.decode())
        self.server.requests.append("\n".join(lines))
        reply = self.server.replies[0]
        if len(self.server.replies) > 1:
            self.server.replies.pop(0)
        with contextlib.suppress(OSError):  # the client may have seen enough
            for piece in reply(self.server.requests[-1]):
                self.wfile.write(piece)


@contextlib.contextmanager
def serving(*replies: Reply) -> Iterator[Server]:
    with Server(*replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def head(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1")


def whole(data: bytes, *headers: str, sent: int | None = None) -> Reply:
    """A file, maybe broken off after some bytes."""

    def reply(_: str) -> Iterator[bytes]:
        yield head("200 OK", f"Content-Length: {len(data)}", *headers)
        yield data[:sent]

    return reply


def rest(data: bytes, *headers: str) -> Reply:
    """The part that is asked for, whatever `If-Range` says."""

    def reply(request: str) -> Iterator[bytes]:
        begin = int(request.partition("Range: bytes=")[2].partition("-")[0])
        yield head(
            "206 Partial Content",
            f"Content-Range: bytes {begin}-{len(data) - 1}/{len(data)}",
            f"Content-Length: {len(data) - begin}",
            *headers,
        )
        yield data[begin:]

    return reply


def fetched(
    server: Server, folder: Path, expected: Expected | None = None, patience: Patience = QUICK
) -> bytes:
    download(File(f"{server.address}/a", expected or Expected()), folder / "a", patience=patience)
    return (folder / "a").read_bytes()


ETAGS = ('ETag: "1"', 'ETag: "2"')
DATES = tuple(f"Last-Modified: Mon, 0{day} Jan 2024 00:00:00 GMT" for day in (1, 8))


@pytest.mark.parametrize(
    "versions", [ETAGS, DATES, ('ETag: W/"1"', 'ETag: W/"2"'), ("Server: x", "Server: x")]
)
def test_two_versions_of_a_file_are_never_joined(tmp_path: Path, versions: tuple[str, str]) -> None:
    """The first breaks off; the server has another by then, and sends the part of it that was asked for."""
    replies = (whole(DATA, versions[0], sent=100_000), rest(OTHER, versions[1]), whole(OTHER, versions[1]))
    if not versions[0].startswith(('ETag: "', "Last")):  # nothing to ask by: all of it again
        replies = (replies[0], replies[2], replies[2])
    with serving(*replies) as server:
        assert fetched(server, tmp_path) == OTHER
    assert len(server.requests) <= 3


@pytest.mark.parametrize(
    ("version", "condition"),
    [(ETAGS[0], 'If-Range: "1"'), (DATES[0], f"If-Range: {DATES[0].partition(': ')[2]}")],
)
def test_the_rest_of_the_same_version_is_asked_for(tmp_path: Path, version: str, condition: str) -> None:
    with serving(whole(DATA, version, sent=100_000), rest(DATA, version)) as server:
        assert fetched(server, tmp_path) == DATA
    assert condition in server.requests[1]
    assert "Range: bytes=100000-" in server.requests[1]


def test_a_server_that_heeds_the_condition_sends_all_of_its_version(tmp_path: Path) -> None:
    with serving(whole(DATA, ETAGS[0], sent=100_000), whole(OTHER, ETAGS[1])) as server:
        assert fetched(server, tmp_path) == OTHER


def test_where_a_checksum_is_known_other_tags_are_no_reason_to_start_over(tmp_path: Path) -> None:
    """Mirrors behind one name tag the same file differently."""
    with serving(whole(DATA, ETAGS[0], sent=100_000), rest(DATA, ETAGS[1])) as server:
        assert fetched(server, tmp_path, Expected(md5=MD5)) == DATA
    assert len(server.requests) == 2


def endless(_: str) -> Iterator[bytes]:
    yield head("200 OK")
    while True:
        yield bytes(1 << 16)


def endless_chunks(_: str) -> Iterator[bytes]:
    yield head("200 OK", "Transfer-Encoding: chunked")
    while True:
        yield b"10000\r\n" + bytes(1 << 16) + b"\r\n"


@pytest.mark.parametrize("reply", [endless, endless_chunks])
def test_an_endless_body_ends_at_the_known_size(tmp_path: Path, reply: Reply) -> None:
    with serving(reply) as server, pytest.raises(UserError, match="more than the 300,000 bytes expected"):
        fetched(server, tmp_path, Expected(bytes=len(DATA)))
    assert not [*tmp_path.iterdir()]
    assert len(server.requests) == 1


def test_the_disk_is_watched_while_a_file_of_unknown_length_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Free space as if the file came to a disk of 32 MiB beside what has to stay free."""

    def usage(folder: Path) -> SimpleNamespace:
        come = sum(path.stat().st_size for path in folder.iterdir())
        return SimpleNamespace(free=transfer.LEAST_FREE + (1 << 25) - come)

    monkeypatch.setattr("shutil.disk_usage", usage)
    with serving(endless) as server, pytest.raises(UserError, match=r"bytes free, .* needed for a;"):
        fetched(server, tmp_path)


def test_a_source_of_a_byte_per_connection_is_left(tmp_path: Path) -> None:
    def byte(request: str) -> Iterator[bytes]:
        begin = int(request.partition("Range: bytes=")[2].partition("-")[0] or 0)
        yield head(
            "206 Partial Content" if begin else "200 OK",
            f"Content-Range: bytes {begin}-{len(DATA) - 1}/{len(DATA)}",
            f"Content-Length: {len(DATA) - begin}",
        )
        yield DATA[begin : begin + 1]

    begin = time.monotonic()
    with serving(byte) as server, pytest.raises(UserError, match="299997 more expected"):
        fetched(server, tmp_path, Expected(md5=MD5))
    assert len(server.requests) == QUICK.attempts
    assert time.monotonic() - begin < 10


def answering(*headers: str, status: str = "200 OK", body: bytes = b"") -> Reply:
    return lambda _: iter([head(status, *headers), body])


ODD = {
    "address": (answering("Location: http://[::1", status="302 Found"), "not a valid URL"),
    "scheme": (answering("Location: file:///etc/passwd", status="302 Found"), "not a valid URL"),
    "bytes": (answering("Location: http://\xff\xfe/", status="302 Found"), ""),
    "circle": (answering("Location: /a", status="301 Moved"), "more than 10 redirects"),
    "length": (answering(f"Content-Length: {'9' * 5000}"), "a Content-Length of 5000 digits"),
    "negative": (answering("Content-Length: -1", body=b"x"), "broke off after 1 of 300000 bytes"),
    "retry": (answering(f"Retry-After: {'9' * 5000}", status="503 Busy"), "HTTP 503 Busy, to be asked again"),
    "date": (answering("Retry-After: Mon, 01 Jan 0001 00:00:00 GMT", status="503 Busy"), "HTTP 503 Busy"),
    "status": (answering(status="999 \x1b[31mred"), "HTTP 999 \\x1b[31mred"),
    "no HTTP": (lambda _: iter([b"\x00\xff" * 100]), ""),
    "empty": (lambda _: iter([]), ""),
    "headers": (answering(*(f"X-{n}: y" for n in range(2000))), ""),
    "long header": (answering(f"X: {'y' * 100_000}"), ""),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_answers_lead_to_the_next_source(tmp_path: Path, kind: str) -> None:
    reply, message = ODD[kind]
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a").write_bytes(DATA)
    known = Expected(len(DATA), MD5)
    with serving(reply) as server:
        with pytest.raises(UserError) as error:
            fetched(server, tmp_path, known)
        assert message in str(error.value)
        assert "\x1b" not in str(error.value)
        assert len(str(error.value)) < 700
        address = File("http://127.0.0.1:1/a", known, "a")
        mirrors = [server.address, str(tmp_path / "mirror")]
        assert download(address, tmp_path / "a", mirrors, patience=QUICK) == f"{tmp_path}/mirror/a"


@pytest.mark.parametrize("value", [f"bytes {'9' * 5000}-5/6", f"bytes 100000-299999/{'9' * 5000}", "x"])
def test_an_odd_range_is_not_taken(tmp_path: Path, value: str) -> None:
    odd = answering(f"Content-Range: {value}", status="206 Partial Content", body=DATA[100_000:])
    with serving(whole(DATA, sent=100_000), odd, whole(DATA)) as server:
        assert fetched(server, tmp_path, Expected(md5=MD5)) == DATA


def test_redirects_are_followed_and_their_bodies_left(tmp_path: Path) -> None:
    def elsewhere(_: str) -> Iterator[bytes]:
        yield head("302 Found", "Location: /b%20c?d=é#e".encode().decode("latin-1"))
        while True:
            yield bytes(1 << 16)

    with serving(elsewhere, whole(DATA)) as server:
        assert fetched(server, tmp_path) == DATA
    assert server.requests[1].startswith("GET /b%20c?d=%C3%A9 HTTP")


STATUSES = ("200 OK", "206 Partial Content", "302 Found", "416 Range", "429 Busy", "503 Busy", "404 No")
NAMES = (
    "Content-Length",
    "Content-Range",
    "Location",
    "Retry-After",
    "ETag",
    "Last-Modified",
    "Transfer-Encoding",
)
VALUES = (
    "300000",
    "0",
    "-1",
    "9" * 25,
    "bytes 0-299999/300000",
    "bytes */300000",
    "/a",
    "//",
    "http://[",
    "chunked",
)
TEXT = st.text(max_size=12)
HEADS = st.tuples(
    st.sampled_from(STATUSES) | TEXT,
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES) | TEXT), max_size=4),
)


@pytest.mark.fuzz
@given(heads=st.lists(HEADS, min_size=1, max_size=3), known=st.booleans())
def test_whatever_a_server_answers_is_a_file_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, heads: list[tuple[str, list[tuple[str, str]]]], known: bool
) -> None:
    def reply(status: str, headers: list[tuple[str, str]]) -> Reply:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
        return lambda _: iter(["\r\n".join(lines).encode("utf-8", "replace"), DATA])

    folder = tmp_path_factory.mktemp("odd")
    patience = Patience(attempts=2, wait=0.001, connect=1.0, silence=0.3, longest_asked=0.01)
    with serving(*(reply(*each) for each in heads)) as server:
        try:
            found = fetched(server, folder, Expected(md5=MD5) if known else None, patience)
        except UserError as error:
            assert "\n" not in str(error)
            assert not (folder / "a").exists()
        else:
            assert found == DATA or not known
