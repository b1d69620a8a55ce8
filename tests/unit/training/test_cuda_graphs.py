"""Recorded updates in a real training run; without a GPU on a stand-in for CUDA that knows what spoils a recording."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nmt.data.batches import Batch
from nmt.data.bitext import Bitext
from nmt.settings.training import ModelRun
from nmt.training.trainer import Trainer
from nmt.training.update import GraphedUpdates
from tests.bitexts import vocabulary, write_bitext
from tests.messages import refused
from tests.training_settings import model_run
from tests.unit.training.test_trainer import stopped_after

VOCABULARIES = (vocabulary(30), vocabulary(30))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    draw = random.Random(1)
    pairs = [[[draw.randint(2, 30) for _ in range(draw.randint(1, 12))] for _ in range(2)] for _ in range(60)]
    return write_bitext(tmp_path_factory.mktemp("text"), [(source, target) for source, target in pairs])


class StandIn:
    """What `GraphedUpdates` and pinning use of CUDA, on the processor.

    An update that is recorded does not run before its replay. While one is recorded in the mode `global`, CUDA refuses
    what pinning memory asks of it in any thread, and the recording is lost.
    """

    def __init__(self, patch: pytest.MonkeyPatch, longest: int | None = None) -> None:
        self.recording: list[Callable[[], None]] | None = None
        self.mode, self.longest, self.replays, self.rehearsals = "", longest, 0, 0
        self.spoiled, self.pinned = False, threading.Event()
        stream = SimpleNamespace(wait_stream=lambda other: None)
        event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
        of_cuda: dict[str, Any] = {
            "graph_pool_handle": lambda: (0, 1),
            "Stream": lambda device: stream,
            "current_stream": lambda device: stream,
            "stream": lambda stream: nullcontext(),
            "Event": lambda: event,
            "CUDAGraph": lambda: SimpleNamespace(replay=None),
            "graph": self.graph,
        }
        for name, value in of_cuda.items():
            patch.setattr(torch.cuda, name, value)
        patch.setattr(Batch, "pin_memory", lambda batch: self.pin(batch))
        patch.setattr("nmt.training.update.PREFETCHED_BATCHES", 10_000)  # so that the thread never has enough

    def pin(self, batch: Batch) -> Batch:
        time.sleep(0.005)
        self.pinned.set()
        if self.recording is not None and self.mode == "global":
            self.spoiled = True
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        return batch

    @contextmanager
    def graph(self, graph: Any, pool: Any, stream: Any, capture_error_mode: str = "global") -> Iterator[None]:
        self.pinned.clear()
        self.recording, self.mode = [], capture_error_mode
        yield
        if not self.recording:  # a rehearsal, which is never replayed; nothing is pinned yet
            self.rehearsals, self.recording = self.rehearsals + 1, None
            return
        assert self.pinned.wait(20), "the batches are pinned in another thread"
        if self.spoiled:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
        (work,), self.recording = self.recording, None

        def replay() -> None:
            self.replays += 1
            work()

        graph.replay = replay

    def graphed(self, descend: Callable[[Batch], None]) -> GraphedUpdates:
        def update(batch: Batch) -> None:
            descend(batch) if self.recording is None else self.recording.append(lambda: descend(batch))

        return GraphedUpdates(update, torch.device("cpu"), self.longest)


def trained(text: Bitext, state: Path, stand_in: StandIn | None = None) -> dict[str, torch.Tensor]:
    """A run of 30 updates; without a stand-in the same updates are called one by one."""
    run = model_run(
        updates=30, checkpoint_every=99, validate_every=99, cuda_graph_max_words=stand_in and stand_in.longest
    )
    made = Trainer(run, text, text, VOCABULARIES, state)
    made.updater.bucket = 5
    if stand_in is not None:
        made.updater.graphs = stand_in.graphed(made.updater._descend)
    made.resume(None)
    made.run()
    return made.state_tensors()


def test_recording_bears_that_batches_are_pinned_meanwhile(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stand_in = StandIn(patch)
        recorded = trained(text, tmp_path / "recorded", stand_in)
    plain = trained(text, tmp_path / "plain")
    assert 20 < stand_in.replays < 30 and stand_in.rehearsals == 1
    assert all(torch.equal(recorded[name], plain[name]) for name in plain)


@pytest.mark.parametrize(("longest", "rehearsals", "replays"), [(0, 0, range(1)), (11, 1, range(10, 25))])
def test_longer_batches_than_are_wanted_are_not_recorded(
    text: Bitext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    longest: int,
    rehearsals: int,
    replays: range,
) -> None:
    """Nor rehearsed for that: of multiples of 5 words, the largest of up to 11 has 10."""
    stand_in = StandIn(monkeypatch, longest)
    trained(text, tmp_path, stand_in)
    assert stand_in.rehearsals == rehearsals and stand_in.replays in replays


def test_memory_is_found_too_small_before_the_first_update(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the longest pair of the text, and what is said changes no model."""
    made = Trainer(model_run(), text, text, VOCABULARIES, tmp_path)
    made.updater.bucket = 5
    made.updater.graphs = StandIn(monkeypatch).graphed(made.updater._descend)
    made.resume(None)

    def gradient(batch: Batch) -> None:
        assert batch.target.shape == (16, 4)  # 12 words, in multiples of 5 and the end symbol
        try:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    monkeypatch.setattr(made.updater, "_gradient", gradient)
    with refused():
        made.run()
    assert made.counters.update == 0


def test_a_learning_rate_that_falls_is_recorded_anew(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph keeps the rate with which it was recorded."""
    stand_in, made = StandIn(monkeypatch), Trainer(FALLING, text, text, VOCABULARIES, tmp_path)
    graphs = stand_in.graphed(made.updater._descend)
    replayed, update = set[float](), graphs.update
    optimizer = made.updater.optimizer

    def noting(batch: Batch) -> None:
        update(batch)
        if stand_in.recording is not None:
            (work,), rate = stand_in.recording, optimizer.learning_rate

            def replay() -> None:
                assert optimizer.learning_rate == rate
                replayed.add(rate)
                work()

            stand_in.recording[:] = [replay]

    made.updater.bucket, made.updater.graphs, graphs.update = 5, graphs, noting
    made.resume(None)
    made.run()
    assert len(replayed) == 3


FALLING = model_run(
    model_type="lstm", optimizer="sgd", cost="mean", learning_rate=0.7, updates=80, checkpoint_every=99,
    validate_every=99, decay_from_epoch=2.0, decay_every_epochs=2.0,
)  # fmt: skip
"""80 updates of 4 of 60 pairs are 5.3 epochs."""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    "run",
    [model_run(updates=80), model_run(updates=80, optimizer="adam"), FALLING],
    ids=["adadelta", "adam", "sgd"],
)
def test_a_gpu_run_stopped_and_resumed_ends_like_an_unbroken_one(
    text: Bitext, tmp_path: Path, run: ModelRun
) -> None:
    changes = {"device": "cuda", "checkpoint_every": 7}
    settings = run.model_copy(update={"training": run.training.model_copy(update=changes)})
    states = []
    for name, stops in (("unbroken", []), ("broken", [3, 17, 40])):
        for stop in [*stops, None]:
            made = Trainer(settings, text, text, VOCABULARIES, tmp_path / name)
            made.resume(None)
            made.run() if stop is None else stopped_after(made, stop)
        states.append(made.state_tensors())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
