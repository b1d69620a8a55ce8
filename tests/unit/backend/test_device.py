"""Which device computes, and what is said of a GPU that cannot be used; here without one."""

import ctypes
import platform
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nmt.backend import gpu_pool
from nmt.backend.device import choose_device, keep_freed_memory
from tests.bitexts import write_bitext
from tests.messages import refused
from tests.running import run_python
from tests.training_settings import model_run

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@pytest.fixture(autouse=True)
def no_gpu_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NMT_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


# --- what is there ----------------------------------------------------------------------------------------------------


def test_gpu_evidence(tmp_path, monkeypatch):
    """A device file that opens, or a variable of a scheduler."""
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
@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_gpu_unseen_by_torch(name, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_GPUS", "3")
    monkeypatch.setattr(torch.version, "cuda", None)
    with refused():
        choose_device(name)
    assert choose_device("cpu").type == "cpu"


def test_gpu_without_kernels(monkeypatch):
    def fail(*_: object, device: str) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nmore")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    monkeypatch.setattr(torch, "ones", fail)
    with refused():
        choose_device("auto")


def test_precision_overrides(monkeypatch):
    """Variables that decide over precision behind the settings, those of the chosen device only."""
    with monkeypatch.context() as changes, refused():
        changes.setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16")
        choose_device("cpu")
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    assert choose_device("cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("nmt.backend.device._check_gpu", lambda: None)
    with refused():
        choose_device("auto")


# --- memory -----------------------------------------------------------------------------------------------------------


WITH_LITTLE_GPU_MEMORY = """
import sys, torch
from nmt.training.update import Updater
from nmt.cli import main
update, updates = Updater.__call__, []
def update_until_memory_ends(*arguments):
    updates.append(1)
    if len(updates) == 8:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    update(*arguments)
Updater.__call__ = update_until_memory_ends
main()
"""
WITH_LITTLE_MEMORY = """
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
    return run_python("-c", program, "train", *options)


def test_gpu_out_of_memory(tmp_path):
    """The training ends with a line, and resumes from the checkpoint of the first validation, the best so far."""
    process = train(tmp_path, WITH_LITTLE_GPU_MEMORY)
    assert process.returncode == 2 and ": out of memory: " in process.stderr.splitlines()[-1]
    resumed = train(tmp_path, "from nmt.cli import main; main()")
    assert resumed.returncode == 0 and "resuming after update 7" in resumed.stderr, resumed.stderr


def test_cpu_out_of_memory(tmp_path):
    process = train(tmp_path, WITH_LITTLE_MEMORY, hidden_units=20_000)
    assert process.returncode == 2 and ": out of memory: " in process.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("mmap_limit", "expected_calls"),
    [(2**31, [(-3, 2**31 - 1), (-1, 2**31 - 1)]), (2**25, [(-3, 2**25), (-1, 2**31 - 1)]), (0, [])],
)
def test_old_glibc_thresholds(monkeypatch, mmap_limit, expected_calls):
    accepted_calls = []

    def mallopt(option: int, value: int) -> bool:
        is_accepted = option == -1 or value <= mmap_limit
        if is_accepted:
            accepted_calls.append((option, value))
        return is_accepted

    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.17"))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    keep_freed_memory()
    assert accepted_calls == expected_calls


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's memory")
def test_freed_memory_is_kept():
    """Between blocks in use, where the end of the heap cannot be returned."""
    program = """
import psutil, torch
from nmt.backend.device import give_back_freed_memory, keep_freed_memory
keep_freed_memory()
blocks = [torch.ones(1 << 18) for _ in range(200)]
used_megabytes = lambda: psutil.Process().memory_info().rss >> 20
del blocks[::2]
kept = used_megabytes()
give_back_freed_memory()
print(kept - used_megabytes())
"""
    assert 90 < int(run_python("-c", program, check=True).stdout) < 110


def test_forked_process_computes():
    """It has none of the threads that OpenMP has started. Nor does it start any, even if it loads a model itself."""
    code = (
        "import os, signal, torch\n"
        "from nmt.backend.device import make_deterministic\n"
        "make_deterministic(2)\n"
        "matrix = torch.ones(500, 500) @ torch.ones(500, 500)\n"
        "if os.fork() == 0:\n"
        "    signal.alarm(20)\n"
        "    matrix @ matrix\n"
        "    make_deterministic(2)\n"
        "    matrix @ matrix\n"
        "    os._exit(0)\n"
        "raise SystemExit(os.wait()[1])"
    )
    assert run_python("-c", code).returncode == 0
