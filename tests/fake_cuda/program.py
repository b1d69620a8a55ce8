"""Run updates, searches and validations on fake CUDA tensors; print what was found as JSON.

Usage: python -m tests.fake_cuda.program updates|kernels
"""

from __future__ import annotations

from tests.fake_cuda import load  # noqa: F401  before torch

# isort: split

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nmt.data.batches import Batch, pad_pairs
from nmt.decoding import beam_search
from nmt.model import families, kernels
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.precision import precision_of
from nmt.settings.decoding import Decoding
from nmt.settings.families import FAMILIES, FamilyName
from nmt.training import update
from nmt.training.validation import GREEDY, sentence_nll
from tests.small_models import interpretations, small_architecture
from tests.training_settings import training

CUDA = torch.device("cuda:0")
NO_KERNEL = {
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "_unsafe_view",
    "lift_fresh",
}
BAHDANAUS = {"hidden_units": 1000, "embedding_size": 620, "maxout_units": 500, "alignment_units": 1000}


class Paper(NamedTuple):
    """What a family's paper trains: sizes, words of the longest side and of both vocabularies, pairs, optimizer."""

    architecture: dict[str, Any]
    longest: int
    words: tuple[int, int] = (30_000, 30_000)
    batch: int = 80
    optimizer: str = "adadelta"


PAPERS: dict[FamilyName, Paper] = {
    "rnnsearch": Paper(BAHDANAUS, 50),
    "rnnencdec": Paper(BAHDANAUS, 50),
    "grconv": Paper({"hidden_units": 2000, "embedding_size": 620, "maxout_units": 1000}, 30),
    "lstm": Paper(
        {"hidden_units": 1000, "embedding_size": 1000, "layers": 4, "source_end": False},
        200,
        (160_000, 80_000),
        128,
        "sgd",
    ),
}
TRITON = importlib.util.find_spec("triton")
CUOBJDUMP = TRITON and Path(str(TRITON.origin)).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
CAPABILITIES = (75, 80, 90, 100, 120)
"""GPUs that PyTorch's build is made for."""


class OnGPU(TorchDispatchMode):
    """Counts kernels, and refuses tensors of the host: in a recording they would be frozen, or a copy that waits."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for part in tree_leaves((args, kwargs, out)):
            if isinstance(part, torch.Tensor) and part.device != CUDA:
                raise AssertionError(f"{func} has a tensor on the {part.device.type}")
        made = any(isinstance(part, torch.Tensor) for part in tree_leaves(out))
        self.kernels += made and not (func.is_view or func.overloadpacket.__name__ in NO_KERNEL)
        return out

    def launch(self, kernel: Any, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> None:
        """In place of `nmt.model.fused.launch`; what a kernel was started with is kept."""
        assert all(part.device == CUDA for part in arguments if isinstance(part, torch.Tensor))
        self.kernels += 1
        given = dict(zip(kernel.arg_names, arguments, strict=False))
        fixed = {param.name for param in kernel.params if param.is_constexpr}
        # as Triton itself takes a number that is 1
        constants |= {
            name: part for name, part in given.items() if name in fixed or (type(part) is int and part == 1)
        }
        signature = {
            name: "constexpr" if name in constants else type_of(given[name]) for name in kernel.arg_names
        }
        even = [
            kernel.arg_names.index(name)
            for name, part in given.items()
            if name not in constants and aligned(part)
        ]
        attributes = {(index,): [["tt.divisibility", 16]] for index in even}
        started = Started(kernel, signature, constants, attributes)
        STARTED[str([kernel.__name__, *started[1:]])] = started


class Started(NamedTuple):
    """What a kernel is compiled from, as Triton does when it is launched."""

    kernel: Any
    signature: dict[str, str]
    constants: dict[str, Any]
    attributes: dict[tuple[int, ...], list[list[Any]]]


STARTED: dict[str, Started] = {}
POINTERS = {torch.float32: "*fp32", torch.float64: "*fp64", torch.int64: "*i64", torch.bool: "*i1"}


def type_of(part: Any) -> str:
    """A kernel argument's type as Triton spells it."""
    return POINTERS[part.dtype] if isinstance(part, torch.Tensor) else "i32"


class CuDNN(torch.autograd.Function):
    """In place of cuDNN's LSTM, of which fake tensors know nothing: counted as one kernel forth and one back."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        """`torch.lstm`'s shapes for x, h, c, W, U; it keeps, so is assumed, 6 numbers of each unit and position."""
        x, h, c, *_ = given
        states = x.new_zeros(*x.shape[:2], h.shape[-1])
        ctx.save_for_backward(*given, states, x.new_empty(6, *states.shape))
        return states, torch.empty_like(h), torch.empty_like(c)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        """Of all that `forward` was given."""
        x, *others = ctx.saved_tensors[:5]
        return torch.zeros_like(x), *map(torch.empty_like, others)


def cudnn_lstm(x: Tensor, start: Sequence[Tensor], weights: Sequence[Tensor], **_: Any) -> Any:
    """In place of `torch.lstm`; cuDNN wants the weights in one piece of memory, or they are copied each time."""
    assert len({weight.untyped_storage()._cdata for weight in weights}) == 1
    return CuDNN.apply(x, *start, *weights)  # type: ignore[no-untyped-call]


def aligned(part: Any) -> bool:
    """Whether Triton is told that an address or a number is a multiple of 16."""
    return bool((part.storage_offset() * part.element_size() if isinstance(part, Tensor) else part) % 16 == 0)


@contextmanager
def on_gpu(chosen: str = "torch") -> Iterator[OnGPU]:
    """Everything inside is on the fake GPU, and counted."""
    counter = OnGPU()
    with kernels.kernels_of(chosen, CUDA):  # type: ignore[arg-type]
        if module := kernels.fused():
            module.launch = counter.launch
        with torch.autograd.set_multithreading_enabled(False), counter:
            yield counter


def fake_model(mode: FakeTensorMode, family: FamilyName, paper: bool, **changes: Any) -> EncoderDecoder:
    """A model on the fake GPU."""
    of_paper = PAPERS[family] if paper else Paper({}, 3, (9, 7))
    architecture = small_architecture(family, **of_paper.architecture, **changes)
    with mode, torch.device(CUDA):
        return families.build(family, architecture, *of_paper.words)


def batch_of(mode: FakeTensorMode, length: int, sentences: int) -> Batch:
    """Pairs of `length` positions, as training prepares them for a GPU."""
    ids = [np.full(length - 1 - number % 2, 3, dtype=np.uint16) for number in range(sentences)]
    batch = pad_pairs(ids, ids, True).in_bucket(1)
    with mode:
        return batch._each(lambda part: mode.from_tensor(part).to(CUDA))


def one_update(
    family: FamilyName, precision: str = "fp32", chosen: str = "torch", paper_length: int = 0, **more: Any
) -> int:
    """Kernels of the second update, which must touch nothing of the host."""
    changes = more.pop("changes", {})
    mode = FakeTensorMode(allow_non_fake_inputs=False)
    model = fake_model(mode, family, bool(paper_length), **changes)
    with mode, precision_of(precision):  # type: ignore[arg-type]
        optimizer = {"optimizer": PAPERS[family].optimizer} if paper_length else {}
        updater = update.Updater(model, training(**optimizer, **more))
        assert not model.source_embedding.sparse
        sentences = PAPERS[family].batch if paper_length else 3
        first, second = batch_of(mode, 2, sentences), batch_of(mode, paper_length or 3, sentences)
        with on_gpu(chosen):
            updater._descend(first)
        for weight in model.parameters():
            weight.grad = None
        with on_gpu(chosen) as counted:
            updater._descend(second)
    for weight, state in updater.optimizer.state.items():
        assert weight.grad.device == CUDA and all(part.device == CUDA for part in state.values())
    return counted.kernels


def search_steps(family: FamilyName, paper: bool = False, changes: dict[str, Any] | None = None) -> int:
    """Kernels of a step of beam search, behind which the host may go on without a wait."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = fake_model(mode, family, paper, **(changes or {}))
    width, sentences = (10, 64) if paper else (4, 3)
    decoding = Decoding.model_validate(GREEDY.model_dump() | {"beam": width, "n_best": 1})
    with mode, torch.no_grad():
        batch = batch_of(mode, 27 if paper else 4, sentences)
        encoded = model.encode(batch.source, batch.source_mask)
        limits = beam_search.Limits.of(np.full(sentences, 9), decoding)
        steps, beams = model.steps(encoded), beam_search.Beams(encoded, limits, decoding, width)
        assert not beam_search.looks_at_each_step(encoded.device)
        for number in range(3):
            with on_gpu() as counted:
                chosen = beam_search.step(number, steps, beams, None, True)
                steps.extend(chosen.parents, chosen.words)
    return counted.kernels


def validation(family: FamilyName, changes: dict[str, Any]) -> int:
    """Kernels of the NLL of a batch of development pairs."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = fake_model(mode, family, False, **changes)
    with mode, torch.no_grad():
        batch = batch_of(mode, 4, 3)
        with on_gpu() as counted:
            sentence_nll(model, batch)
    return counted.kernels


def updates() -> Iterator[tuple[str, Callable[[], int]]]:
    """Every family, every value of every ablation, every optimizer and precision."""
    for family in FAMILIES:
        every = interpretations(family)
        plain = every[0]
        changed = [{key: value} for key, value in every[-1].items() if value != plain[key]]
        different = [plain, *(plain | change for change in changed)]
        if family == "rnnsearch":
            different.append(plain | {"step_order": "appendix"})
        for changes in different:
            name = " ".join(f"{key}={value}" for key, value in changes.items() if value != plain[key])
            yield f"update {family} {name}", lambda f=family, c=changes: one_update(f, changes=c)
        yield f"search {family}", lambda f=family, c=plain: search_steps(f, changes=c)
        yield f"validation {family}", lambda f=family, c=plain: validation(f, c)
    for family in FAMILIES:
        yield f"update {family} bf16", lambda f=family: one_update(f, "bf16")
        yield f"update {family} triton", lambda f=family: one_update(f, chosen="triton")
    yield "update adam", lambda: one_update("rnnencdec", optimizer="adam")
    yield "update sgd", lambda: one_update("rnnencdec", optimizer="sgd")
    yield "update groundhog", lambda: one_update("rnnencdec", not_finite="groundhog", cost="mean")
    yield (
        "update tf32 triton groundhog",
        lambda: one_update("rnnsearch", "tf32", "triton", not_finite="groundhog"),
    )


def compiled() -> Iterator[tuple[str, Callable[[], int]]]:
    """All kernels that updates at the paper's sizes started, compiled for every GPU: bytes beyond its registers."""
    from triton import compile as build
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    def spilled(started: Started, capability: int) -> int:
        kernel, *others = started
        made = build(ASTSource(kernel, *others), target=GPUTarget("cuda", capability, 32))
        # but for vectors of 1,000 weights, of which it is not told that eight divides their number
        wide = re.search(r"\.v[24]\.b32", made.asm["ptx"]) or kernel.__name__ == "adadelta"
        assert wide, f"{kernel.__name__} reads and writes one number at a time"
        with tempfile.NamedTemporaryFile(suffix=".cubin") as code:
            code.write(made.asm["cubin"])
            code.flush()
            command = [str(CUOBJDUMP), "--dump-resource-usage", code.name]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return sum(map(int, re.findall(r"(?:STACK|LOCAL):([0-9]+)", said)))

    for started in STARTED.values():
        for capability in CAPABILITIES:
            given = (started, capability)
            yield f"{started.kernel.__name__} sm_{capability}", lambda given=given: spilled(*given)


def counts() -> Iterator[tuple[str, Callable[[], int]]]:
    """Kernels at the papers' sizes."""
    for family in PAPERS:
        for chosen in ("torch", "triton"):
            for length in (27, 50) if "--all" in sys.argv else (27,):
                name = f"update {family} {length} {chosen}"
                yield name, lambda f=family, c=chosen, n=length: one_update(f, chosen=c, paper_length=n)
        yield f"search {family}", lambda f=family: search_steps(f, paper=True)
    if CUOBJDUMP:
        yield from compiled()


def main() -> None:
    """Every case on its own."""
    update.GraphedUpdates = lambda *_: None  # type: ignore[assignment, misc]
    torch.lstm = cudnn_lstm
    found: dict[str, int | str] = {}
    for name, case in (updates if sys.argv[1] == "updates" else counts)():
        try:
            found[name] = case()
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
