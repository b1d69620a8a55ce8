"""A disk that fills: one line, nothing half-made, and the last good checkpoint stays."""

import os
import random
import shutil
import subprocess
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


def test_training_keeps_its_last_checkpoint_and_goes_on(tmp_path, small_disk):
    draw = random.Random(1)
    pairs = [([draw.randint(2, 30)] * 3, [draw.randint(2, 30)] * 2) for _ in range(60)]
    text = write_bitext(tmp_path, pairs)
    vocabularies = [f"--{side}-vocabulary={tmp_path / side}.tsv" for side in ("source", "target")]
    places = ["--store", str(small_disk / "store"), "--output", str(tmp_path / "model")]

    def train(updates):
        settings = model_run(updates=updates, checkpoint_every=10).model_dump_json()
        both = ["--train", str(text.folder), "--dev", str(text.folder)]
        return nmt("train", "--settings", settings, *both, *vocabularies, *places)

    assert train(10).returncode == 0
    fill(small_disk, 8192)
    full = train(40)
    assert full.returncode == 2
    assert full.stderr.strip().split("\n")[-1].startswith("error: ")
    (state,) = small_disk.glob("store/trainings/*")
    assert checkpoint.list_checkpoints(state)[-1].name == "checkpoint-000000010.safetensors"
    assert not list(state.rglob(".*part*"))
    (small_disk / "filler").unlink()
    again = train(40)
    assert again.returncode == 0, again.stderr
    assert "resuming after update 10" in again.stderr
