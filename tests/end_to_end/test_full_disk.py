"""A disk that fills: one line, nothing half-made, and the last good checkpoint stays."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.training import checkpoint
from tests.bitexts import write_bitext
from tests.running import nmt
from tests.training_settings import model_run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("needs mount and root to make a small disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, leave: int) -> None:
    """Take all but `leave` bytes."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(b"x" * max(0, free - leave))


def test_training_keeps_its_last_checkpoint_and_goes_on(tmp_path: Path, small_disk: Path) -> None:
    draw = random.Random(1)
    pairs = [([draw.randint(2, 30)] * 3, [draw.randint(2, 30)] * 2) for _ in range(60)]
    text = write_bitext(tmp_path, pairs)
    vocabularies = [f"--{side}-vocabulary={tmp_path / side}.tsv" for side in ("source", "target")]
    places = ["--state", str(small_disk / "state"), "--output", str(tmp_path / "model")]

    def train(updates: int) -> subprocess.CompletedProcess[str]:
        settings = model_run(updates=updates, checkpoint_every=10).model_dump_json()
        both = ["--train", str(text.folder), "--dev", str(text.folder)]
        return nmt("train", "--settings", settings, *both, *vocabularies, *places)

    assert train(10).returncode == 0
    fill(small_disk, 8192)
    full = train(40)
    assert full.returncode == 2
    assert full.stderr.strip().split("\n")[-1].startswith("nmt: error: ")
    assert "Traceback" not in full.stderr
    assert checkpoint.saved(small_disk / "state")[-1].name == "checkpoint-000000010.json"
    assert not list((small_disk / "state").glob(".*part*"))
    (small_disk / "filler").unlink()
    again = train(40)
    assert again.returncode == 0, again.stderr
    assert "resuming after update 10" in again.stderr


def test_text_is_whole_or_not_there(small_disk: Path) -> None:
    fill(small_disk, 50_000)
    places = [f"--output-{side}={small_disk / side}" for side in ("source", "target", "alignment")]
    settings = '{"seed":1,"max_words":60,"lexicon":400,"zipf_exponent":1.0}'
    found = nmt(
        "data", "generate", "--settings", settings, "--split", "train", "--pairs", "20000", *places,
        "--counts", str(small_disk / "counts.json"),
    )  # fmt: skip
    assert found.returncode == 2
    assert "the disk is full" in found.stderr
    assert "Traceback" not in found.stderr
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def corpus(folder: Path) -> list[Path]:
    """Both sides of a text that does not fit on the small disk, compressed or not."""
    draw = random.Random(1)
    files = [folder / "text.en", folder / "text.fr"]
    for file in files:
        lines = (draw.randbytes(60).hex() for _ in range(20_000))
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return files


def test_sources_are_whole_or_not_there_and_made_when_there_is_room(tmp_path: Path, small_disk: Path) -> None:
    english, french = map(str, corpus(tmp_path))

    def make(folder: Path) -> subprocess.CompletedProcess[str]:
        outputs = [f"--output-{side}={folder / side}.zst" for side in ("source", "target")]
        inputs = ["--archive-source", english, "--archive-target", french]
        return nmt("data", "extract", *inputs, *outputs, "--counts", str(folder / "counts.json"))

    full = make(small_disk)
    assert full.returncode == 2
    assert "the disk is full" in full.stderr
    assert "Traceback" not in full.stderr
    assert not [*small_disk.iterdir()]
    assert make(tmp_path / "large").returncode == 0
    assert {path.name for path in (tmp_path / "large").iterdir()} == {
        "source.zst",
        "target.zst",
        "counts.json",
    }


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the later stages of the data read."""
    folder = tmp_path_factory.mktemp("text")
    english, _ = corpus(folder)
    made = nmt("data", "vocabulary", "--words", "500", english, "--output", folder / "words.tsv")
    assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.parametrize("subcommand", ["data tokenize", "data binarize"])
def test_later_stages_are_whole_or_not_there_and_made_when_there_is_room(
    tmp_path: Path, text: Path, small_disk: Path, subcommand: str
) -> None:
    english, french = str(text / "text.en"), str(text / "text.fr")
    tokenization = '{"tokenizer": "moses", "escape": true, "split_hyphens": false}'
    vocabularies = [f"--{side}-vocabulary={text / 'words.tsv'}" for side in ("source", "target")]

    def make(folder: Path) -> subprocess.CompletedProcess[str]:
        options = {
            "data tokenize": ["--language", "en", "--settings", tokenization, english, str(folder / "a.zst")],
            "data binarize": ["--text", english, french, *vocabularies, "--output", str(folder / "binary")],
        }[subcommand]
        return nmt(*subcommand.split(), *options)

    def files(folder: Path) -> list[str]:
        return sorted(path.name for path in folder.rglob("*") if path.is_file())

    fill(small_disk, 20_000)
    full = make(small_disk)
    assert full.returncode == 2
    assert "the disk is full" in full.stderr
    assert "Traceback" not in full.stderr
    assert files(small_disk) == ["filler"]
    large = make(tmp_path / "large")
    assert large.returncode == 0, large.stderr
    assert files(tmp_path / "large")


class Unannounced(http.server.BaseHTTPRequestHandler):
    """Sends two megabytes without saying how many."""

    data = random.Random(2).randbytes(2_000_000)

    def do_GET(self) -> None:
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if begin else 200)
        self.send_header("Content-Range", f"bytes {begin}-{len(self.data) - 1}/{len(self.data)}")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(self.data[begin:])

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_download_that_fills_the_disk_goes_on_when_there_is_room(small_disk: Path) -> None:
    sum = hashlib.sha256(Unannounced.data).hexdigest()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Unannounced) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/a"

        def fetch() -> subprocess.CompletedProcess[str]:
            return nmt("data", "download", "--url", url, "--sha256", sum, "--output", str(small_disk / "a"))

        full = fetch()
        assert full.returncode == 2
        assert "the disk is full" in full.stderr
        assert "Traceback" not in full.stderr
        assert [path.name for path in small_disk.iterdir()] == ["a.part"]
        begun = (small_disk / "a.part").stat().st_size
        assert begun > 500_000
        subprocess.run(["mount", "-o", "remount,size=3m", str(small_disk)], check=True)
        assert fetch().returncode == 0
        assert (small_disk / "a").read_bytes() == Unannounced.data
        server.shutdown()
