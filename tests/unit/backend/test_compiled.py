"""Compiled steps, on the CPU, against those that are not compiled, and how much is compiled."""

import shutil

import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters

from nmt.backend import compiled
from nmt.backend.compiled import CACHE_VARIABLE, prepare_compiled_steps
from nmt.backend.matmul import Backend
from nmt.training.update import Updater
from tests.messages import refused
from tests.running import run_python
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of

CPU, GPU = torch.device("cpu"), torch.device("cuda")
NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.mark.slow
@NEEDS_COMPILER
def test_compiled_updates_match_others(model_type):
    """Batches have padding and several lengths. For another length, nothing is compiled again."""
    torch._dynamo.reset()
    counters.clear()
    models, compilations = [small_model(model_type), small_model(model_type)], []
    models[1].use_backend(Backend(fuse=prepare_compiled_steps("compiled", CPU)))
    updaters = [Updater(model, training(clip_norm=0.5)) for model in models]
    for pairs in ([PAIRS[1], ([3, 5], [4])], [PAIRS[0], PAIRS[2]], [([3] * 9, [4, 2] * 5), ([2], [3])]):
        for updater in updaters:
            updater(batch_of(pairs))
        compilations.append(counters["stats"]["unique_graphs"])
    expected, weights = (list(model.parameters()) for model in models)
    torch.testing.assert_close(weights, expected, rtol=1e-7, atol=1e-10)
    assert updaters[1].read_statistics().nll == pytest.approx(updaters[0].read_statistics().nll)
    assert 0 < compilations[0] == compilations[-1]


def test_compiler_that_fails(tmp_path, monkeypatch):
    """A compiler without headers is there, and fails."""
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\necho 'x.c: fatal error: stdlib.h: No such file' >&2; exit 1\n")
    compiler.chmod(0o755)
    program = (
        "import torch; from nmt.backend.compiled import prepare_compiled_steps; "
        "prepare_compiled_steps('compiled', torch.device('cpu'))"
    )
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    process = run_python("-c", program, env={"CXX": str(compiler)})
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1].startswith("nmt.errors.UserError: ")


def test_gpu_trains_without_compiled_kernels(monkeypatch, capsys):
    """Where the compiler fails."""

    def fail(*_: object, fuse: bool) -> None:
        raise RuntimeError("Failed to find C compiler.\nMore lines.")

    monkeypatch.setattr(torch, "ones", lambda *_, **__: None)
    monkeypatch.setattr(compiled, "_double", fail)
    assert not prepare_compiled_steps("auto", GPU)
    (line,) = capsys.readouterr().err.splitlines()
    assert "Failed to find C compiler" in line
    with refused():
        prepare_compiled_steps("compiled", GPU)


def test_uncompiled_training_does_not_import_the_compiler():
    """Which takes seconds."""
    program = """
import sys
from nmt.training.update import Updater
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of
for optimizer in ("adadelta", "adam", "sgd"):
    Updater(small_model("rnnsearch"), training(optimizer=optimizer))(batch_of(PAIRS))
print("torch._dynamo" in sys.modules)
"""
    assert run_python("-c", program, check=True).stdout == "False\n"
