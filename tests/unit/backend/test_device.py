"""Which device computes, and what is said of a GPU that cannot be used; here without one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nmt.backend import gpu_pool
from nmt.backend.device import choose_device, find_out_of_memory_error, keep_freed_memory, make_deterministic
from tests.bitexts import write_bitext
from tests.messages import check, refused
from tests.running import ROOT
from tests.training_settings import model_run

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@pytest.fixture(autouse=True)
def nothing_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NMT_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


# --- what is there ----------------------------------------------------------------------------------------------------


def test_a_gpu_shows_by_a_device_that_opens_or_by_what_a_scheduler_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_pool, "DEVICES", tmp_path)
    (tmp_path / "nvidiactl").touch()
    (tmp_path / "nvidia1").mkdir()  # cannot be opened, as one that a scheduler has not granted
    assert not gpu_pool.has_gpu_evidence()
    (tmp_path / "nvidia0").touch()
    assert gpu_pool.has_gpu_evidence()
    for hidden in ("", "-1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
        assert not gpu_pool.has_gpu_evidence()
    monkeypatch.setenv("SLURM_JOB_GPUS", "3")
    assert gpu_pool.has_gpu_evidence()


@needs_no_gpu
def test_auto_says_which_device_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_device("auto").type == "cpu"
    assert "nmt: computes on CPU (" in capsys.readouterr().err
    assert choose_device("auto", announced=False).type == choose_device("cpu").type == "cpu"
    assert capsys.readouterr().err == ""


@needs_no_gpu
@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_a_gpu_that_torch_does_not_see_is_not_passed_over(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_GPUS", "3")
    monkeypatch.setattr(torch.version, "cuda", None)
    with refused():
        choose_device(name)
    assert choose_device("cpu").type == "cpu"


def test_a_gpu_on_which_nothing_can_be_computed_is_refused_before_the_first_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, device: str) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nmore")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    monkeypatch.setattr(torch, "ones", fail)
    with refused():
        choose_device("auto")


def test_what_decides_over_precision_behind_the_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as changes, refused():
        changes.setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16")
        choose_device("cpu")
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    assert choose_device("cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("nmt.backend.device._check_gpu", lambda: None)
    with refused():
        choose_device("auto")


def test_the_memory_of_products_is_the_one_with_which_they_are_equal_in_every_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0")
    make_deterministic(torch.get_num_threads())
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


# --- memory -----------------------------------------------------------------------------------------------------------


def test_other_errors_stay_what_they_are() -> None:
    assert find_out_of_memory_error(RuntimeError("shapes do not fit"), "work") is None


STUBBED = """
import sys, torch
from nmt.training.update import Updater
from nmt.cli import main
update, done = Updater.__call__, []
def until_memory_ends(*arguments):
    done.append(1)
    if len(done) == 8:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    update(*arguments)
Updater.__call__ = until_memory_ends
main()
"""
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (6 * 10**9, 6 * 10**9))
from nmt.cli import main
main()
"""


def train(folder: Path, program: str, **sizes: int) -> subprocess.CompletedProcess[str]:
    """`nmt train` in a process of its own, which begins with a program."""
    text = write_bitext(folder, [([2 + i % 9, 3], [4, 2 + i % 7]) for i in range(40)])
    run = model_run()
    run = run.model_copy(update={"architecture": run.architecture.model_copy(update=sizes)})
    options = ["--settings", run.model_dump_json(), "--train", str(text.folder), "--dev", str(text.folder)]
    options += [f"--{side}-vocabulary={folder}/{side}.tsv" for side in ("source", "target")]
    options += ["--store", str(folder / "store"), "--output", str(folder / "model")]
    command = [sys.executable, "-c", program, "train", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def test_training_without_memory_ends_in_a_line_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    ended = train(tmp_path, STUBBED)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    check(ended.stderr.splitlines()[-1])
    ended = train(tmp_path, "from nmt.cli import main; main()")
    # the checkpoint of the first validation, which is the best so far
    assert ended.returncode == 0 and "resuming after update 7" in ended.stderr, ended.stderr


def test_a_processor_without_memory_is_a_line_too(tmp_path: Path) -> None:
    ended = train(tmp_path, LIMITED, hidden_units=20_000)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    check(ended.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    ("largest", "taken"),
    [(2**31, [(-3, 2**31 - 1), (-1, 2**31 - 1)]), (2**25, [(-3, 2**25), (-1, 2**31 - 1)]), (0, [])],
)
def test_an_old_glibc_keeps_smaller_blocks_or_its_own_thresholds(
    monkeypatch: pytest.MonkeyPatch, largest: int, taken: list[tuple[int, int]]
) -> None:
    found = list[tuple[int, int]]()

    class Library:
        def __init__(self, _: object) -> None: ...

        def mallopt(self, option: int, value: int) -> bool:
            accepted = option == -1 or value <= largest
            found.extend([(option, value)] * accepted)
            return accepted

    monkeypatch.setattr("nmt.backend.device.platform.libc_ver", lambda: ("glibc", "2.17"))
    monkeypatch.setattr("nmt.backend.device.ctypes.CDLL", Library)
    keep_freed_memory()
    assert found == taken


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's memory")
def test_freed_memory_is_kept_until_it_is_given_back() -> None:
    """Between blocks in use, where the end of the heap cannot be cut off."""
    program = """
import psutil, torch
from nmt.backend.device import give_back_freed_memory, keep_freed_memory
keep_freed_memory()
blocks = [torch.ones(1 << 18) for _ in range(200)]
used = lambda: psutil.Process().memory_info().rss >> 20
del blocks[::2]
before = used()
give_back_freed_memory()
print(before - used())
"""
    given_back = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 90 < int(given_back.stdout) < 110
