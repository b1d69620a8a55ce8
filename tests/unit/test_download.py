from __future__ import annotations

import contextlib
import hashlib
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nmt.download import Expected, Patience, download
from nmt.errors import UserError

DATA = random.Random(1).randbytes(700_000)
WHOLE = Expected(len(DATA), hashlib.md5(DATA).hexdigest(), hashlib.sha256(DATA).hexdigest())
SUM_ONLY = Expected(md5=WHOLE.md5)
QUICK = Patience(attempts=3, wait=0.01)


class Server(ThreadingHTTPServer):
    """Serves DATA at every path, with the faults that the test asks for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = DATA
        self.statuses: list[int] = []  # one for each coming request; afterwards 200
        self.break_off_after: list[int] = []  # body bytes of each coming request
        self.ranges = True
        self.claimed_bytes: int | None = None
        self.encoding: str | None = None
        self.requests: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        if self.server.statuses and (status := self.server.statuses.pop(0)) != 200:
            self.send_error(status)
            return
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        if begin >= len(self.server.data):
            self.send_error(416)
            return
        self._send(self.server.data[begin:], begin)

    def _send(self, body: bytes, begin: int) -> None:
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(self.server.claimed_bytes or len(body)))
        if begin:
            total = len(self.server.data)
            self.send_header("Content-Range", f"bytes {begin}-{total - 1}/{total}")
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        self.end_headers()
        if self.server.break_off_after:
            body = body[: self.server.break_off_after.pop(0)]
        with contextlib.suppress(ConnectionError):  # the client may have seen enough
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def part(output: Path) -> Path:
    return output.with_name(f"{output.name}.part")


def assert_whole(output: Path) -> None:
    assert output.read_bytes() == DATA
    assert not part(output).exists()


def test_a_whole_file_arrives(server: Server, tmp_path: Path) -> None:
    output = tmp_path / "folder" / "a.tgz"
    assert download(f"{server.address}/a.tgz", output, WHOLE) == f"{server.address}/a.tgz"
    assert_whole(output)


def test_an_announced_encoding_does_not_change_the_bytes(server: Server, tmp_path: Path) -> None:
    server.encoding = "gzip"
    download(f"{server.address}/a.tgz", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")


def test_a_connection_that_breaks_off_is_gone_on_with(server: Server, tmp_path: Path) -> None:
    server.break_off_after = [300_000, 100_000]
    download(f"{server.address}/a", tmp_path / "a", WHOLE, patience=QUICK)
    assert_whole(tmp_path / "a")
    begins = [wanted for _, wanted in server.requests]
    assert begins == [None, "bytes=300000-", "bytes=400000-"]


def test_a_source_is_asked_on_as_long_as_it_gives_something(server: Server, tmp_path: Path) -> None:
    server.break_off_after = [60_000] * 11
    download(f"{server.address}/a", tmp_path / "a", WHOLE, patience=QUICK)
    assert_whole(tmp_path / "a")
    assert len(server.requests) == 12


@pytest.mark.parametrize("expected", [WHOLE, SUM_ONLY])
def test_the_next_call_goes_on_where_an_earlier_one_was_killed(
    server: Server, tmp_path: Path, expected: Expected
) -> None:
    part(tmp_path / "a").write_bytes(DATA[:500_000])
    download(f"{server.address}/a", tmp_path / "a", expected)
    assert_whole(tmp_path / "a")
    assert server.requests == [("/a", "bytes=500000-")]


def test_a_part_that_was_complete_is_taken_without_a_request(server: Server, tmp_path: Path) -> None:
    part(tmp_path / "a").write_bytes(DATA)
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")
    assert not server.requests


def test_without_a_sum_an_earlier_part_is_not_trusted(server: Server, tmp_path: Path) -> None:
    part(tmp_path / "a").write_bytes(b"of another file")
    download(f"{server.address}/a", tmp_path / "a", Expected())
    assert_whole(tmp_path / "a")
    assert server.requests == [("/a", None)]


@pytest.mark.parametrize("length", [10_000, len(DATA), len(DATA) + 10])
@pytest.mark.parametrize("expected", [WHOLE, SUM_ONLY])
def test_a_wrong_part_is_thrown_away_once(
    server: Server, tmp_path: Path, length: int, expected: Expected
) -> None:
    part(tmp_path / "a").write_bytes(b"x" * length)
    download(f"{server.address}/a", tmp_path / "a", expected, patience=QUICK)
    assert_whole(tmp_path / "a")


def test_a_server_without_ranges_sends_everything_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    part(tmp_path / "a").write_bytes(DATA[:500_000])
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    download(f"{server.address}/a", tmp_path / "a", WHOLE, patience=QUICK)
    assert_whole(tmp_path / "a")


@pytest.mark.parametrize("expected", [WHOLE, SUM_ONLY])
def test_a_flipped_byte_is_refused_and_nothing_left(
    server: Server, tmp_path: Path, expected: Expected
) -> None:
    server.data = DATA[:1000] + bytes([DATA[1000] ^ 1]) + DATA[1001:]
    with pytest.raises(UserError, match=f"a: no source gave the file: .*md5 is .*expected {WHOLE.md5}"):
        download(f"{server.address}/a", tmp_path / "a", expected)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("expected", "message"), [(WHOLE, "699000 bytes, expected 700000"), (SUM_ONLY, "md5 is")]
)
def test_a_file_cut_short_is_refused(
    server: Server, tmp_path: Path, expected: Expected, message: str
) -> None:
    server.data = DATA[:-1000]
    with pytest.raises(UserError, match=message):
        download(f"{server.address}/a", tmp_path / "a", expected)
    assert not (tmp_path / "a").exists()


def test_an_earlier_output_is_kept_when_the_download_fails(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("earlier")
    server.statuses = [404]
    with pytest.raises(UserError, match="HTTP 404"):
        download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert (tmp_path / "a").read_text() == "earlier"
    assert len(server.requests) == 1


def test_mirrors_come_first_in_order(server: Server, tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir()
    (full / "wmt").mkdir(parents=True)
    (full / "wmt" / "a.tgz").write_bytes(DATA)
    mirrors = [str(empty), f"{server.address}/m", str(full)]
    server.statuses = [404]
    source = download("http://127.0.0.1:1/a", tmp_path / "a", WHOLE, mirrors, "wmt/a.tgz")
    assert source == f"{full}/wmt/a.tgz"
    assert server.requests == [("/m/wmt/a.tgz", None)]
    assert_whole(tmp_path / "a")


def test_a_mirror_with_other_bytes_is_passed_over(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a.tgz").write_bytes(b"other bytes")
    mirrors = [(tmp_path / "mirror").as_uri()]
    download(f"{server.address}/official", tmp_path / "a", WHOLE, mirrors, "a.tgz")
    assert_whole(tmp_path / "a")
    assert server.requests == [("/official", None)]


def test_when_all_are_down_one_line_names_them(tmp_path: Path) -> None:
    mirrors = ["http://127.0.0.1:1", str(tmp_path / "none")]
    with pytest.raises(UserError) as caught:
        download("http://127.0.0.1:2/a", tmp_path / "a", WHOLE, mirrors, "p/a", QUICK)
    message = str(caught.value)
    assert "\n" not in message
    for source in (
        "http://127.0.0.1:1/p/a: ",
        f"{tmp_path}/none/p/a: no such file",
        "http://127.0.0.1:2/a: ",
    ):
        assert source in message
    assert message.count("refused") == 2
    assert not [*tmp_path.iterdir()]


def test_a_mirror_needs_the_path_under_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--path"):
        download("http://127.0.0.1:2/a", tmp_path / "a", WHOLE, ["/mirror"])


def test_a_disk_without_room_is_noticed_before(server: Server, tmp_path: Path) -> None:
    server.claimed_bytes = 10**18
    with pytest.raises(UserError, match="bytes free, 1,000,000,000,000,000,000 needed for a;"):
        download(f"{server.address}/a", tmp_path / "a", Expected())
    assert not [*tmp_path.iterdir()]
