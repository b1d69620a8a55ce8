"""CUDA graphs in a training run; without a GPU on a replacement of CUDA that knows what spoils a capture."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nmt.backend.device import find_out_of_memory_error
from nmt.data.batches import Batch
from nmt.data.bitext import Bitext
from nmt.settings.training import ModelRun
from nmt.training.cuda_graphs import GraphedUpdates
from nmt.training.trainer import Trainer
from tests.bitexts import random_pairs, write_bitext
from tests.trainers import make_trainer, stop_after
from tests.training_settings import model_run


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return write_bitext(tmp_path_factory.mktemp("text"), random_pairs(max_words=12))


class FakeCuda:
    """What `GraphedUpdates` uses of CUDA, on the processor. A captured update does not run before its replay."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.captured_work: list[Callable[[], None]] | None = None
        self.replays, self.rehearsals = 0, 0
        stream = SimpleNamespace(wait_stream=lambda other: None)
        replacements = {
            "graph_pool_handle": lambda: (0, 1),
            "Stream": lambda device: stream,
            "current_stream": lambda device: stream,
            "stream": lambda stream: nullcontext(),
            "Event": lambda: SimpleNamespace(record=lambda: None, synchronize=lambda: None),
            "CUDAGraph": lambda: SimpleNamespace(replay=None),
            "graph": self.capture,
        }
        for name, replacement in replacements.items():
            monkeypatch.setattr(torch.cuda, name, replacement)
        monkeypatch.setattr(Batch, "pin_memory", lambda batch: batch)

    @contextmanager
    def capture(self, graph: Any, pool: Any, stream: Any, capture_error_mode: str) -> Iterator[None]:
        # in CUDA's default mode, a capture is lost when another thread pins a batch
        assert capture_error_mode == "thread_local"
        self.captured_work = []
        yield
        captured_work, self.captured_work = self.captured_work, None
        if not captured_work:  # a rehearsal, which is never replayed
            self.rehearsals += 1
            return
        (work,) = captured_work

        def replay() -> None:
            self.replays += 1
            work()

        graph.replay = replay

    def use_graphs(self, trainer: Trainer) -> GraphedUpdates:
        """Let a trainer use graphs, as on a GPU."""
        updater = trainer.updater

        def update(batch: Batch) -> None:
            if self.captured_work is None:
                updater._update(batch)
            else:
                self.captured_work.append(lambda: updater._update(batch))

        updater.length_bucket = 5
        updater.cuda_graphs = GraphedUpdates(
            update, torch.device("cpu"), updater.training_settings.cuda_graph_max_words
        )
        return updater.cuda_graphs


def small_run(max_words: int | None = None) -> ModelRun:
    return model_run(checkpoint_every=99, validate_every=99, cuda_graph_max_words=max_words)


def test_replayed_updates_equal_called_updates(text, tmp_path, monkeypatch):
    expected = make_trainer(small_run(), text, tmp_path / "called")
    expected.updater.length_bucket = 5
    expected.run()
    graphed, cuda = make_trainer(small_run(), text, tmp_path / "graphed"), FakeCuda(monkeypatch)
    cuda.use_graphs(graphed)
    graphed.run()
    assert 20 < cuda.replays < 30 and cuda.rehearsals == 1
    tensors = graphed.make_checkpoint().tensors
    for name, tensor in expected.make_checkpoint().tensors.items():
        assert torch.equal(tensors[name], tensor), name


@pytest.mark.parametrize(("max_words", "rehearsals", "replays"), [(0, 0, range(1)), (11, 1, range(10, 25))])
def test_long_batches_are_not_captured(text, tmp_path, monkeypatch, max_words, rehearsals, replays):
    """Of multiples of 5 words, the largest of up to 11 has 10."""
    trainer, cuda = make_trainer(small_run(max_words), text, tmp_path), FakeCuda(monkeypatch)
    cuda.use_graphs(trainer)
    trainer.run()
    assert cuda.rehearsals == rehearsals and cuda.replays in replays


def test_too_little_memory_is_found_at_start(text, tmp_path, monkeypatch):
    trainer = make_trainer(model_run(), text, tmp_path)
    FakeCuda(monkeypatch).use_graphs(trainer)

    def run_out_of_memory(batch: Batch) -> None:
        assert batch.target.shape == (16, 4)  # 12 words, in multiples of 5 and EOS
        try:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    monkeypatch.setattr(trainer.updater, "_compute_gradients", run_out_of_memory)
    with pytest.raises(RuntimeError) as error:
        trainer.run()
    assert find_out_of_memory_error(error.value) is not None
    assert trainer.counters.update == 0


SGD_WITH_DECAY = model_run(
    model_type="lstm", optimizer="sgd", cost="mean", learning_rate=0.7, updates=80, checkpoint_every=99,
    validate_every=99, decay_from_epoch=2.0, decay_every_epochs=2.0,
)  # fmt: skip
"""80 updates of 4 of 60 pairs are 5.3 epochs."""


def test_new_learning_rate_is_captured_again(text, tmp_path, monkeypatch):
    """A graph keeps the rate with which it was captured."""
    trainer, cuda = make_trainer(SGD_WITH_DECAY, text, tmp_path), FakeCuda(monkeypatch)
    graphs, optimizer = cuda.use_graphs(trainer), trainer.updater.optimizer
    replayed_rates, update = set(), graphs.update

    def watch_update(batch: Batch) -> None:
        update(batch)
        if cuda.captured_work is not None:
            (work,), rate = cuda.captured_work, optimizer.learning_rate

            def replay() -> None:
                assert optimizer.learning_rate == rate
                replayed_rates.add(rate)
                work()

            cuda.captured_work[:] = [replay]

    graphs.update = watch_update
    trainer.run()
    assert len(replayed_rates) == 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    "run",
    [model_run(updates=80), model_run(updates=80, optimizer="adam"), SGD_WITH_DECAY],
    ids=["adadelta", "adam", "sgd"],
)
def test_stopped_run_equals_unbroken_run_on_gpu(text, tmp_path, run):
    changes = {"device": "cuda", "checkpoint_every": 7}
    gpu_run = run.model_copy(update={"training": run.training.model_copy(update=changes)})
    for stop in (3, 17, 40):
        stop_after(make_trainer(gpu_run, text, tmp_path / "stopped"), stop)
    states = []
    for name in ("stopped", "unbroken"):
        trainer = make_trainer(gpu_run, text, tmp_path / name)
        trainer.run()
        states.append(trainer.make_checkpoint().tensors)
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
