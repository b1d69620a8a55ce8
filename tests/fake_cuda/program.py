"""Run an update of every model type on fake CUDA tensors; print the outcomes as JSON."""

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


class OnlyGPU(TorchDispatchMode):
    """Refuses tensors of the CPU: in a captured graph they would be frozen, or a copy that waits."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in tree_leaves((args, kwargs, result)):
            if isinstance(value, Tensor) and value.device != CUDA:
                raise AssertionError(f"{func} has a tensor on the {value.device.type}")
        return result


class CuDNN(torch.autograd.Function):
    """In place of cuDNN's LSTM, of which fake tensors know nothing."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return tensors of `torch.lstm`'s shapes for x, h, c, W, U."""
        x, h, c, *_ = inputs
        ctx.save_for_backward(*inputs)
        return x.new_zeros(*x.shape[:2], h.shape[-1]), torch.empty_like(h), torch.empty_like(c)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        """Return a gradient for each input."""
        return tuple(torch.zeros_like(value) for value in ctx.saved_tensors)


def cudnn_lstm(x: Tensor, start: Sequence[Tensor], weights: Sequence[Tensor], **_: Any) -> Any:
    """Replace `torch.lstm`; cuDNN copies the weights each time unless they are in one block of memory."""
    assert len({weight.untyped_storage()._cdata for weight in weights}) == 1
    return CuDNN.apply(x, *start, *weights)  # type: ignore[no-untyped-call]


def fake_batch(mode: FakeTensorMode, length: int) -> Batch:
    """Return three pairs of `length` positions, as training prepares them for a GPU."""
    ids = [np.full(length - 1 - row % 2, 3, dtype=np.uint16) for row in range(3)]
    batch = pad_pairs(ids, ids, True, length_bucket=1)
    with mode:
        return Batch(*(mode.from_tensor(tensor).to(CUDA) for tensor in batch.tensors()))


def run_updates(model_type: ModelTypeName) -> None:
    """Make two updates, which must touch nothing of the CPU."""
    mode = FakeTensorMode(allow_non_fake_inputs=False)
    with mode, torch.device(CUDA):
        model = model_types.build_model(model_type, small_architecture(model_type), (9, 7))
    batches = [fake_batch(mode, length) for length in (2, 3)]
    with mode, torch.autograd.set_multithreading_enabled(False):
        updater = update.Updater(model, training(kernels="torch"))
        with OnlyGPU():
            for batch in batches:
                updater._update(batch)
    for weight, state in updater.optimizer.state.items():
        assert weight.grad.device == CUDA and all(tensor.device == CUDA for tensor in state.values())


def main() -> None:
    """Try every model type."""
    update.GraphedUpdates = lambda *_: None  # type: ignore[assignment, misc]
    torch.lstm = cudnn_lstm
    outcomes = {}
    for model_type in MODEL_TYPES:
        try:
            run_updates(model_type)
            outcomes[model_type] = "passed"
        except Exception as error:
            outcomes[model_type] = f"{type(error).__name__}: {error}"
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
