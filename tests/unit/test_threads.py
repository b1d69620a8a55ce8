"""What torch's libraries are told in every process of the project: how threads wait, what is kept, which pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "5000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")],
)
def test_torch_s_openmp_is_told_unless_the_user_has_said_something(given: dict[str, str], spins: str) -> None:
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}
    environment = {key: value for key, value in os.environ.items() if key not in named}
    done = subprocess.run(
        [sys.executable, "-c", "import nmt, torch"],
        env=environment | given | {"OMP_DISPLAY_ENV": "VERBOSE"},
        capture_output=True,
        text=True,
        check=True,
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this torch has another OpenMP")
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr


@pytest.mark.parametrize(
    ("given", "kept"), [({}, False), ({"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "1024"}, True)]
)
def test_onednn_keeps_what_it_compiled_for_few_shapes(given: dict[str, str], kept: bool) -> None:
    """A product of two rows, and of two rows again after a hundred other shapes."""
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    environment = {key: value for key, value in os.environ.items() if key != name}
    program = """
import nmt, torch
for rows in (*range(2, 102), 2):
    torch.ones(rows, 64, dtype=torch.bfloat16) @ torch.ones(64, 64, dtype=torch.bfloat16)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | given | {"ONEDNN_VERBOSE": "profile_create"},
        capture_output=True,
        text=True,
        check=True,
    )
    made = [line for line in done.stdout.splitlines() if "create:cache_" in line and "matmul" in line]
    if not made:
        pytest.skip("oneDNN makes no product in bf16 on this processor")
    assert ("create:cache_hit" in made[-1]) == kept


@pytest.mark.parametrize(("given", "asks"), [({}, True), ({"THP_MEM_ALLOC_ENABLE": "0"}, False)])
def test_large_tensors_get_huge_pages(given: dict[str, str], asks: bool) -> None:
    """The kernel's word for memory that asked for them is `hg`."""
    if not Path("/sys/kernel/mm/transparent_hugepage/enabled").exists():
        pytest.skip("this system has no huge pages")
    environment = {key: value for key, value in os.environ.items() if key != "THP_MEM_ALLOC_ENABLE"}
    program = """
import nmt, torch
tensor = torch.ones(64, 1024, 1024)
for line in open("/proc/self/smaps"):
    first, *others = line.split()
    if "-" in first and not first.endswith(":"):
        begin, end = (int(address, 16) for address in first.split("-"))
    elif first == "VmFlags:" and begin <= tensor.data_ptr() < end:
        print("hg" in others)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment | given, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{asks}\n"
