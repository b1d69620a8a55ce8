"""Portable arithmetic: equal bits on every x86-64 processor with AVX2."""

import platform

import pytest
import torch

from nmt.backend.arithmetic import PORTABLE_VARIABLES, prepare_arithmetic
from nmt.io import system
from tests.messages import refused
from tests.running import run_python
from tests.training_settings import training

is_able = platform.machine() == "x86_64" and {"avx2", "fma"} <= system.read_cpu_words()

THREE_UPDATES = """
import hashlib
from nmt.backend.arithmetic import prepare_arithmetic
from nmt.settings.paper import add_run_defaults
from nmt.settings.training import Training
values = add_run_defaults({})["training"] | dict(arithmetic="portable", device="cpu")
prepare_arithmetic(Training.model_validate(values))

import numpy as np, torch
from nmt.data.batches import pad_pairs
from nmt.model import model_types
from nmt.settings.model_types import MODEL_TYPES
torch.set_num_threads(1)
sizes = dict(hidden_units=128, embedding_size=96, maxout_units=96, alignment_units=128, unused_ids=0)
choices = dict(source_eos=True, step_order="groundhog", output_layer="direct", init_std=0.1, alignment_init_std=0.05)
architecture = MODEL_TYPES["rnnsearch"].architecture.model_validate(sizes | choices)
model = model_types.create_model("rnnsearch", architecture, (452, 452), seed=1)
random = np.random.RandomState(1)
texts = []
for side in range(2):
    texts.append([random.randint(2, 452, size=random.randint(5, 30)).astype(np.uint16) for _ in range(40)])
batch = pad_pairs(texts[0], texts[1], True, None)
for update in range(3):
    model.zero_grad()
    model.total_nll(batch).backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 1e-4 * (weight.grad.to_dense() if weight.grad.is_sparse else weight.grad)
digest = hashlib.sha256()
for weight in model.parameters():
    digest.update(weight.detach().numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.mark.skipif(not is_able, reason="no x86-64 processor with AVX2")
@pytest.mark.parametrize(
    "older_processor",
    [
        {},
        {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-AVX"},
    ],
)
@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the checksum is PyTorch 2.13's")
def test_three_updates_have_the_bits_of_other_processors(older_processor, monkeypatch):
    for name in PORTABLE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    result = run_python("-c", THREE_UPDATES, env=older_processor, check=True)
    # seen on an AMD EPYC without AVX-512, and on an Intel Xeon with it
    assert result.stdout.startswith("da3ff0244092")


def test_portable_arithmetic_is_refused_where_it_is_impossible(monkeypatch, tmp_path):
    portable = training(arithmetic="portable")
    (tmp_path / "cpuinfo").write_text("flags : avx2 fma\n", encoding="utf-8")
    monkeypatch.setattr(system, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for name, value in PORTABLE_VARIABLES.items():
        monkeypatch.setenv(name, value)
    prepare_arithmetic(portable)

    for changes in ({"device": "cuda"}, {"precision": "bf16"}, {"kernels": "compiled"}):
        with refused():
            prepare_arithmetic(training(arithmetic="portable", **changes))

    monkeypatch.setenv("MKL_CBWR", "AVX2")  # PyTorch is loaded, and would not notice a change
    with refused():
        prepare_arithmetic(portable)
    monkeypatch.setenv("MKL_CBWR", PORTABLE_VARIABLES["MKL_CBWR"])
    (tmp_path / "cpuinfo").write_text("flags : sse4_2\n", encoding="utf-8")
    with refused():
        prepare_arithmetic(portable)
