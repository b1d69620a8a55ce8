"""Run an update of every model type on fake CUDA tensors; print what was found as JSON."""

from __future__ import annotations

from tests.fake_cuda import load  # noqa: F401  before torch

# isort: split

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nmt.data.batches import Batch, pad_pairs
from nmt.model import model_types
from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from nmt.training import update
from tests.small_models import small_architecture
from tests.training_settings import training

CUDA = torch.device("cuda:0")


class OnGPU(TorchDispatchMode):
    """Refuses tensors of the host: in a recording they would be frozen, or a copy that waits."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for part in tree_leaves((args, kwargs, out)):
            if isinstance(part, torch.Tensor) and part.device != CUDA:
                raise AssertionError(f"{func} has a tensor on the {part.device.type}")
        return out


class CuDNN(torch.autograd.Function):
    """In place of cuDNN's LSTM, of which fake tensors know nothing."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        """`torch.lstm`'s shapes for x, h, c, W, U."""
        x, h, c, *_ = given
        ctx.save_for_backward(*given)
        return x.new_zeros(*x.shape[:2], h.shape[-1]), torch.empty_like(h), torch.empty_like(c)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        """Of all that `forward` was given."""
        x, *others = ctx.saved_tensors
        return torch.zeros_like(x), *map(torch.empty_like, others)


def cudnn_lstm(x: Tensor, start: Sequence[Tensor], weights: Sequence[Tensor], **_: Any) -> Any:
    """In place of `torch.lstm`; cuDNN wants the weights in one piece of memory, or they are copied each time."""
    assert len({weight.untyped_storage()._cdata for weight in weights}) == 1
    return CuDNN.apply(x, *start, *weights)  # type: ignore[no-untyped-call]


def batch_of(mode: FakeTensorMode, length: int) -> Batch:
    """Three pairs of `length` positions, as training prepares them for a GPU."""
    ids = [np.full(length - 1 - number % 2, 3, dtype=np.uint16) for number in range(3)]
    batch = pad_pairs(ids, ids, True, bucket=1)
    with mode:
        return Batch(*(mode.from_tensor(part).to(CUDA) for part in batch.tensors()))


def one_update(model_type: ModelTypeName) -> str:
    """Make a second update, which must touch nothing of the host."""
    mode = FakeTensorMode(allow_non_fake_inputs=False)
    with mode, torch.device(CUDA):
        model = model_types.build_model(model_type, small_architecture(model_type), 9, 7)
    first, second = batch_of(mode, 2), batch_of(mode, 3)
    with mode, torch.autograd.set_multithreading_enabled(False):
        updater = update.Updater(model, training(kernels="torch"))
        with OnGPU():
            updater._update(first)
            updater._update(second)
    for weight, state in updater.optimizer.state.items():
        assert weight.grad.device == CUDA and all(part.device == CUDA for part in state.values())
    return "passed"


def main() -> None:
    """Every model type on its own."""
    update.GraphedUpdates = lambda *_: None  # type: ignore[assignment, misc]
    torch.lstm = cudnn_lstm
    found = {}
    for model_type in MODEL_TYPES:
        try:
            found[model_type] = one_update(model_type)
        except Exception as error:
            found[model_type] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
