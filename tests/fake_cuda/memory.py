"""How much of a GPU's memory updates take, in GB, simulated: `python -m tests.fake_cuda.memory [FAMILY ...]`, as JSON.

What an update allocates and frees is read off fake tensors; PyTorch's caching allocator is imitated: sizes are rounded,
segments split, neighbours joined. Not in it: CUDA itself, work space of cuBLAS and cuDNN (some hundred MB).
"""

from __future__ import annotations

from tests.fake_cuda import program  # before torch

# isort: split

import json
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nmt.settings.families import FamilyName
from nmt.training import update
from tests.training_settings import training

MB = 1 << 20
Event = tuple[int, int]
"""A tensor's number and the bytes that it asks for; 0: it is freed."""


class Allocations(TorchDispatchMode):
    """Notes what is allocated and freed."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._seen: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = {
            part.untyped_storage()._cdata for part in tree_leaves((args, kwargs)) if torch.is_tensor(part)
        }
        out = func(*args, **(kwargs or {}))
        for part in tree_leaves(out):
            if torch.is_tensor(part) and part.untyped_storage()._cdata not in before:
                self._note(part.untyped_storage())
        return out

    def _note(self, storage: torch.UntypedStorage) -> None:
        if storage._cdata in self._seen or not storage.nbytes():
            return
        number, key = len(self.events), storage._cdata
        self.events.append((number, storage.nbytes()))

        def freed(_: Any) -> None:
            del self._seen[key]
            self.events.append((number, 0))

        self._seen[key] = weakref.ref(storage, freed)


class Pool:
    """A pool of the caching allocator: `bytes` in segments, each of pieces [start, size, free]."""

    def __init__(self) -> None:
        self.bytes = 0
        self._segments: list[tuple[bool, list[list[int]]]] = []
        self._at: dict[int, tuple[list[list[int]], list[int]]] = {}

    def run(self, events: Sequence[Event]) -> int:
        """Follow an update, then free what it leaves, its gradients; the most bytes so far."""
        for number, size in events:
            self.allocate(number, size) if size else self.free(number)
        for number in list(self._at):
            self.free(number)
        return self.bytes

    def allocate(self, number: int, size: int) -> None:
        """The smallest piece that is free and large enough, or a new segment."""
        size = -(-size // 512) * 512
        small = size <= MB
        fitting = [
            (piece[1], index, piece)
            for index, (of_small, pieces) in enumerate(self._segments)
            if of_small == small
            for piece in pieces
            if piece[2] and piece[1] >= size
        ]
        if fitting:
            _, index, piece = min(fitting)
        else:
            whole = 2 * MB if small else 20 * MB if size < 10 * MB else -(-size // (2 * MB)) * 2 * MB
            self.bytes += whole
            piece, index = [0, whole, 1], len(self._segments)
            self._segments.append((small, [piece]))
        pieces = self._segments[index][1]
        if piece[1] - size >= (512 if small else MB + 1):
            pieces.insert(pieces.index(piece) + 1, [piece[0] + size, piece[1] - size, 1])
            piece[1] = size
        piece[2] = 0
        self._at[number] = pieces, piece

    def free(self, number: int) -> None:
        """Give a piece back and join it with free neighbours."""
        pieces, piece = self._at.pop(number)
        piece[2], at = 1, pieces.index(piece)
        for left in (at, at - 1):
            if 0 <= left < len(pieces) - 1 and pieces[left][2] and pieces[left + 1][2]:
                pieces[left][1] += pieces.pop(left + 1)[1]


def of_updates(family: FamilyName, lengths: Sequence[int]) -> tuple[int, list[list[Event]]]:
    """Bytes of weights and optimizer, and what an update at each length allocates."""
    paper, mode, found = program.PAPERS[family], FakeTensorMode(), []
    model = program.fake_model(mode, family, True)
    with mode, torch.autograd.set_multithreading_enabled(False):
        updater = update.Updater(model, training(optimizer=paper.optimizer))
        for length in (2, *lengths):  # the first makes the optimizer's averages
            batch = program.batch_of(mode, length, paper.batch)
            with Allocations() as noted:
                updater._descend(batch)
            found.append(list(noted.events))
            updater.optimizer.zero_grad()
    state = [part for each in updater.optimizer.state.values() for part in each.values()]
    return sum(part.numel() * part.element_size() for part in [*model.parameters(), *state]), found[1:]


def gigabytes(family: FamilyName) -> dict[str, float]:
    """Weights and optimizer; with the largest update as it is; and beside recordings of every fifth length."""
    fixed, events = of_updates(family, range(program.PAPERS[family].longest + 1, 1, -5))
    recordings = Pool()
    for each in events:
        recordings.run(each)
    values = {"weights": fixed, "none recorded": fixed + Pool().run(events[0])}
    values["all recorded"] = values["none recorded"] + recordings.bytes
    return {name: round(value / 1e9, 2) for name, value in values.items()}


def main() -> None:
    """Every family that a paper trains, or those asked for."""
    update.GraphedUpdates = lambda *_: None  # type: ignore[assignment, misc]
    torch.lstm = program.cudnn_lstm
    print(json.dumps({family: gigabytes(family) for family in sys.argv[1:] or program.PAPERS}))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
