from __future__ import annotations

import contextlib
import email.utils
import errno
import hashlib
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.io import job_progress
from nmt.io.files import read_json
from pipeline.download import download as downloading
from pipeline.download.download import File
from pipeline.download.transfer import Expected, Patience, Seen

DATA = random.Random(1).randbytes(700_000)
WHOLE = Expected(len(DATA), hashlib.md5(DATA).hexdigest(), hashlib.sha256(DATA).hexdigest())
SUM_ONLY = Expected(md5=WHOLE.md5)
QUICK = Patience(attempts=3, wait=0.01, connect=1.0, silence=0.2, longest_asked=5.0)


def download(
    url: str,
    output: Path,
    expected: Expected,
    mirrors: Sequence[str] = (),
    path: str | None = None,
    patience: Patience = QUICK,
    alternatives: Sequence[File] = (),
) -> str:
    return downloading.download(File(url, expected, path), output, mirrors, alternatives, patience)


class Server(ThreadingHTTPServer):
    """Serves DATA at every path, with the faults that the test asks for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = DATA
        self.statuses: list[int] = []  # one for each coming request; afterwards 200
        self.break_off_after: list[int] = []  # body bytes of each coming request
        self.ranges = True
        self.claimed_bytes: int | None = None
        self.lengths = True  # whether answers say how long they are
        self.encoding: str | None = None
        self.retry_after: str | None = None
        self.range_begin: int | None = None  # that answers claim instead of the one asked for
        self.range_shift = 0  # bytes by which what is sent is beside what is claimed
        self.end_of_range: str | None = None  # Content-Range of a 416
        self.stalls: list[float] = []  # of each coming request: seconds of silence in the middle of the body
        self.drip: list[float] = []  # of each coming request: seconds between two bytes
        self.requests: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.close_connection = True
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        if self.server.statuses and (status := self.server.statuses.pop(0)) != 200:
            self.send_response(status)
            if self.server.retry_after:
                self.send_header("Retry-After", self.server.retry_after)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        if begin >= len(self.server.data):
            self.send_response(416)
            if self.server.end_of_range:
                self.send_header("Content-Range", self.server.end_of_range)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._send(self.server.data[begin:] if not begin else self._shifted(begin), begin)

    def _shifted(self, begin: int) -> bytes:
        body = self.server.data[begin + self.server.range_shift :]
        return body + b"x" * self.server.range_shift

    def _send(self, body: bytes, begin: int) -> None:
        self.send_response(206 if begin else 200)
        if self.server.lengths:
            self.send_header("Content-Length", str(self.server.claimed_bytes or len(body)))
        if begin:
            total = len(self.server.data)
            claimed = begin if self.server.range_begin is None else self.server.range_begin
            self.send_header("Content-Range", f"bytes {claimed}-{total - 1}/{total}")
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        self.end_headers()
        if self.server.break_off_after:
            body = body[: self.server.break_off_after.pop(0)]
        with contextlib.suppress(ConnectionError):  # the client may have seen enough
            if self.server.drip and (seconds := self.server.drip.pop(0)):
                self._drip(body, seconds)
            elif self.server.stalls:
                self.wfile.write(body[:100_000])
                time.sleep(self.server.stalls.pop(0))
                body = b""
            self.wfile.write(body)

    def _drip(self, body: bytes, seconds: float) -> None:
        for place in range(1000):
            self.wfile.write(body[place : place + 1])
            time.sleep(seconds)

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


# --- sources that are busy, slow or wrong


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("as_date", [False, True])
def test_a_pause_that_the_server_asks_for_is_kept(
    server: Server, tmp_path: Path, status: int, as_date: bool
) -> None:
    server.statuses = [status]
    server.retry_after = email.utils.formatdate(time.time() + 2.5, usegmt=True) if as_date else "1"
    begin = time.monotonic()
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert time.monotonic() - begin >= 1
    assert_whole(tmp_path / "a")


def test_a_server_that_asks_for_too_long_a_pause_is_left_for_the_next(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a").write_bytes(DATA)
    server.statuses, server.retry_after = [503], "3600"
    mirrors = [server.address, str(tmp_path / "mirror")]
    source = download("http://127.0.0.1:1/a", tmp_path / "a", WHOLE, mirrors, "a")
    assert source == f"{tmp_path}/mirror/a"
    assert len(server.requests) == 1


def test_pauses_grow_up_to_the_longest(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.statuses = [503] * 9
    patience = Patience(attempts=5, wait=0.02, longest_wait=0.1)
    begin = time.monotonic()
    with pytest.raises(UserError, match="HTTP 503"):
        download(f"{server.address}/a", tmp_path / "a", WHOLE, patience=patience)
    assert time.monotonic() - begin >= 0.02 + 0.04 + 0.08 + 0.1
    assert len(server.requests) == 5
    assert capsys.readouterr().err.count("HTTP 503") == 4


def test_a_server_that_falls_silent_is_asked_again_for_the_rest(server: Server, tmp_path: Path) -> None:
    server.stalls = [0.6]
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")
    assert server.requests[1] == ("/a", "bytes=100000-")


def test_a_server_that_drips_is_left_after_some_attempts(server: Server, tmp_path: Path) -> None:
    server.drip = [0.02] * 9
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a").write_bytes(DATA)
    mirrors = [server.address, str(tmp_path / "mirror")]
    begin = time.monotonic()
    source = download("http://127.0.0.1:1/a", tmp_path / "a", WHOLE, mirrors, "a")
    assert source == f"{tmp_path}/mirror/a"
    assert len(server.requests) == QUICK.attempts
    assert time.monotonic() - begin < 10
    assert_whole(tmp_path / "a")


def test_a_server_that_drips_for_a_while_is_gone_on_with(server: Server, tmp_path: Path) -> None:
    server.drip = [0.02, 0]
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")
    assert len(server.requests) == 2
    assert server.requests[1][1] is not None


@pytest.mark.parametrize("expected", [WHOLE, SUM_ONLY])
def test_an_answer_with_another_range_is_not_taken(
    server: Server, tmp_path: Path, expected: Expected
) -> None:
    server.range_begin = 5
    part(tmp_path / "a").write_bytes(DATA[:500_000])
    download(f"{server.address}/a", tmp_path / "a", expected)
    assert_whole(tmp_path / "a")
    assert [wanted for _, wanted in server.requests] == ["bytes=500000-", None]


def test_a_range_with_wrong_bytes_is_noticed_in_the_same_call(server: Server, tmp_path: Path) -> None:
    server.range_shift = 10
    server.break_off_after = [300_000]
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert_whole(tmp_path / "a")
    assert [wanted for _, wanted in server.requests] == [None, "bytes=300000-", None]


def test_a_length_that_is_too_large_is_seen_through_at_the_end(server: Server, tmp_path: Path) -> None:
    server.claimed_bytes = len(DATA) + 1000
    server.end_of_range = f"bytes */{len(DATA)}"
    download(f"{server.address}/a", tmp_path / "a", SUM_ONLY)
    assert_whole(tmp_path / "a")
    assert [wanted for _, wanted in server.requests] == [None, f"bytes={len(DATA)}-"]


@pytest.mark.parametrize("claimed", [len(DATA) - 1000, len(DATA) + 1000])
@pytest.mark.parametrize("expected", [WHOLE, SUM_ONLY])
def test_a_wrong_length_never_makes_a_wrong_file(
    server: Server, tmp_path: Path, claimed: int, expected: Expected
) -> None:
    server.claimed_bytes = claimed
    server.ranges = False
    with pytest.raises(UserError, match=f"{server.address}/a: "):
        download(f"{server.address}/a", tmp_path / "a", expected)
    assert not (tmp_path / "a").exists()


def test_the_whole_archive_must_fit_before_the_first_byte(server: Server, tmp_path: Path) -> None:
    huge = Expected(bytes=10**18, md5=WHOLE.md5)
    with pytest.raises(UserError, match="bytes free, 1,000,000,000,000,000,000 needed for a;"):
        download(f"{server.address}/a", tmp_path / "a", huge)
    assert not server.requests


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        (WHOLE, [None, "bytes=100000-", "bytes=300000-"]),
        (SUM_ONLY, [None, "bytes=100000-", "bytes=300000-"]),  # the second answer says how long the whole is
    ],
)
def test_a_connection_that_breaks_off_without_a_length_is_gone_on_with(
    server: Server, tmp_path: Path, expected: Expected, asked: list[str | None]
) -> None:
    server.lengths = False
    server.break_off_after = [100_000, 200_000]
    download(f"{server.address}/a", tmp_path / "a", expected)
    assert_whole(tmp_path / "a")
    assert [wanted for _, wanted in server.requests] == asked


def test_where_nobody_says_how_long_the_file_is_a_second_request_is_made(
    server: Server, tmp_path: Path
) -> None:
    server.lengths = server.ranges = False
    server.break_off_after = [100_000]
    download(f"{server.address}/a", tmp_path / "a", SUM_ONLY)
    assert_whole(tmp_path / "a")
    assert len(server.requests) == 2


def test_a_first_request_that_is_beyond_the_end_leaves_the_source(server: Server, tmp_path: Path) -> None:
    server.statuses = [416]
    with pytest.raises(UserError, match=f"{server.address}/a: HTTP 416"):
        download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert len(server.requests) == 1


def test_rate_and_time_left_are_those_of_this_attempt(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(job_progress.LOG, str(tmp_path / "a.log"))
    part(tmp_path / "a").write_bytes(DATA[:500_000])
    download(f"{server.address}/a", tmp_path / "a", WHOLE)
    assert (reading := job_progress.read(tmp_path / "a.progress.json")) is not None
    assert (reading.count, reading.total, reading.before) == (700_000, 700_000, 500_000)


# --- other archives with the same members

OTHER = DATA[::-1]


def test_another_archive_is_asked_for_when_nobody_gives_the_file(server: Server, tmp_path: Path) -> None:
    server.data = OTHER
    server.statuses = [404, 404]
    part(tmp_path / "a.tgz").write_bytes(DATA[:1000])
    source = download(
        f"{server.address}/a.tgz",
        tmp_path / "a.tgz",
        WHOLE,
        mirrors=[f"{server.address}/mirror"],
        path="p/a.tgz",
        alternatives=[File(f"{server.address}/b.zip", Expected(), "q/b.zip")],
    )
    assert source == f"{server.address}/mirror/q/b.zip"
    assert [path for path, _ in server.requests] == ["/mirror/p/a.tgz", "/a.tgz", "/mirror/q/b.zip"]
    assert server.requests[2][1] is None
    assert (tmp_path / "a.tgz").read_bytes() == OTHER
    note = read_json(tmp_path / "a.tgz.json")
    assert note["source"] == source
    assert note["sha256"] == hashlib.sha256(OTHER).hexdigest()
    assert note["checked"] == []
    assert {path.name for path in tmp_path.iterdir()} == {"a.tgz", "a.tgz.json"}


def test_what_is_known_of_another_archive_is_checked(server: Server, tmp_path: Path) -> None:
    alternative = File(f"{server.address}/b", Expected(sha256="0" * 64))
    with pytest.raises(UserError, match=rf"/a: HTTP 404.*; {server.address}/b: sha256 is"):
        server.statuses = [404]
        download(f"{server.address}/a", tmp_path / "a", WHOLE, alternatives=[alternative])
    assert not [*tmp_path.iterdir()]


# --- notes, folders


def test_the_size_and_the_sums_seen_are_noted(server: Server, tmp_path: Path) -> None:
    download(f"{server.address}/a", tmp_path / "a", SUM_ONLY)
    assert read_json(tmp_path / "a.json") == {
        "source": f"{server.address}/a",
        "checked": ["md5"],
        "bytes": WHOLE.bytes,
        "md5": WHOLE.md5,
        "sha256": WHOLE.sha256,
    }
    assert Seen.of(tmp_path / "a") == Seen(len(DATA), str(WHOLE.md5), str(WHOLE.sha256))


@pytest.mark.parametrize("mode", [0o444, 0o644])
def test_an_archive_in_a_folder_is_taken_from_there_and_never_touched(tmp_path: Path, mode: int) -> None:
    mine = tmp_path / "mine" / "a.tgz"
    mine.parent.mkdir()
    mine.write_bytes(DATA)
    mine.chmod(mode)
    before = mine.stat()
    output = tmp_path / "data" / "a.tgz"
    for _ in range(2):  # the second time it is there already
        download("http://127.0.0.1:1/a", output, WHOLE, [str(mine.parent)], "a.tgz")
        assert_whole(output)
        assert not output.is_symlink() and not output.samefile(mine)
    assert {path.name for path in output.parent.iterdir()} == {"a.tgz", "a.tgz.json"}
    after = mine.stat()
    assert (after.st_mtime_ns, after.st_mode, after.st_nlink) == (before.st_mtime_ns, before.st_mode, 1)
    assert mine.read_bytes() == DATA


@pytest.mark.parametrize("read", ["is_file", "open"])
def test_a_mirror_that_cannot_be_read_is_passed_over(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    """As a folder of another user, or a network's file system whose server has gone."""
    stale = tmp_path / "stale" / "a.tgz"
    stale.parent.mkdir()
    stale.write_bytes(DATA)
    whole = getattr(Path, read)

    def fails(path: Path, *arguments: object, **options: object) -> object:
        if path == stale:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return whole(path, *arguments, **options)

    monkeypatch.setattr(Path, read, fails)
    source = download(f"{server.address}/a", tmp_path / "a", WHOLE, [str(stale.parent)], "a.tgz")
    assert source == f"{server.address}/a"
    with pytest.raises(UserError, match=rf"{stale}: cannot be read \(Stale file handle\)"):
        download("http://127.0.0.1:1/a", tmp_path / "b", WHOLE, [str(stale.parent)], "a.tgz")


def test_a_mirror_that_breaks_off_while_it_is_read_is_passed_over(server: Server, tmp_path: Path) -> None:
    """A file that every process may open and whose bytes nobody can read."""
    mirrors = ["/proc/self"]
    if not Path("/proc/self/mem").is_file():
        pytest.skip("needs Linux' /proc/self/mem")
    source = download(f"{server.address}/a", tmp_path / "a", WHOLE, mirrors, "mem")
    assert source == f"{server.address}/a"
    assert_whole(tmp_path / "a")
