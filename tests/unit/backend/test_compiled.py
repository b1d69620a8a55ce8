"""Compiled steps, on the processor, against the equations as plain loops, and how much is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters

from nmt.backend import compiled
from nmt.backend.compiled import CACHE_VARIABLE, UNFINISHED, prepare_compiled_steps
from nmt.backend.matmul import Backend
from nmt.settings.model_types import ModelTypeName
from nmt.training.update import Updater
from tests.messages import refused
from tests.running import ROOT
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of, nll_by_loops

CPU = torch.device("cpu")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_a_compiled_update_follows_the_equations(model_type: ModelTypeName) -> None:
    """Cost and gradients of batches with padding and of several lengths, then the optimizer's step."""
    torch._dynamo.reset()
    counters.clear()
    model = small_model(model_type)
    model.use_backend(Backend(fuse=prepare_compiled_steps("compiled", CPU)))
    updater = Updater(model, training(clip_norm=0.5, kernels="compiled"))
    compilations = []
    for pairs in ([PAIRS[1], ([3, 5], [4])], [PAIRS[0], PAIRS[2]], [([3] * 9, [4, 2] * 5), ([2], [3])]):
        updater.optimizer.state.clear()
        expected = nll_by_loops(model, pairs).sum()
        gradients = torch.autograd.grad(expected, list(model.parameters()))
        before = [weight.detach().clone() for weight in model.parameters()]
        updater.sums.zero_()
        updater(batch_of(pairs))
        assert updater.read_statistics().nll == pytest.approx(float(expected.detach()), rel=1e-6)
        scale = min(1.0, 0.5 / float(torch.stack([gradient.norm() for gradient in gradients]).norm()))
        for weight, old, gradient in zip(model.parameters(), before, gradients, strict=True):
            clipped = scale * gradient
            step = (1e-6 / (0.05 * clipped**2 + 1e-6)).sqrt() * clipped
            torch.testing.assert_close(weight.detach(), old - step, rtol=1e-7, atol=1e-10)
        compilations.append(counters["stats"]["unique_graphs"])
    assert compilations[0] == compilations[-1], "another length is not compiled again"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_what_a_process_compiles_is_in_its_folder_and_what_a_killed_one_left_is_not_used(
    tmp_path: Path,
) -> None:
    cache = tmp_path / "state" / "compiled"
    assert first_compilation(cache).returncode == 0
    libraries = list(cache.rglob("*.so"))
    assert libraries and not (cache / UNFINISHED).exists()
    for library in libraries:
        library.write_bytes(b"")
    (cache / UNFINISHED).touch()
    assert first_compilation(cache).returncode == 0

    # without the mark: an error of one line, and the next process begins anew
    for library in cache.rglob("*.so"):
        library.write_bytes(b"")
    damaged = first_compilation(cache)
    assert damaged.returncode == 1 and damaged.stderr.splitlines()[-1].startswith("nmt.errors.UserError: ")
    assert first_compilation(cache).returncode == 0


def first_compilation(cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Let a process prepare PyTorch's compiler."""
    program = (
        "import sys; from pathlib import Path; import torch; from nmt.backend.compiled import prepare_compiled_steps; "
        "assert prepare_compiled_steps('compiled', torch.device('cpu'), Path(sys.argv[1]))"
    )
    own = {name: value for name, value in os.environ.items() if name != CACHE_VARIABLE}
    return subprocess.run(
        [sys.executable, "-c", program, str(cache)],
        cwd=ROOT,
        env=own | environment,
        capture_output=True,
        text=True,
    )


def test_where_the_compiler_fails_a_gpu_trains_as_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A compiler without headers is there, and fails."""
    (tmp_path / "g++").write_text("#!/bin/sh\necho 'x.c: fatal error: stdlib.h: No such file' >&2; exit 1\n")
    (tmp_path / "g++").chmod(0o755)
    with_compiler = {"CXX": str(tmp_path / "g++")}
    process = first_compilation(tmp_path / "compiled", **with_compiler)
    assert process.returncode == 1 and process.stderr.splitlines()[-1].startswith("nmt.errors.UserError: ")

    def fail(*_: object, fuse: bool) -> None:
        raise RuntimeError("Failed to find C compiler.\nMore lines.")

    monkeypatch.setattr(compiled, "_double", fail)
    monkeypatch.setattr(compiled, "_find_gpu_problem", lambda device: None)
    monkeypatch.setattr(torch, "ones", lambda *_, **__: None)
    assert not prepare_compiled_steps("auto", torch.device("cuda"))
    assert capsys.readouterr().err.count("\n") == 1


def test_a_gpu_that_is_find_gpu_problem_for_compiled_kernels_trains_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (6, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla P100")
    assert not prepare_compiled_steps("auto", torch.device("cuda"))
    assert capsys.readouterr().err.count("\n") == 1
    with refused():
        prepare_compiled_steps("compiled", torch.device("cuda"))


def test_a_training_that_compiles_nothing_does_not_import_the_compiler() -> None:
    """Which takes seconds."""
    program = """
import sys
from nmt.training.update import Updater
from tests.messages import refused
from tests.running import ROOT
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of
import torch
for optimizer in ("adadelta", "adam", "sgd"):
    Updater(small_model("rnnsearch", torch.float64), training(optimizer=optimizer))(batch_of(PAIRS))
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
