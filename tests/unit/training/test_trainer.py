"""Training runs: what they record, how they stop, and that an interrupted one ends like an unbroken one."""

import json
import math
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboardX import SummaryWriter
from torch import Tensor

from nmt.data.bitext import Bitext
from nmt.io.files import sha256
from nmt.settings.training import ModelRun
from nmt.store import trained_model
from nmt.store.tensors import load_tensors, save_tensors
from nmt.store.training_store import TrainingStore
from nmt.training.checkpoint import (
    best_weights_path,
    list_checkpoints,
    read_checkpoint,
)
from nmt.training.counters import Counters
from nmt.training.export import export_model, summarize_training
from nmt.training.optimizers import schedule_learning_rate
from nmt.training.stored_training import train_in_store
from nmt.training.trainer import Interrupted, PastTheEnd, Trainer
from nmt.training.training_files import TrainingFiles
from nmt.training.validation import compute_mean_nll
from tests.bitexts import shifted_pairs, vocabulary, write_bitext
from tests.messages import check, refused
from tests.trainers import history_lines, make_trainer, stop_after, train, training_files
from tests.training_settings import model_run

CLOCK_KEYS = ("seconds", "source_words_per_second", "target_words_per_second")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """60 pairs."""
    return write_bitext(tmp_path_factory.mktemp("text"), shifted_pairs())


def assert_equal_tensors(tensors: dict[str, Tensor], others: dict[str, Tensor]) -> None:
    """Both are equal to the bit."""
    assert tensors.keys() == others.keys()
    assert all(torch.equal(tensors[name], others[name]) for name in tensors)


def assert_same_end(trainer: Trainer, other: Trainer) -> None:
    """Both have the same state, and the same history but for the clock."""
    assert_equal_tensors(trainer.make_checkpoint().tensors, other.make_checkpoint().tensors)
    lines, other_lines = history_lines(trainer), history_lines(other)
    for line in lines + other_lines:
        for key in CLOCK_KEYS:
            line.pop(key, None)
    assert lines == other_lines


def test_first_update_follows_paper(text, tmp_path):
    """Cost summed over sentences, gradient clipped to norm 1, Adadelta."""
    trainer = make_trainer(model_run(updates=1), text, tmp_path)
    old_weights = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    trainer.run()
    norm = history_lines(trainer)[0]["gradient_norm"]
    assert norm > 1, "the summed cost's gradient is longer than 1, so it is clipped"
    for name, weight in trainer.model.named_parameters():
        gradient = weight.grad.to_dense() / norm
        step = -math.sqrt(1e-6) / (0.05 * gradient**2 + 1e-6).sqrt() * gradient
        torch.testing.assert_close(weight.detach() - old_weights[name], step, rtol=1e-3, atol=1e-7)


def test_mean_cost(text, tmp_path):
    """It is the sum over the batch size, which is 4."""
    norms = {}
    for cost in ("sum", "mean"):
        trainer = train(model_run(updates=1, cost=cost), text, tmp_path / cost)
        norms[cost] = history_lines(trainer)[0]["gradient_norm"]
    assert norms["sum"] == pytest.approx(4 * norms["mean"], rel=1e-5)


def test_history_lines(text, tmp_path):
    start = time.monotonic()
    trainer = train(model_run(updates=15, log_every=5, validate_every=10), text, tmp_path)
    lines = history_lines(trainer)
    assert [line["update"] for line in history_lines(trainer, "train_nll")] == [5, 10, 15]
    assert [line["update"] for line in history_lines(trainer, "dev_nll")] == [10, 15]
    assert lines[-1]["epoch"] == pytest.approx(15 * 4 / 60)
    assert 0 < lines[0]["seconds"] < lines[-1]["seconds"] < time.monotonic() - start


def test_history_line_is_of_its_own_updates(text, tmp_path):
    """With steps too small to matter, two lines of two updates each are one line of all four."""
    tiny_steps = {"updates": 4, "batches_per_sort": 4, "optimizer": "sgd", "learning_rate": 1e-12}
    tiny_steps["clip_norm"] = 1e6
    first, second = history_lines(
        train(model_run(**tiny_steps, log_every=2), text, tmp_path / "2"), "train_nll"
    )
    trainer = train(model_run(**tiny_steps, log_every=4), text, tmp_path / "4")
    (both,) = history_lines(trainer, "train_nll")
    mean_nll = compute_mean_nll(trainer.model, text, np.arange(16), 4)
    assert both["train_nll"] == pytest.approx(mean_nll, rel=1e-5), "of a sentence, not of an update"
    assert both["train_nll"] == pytest.approx((first["train_nll"] + second["train_nll"]) / 2, rel=1e-6)
    assert both["gradient_norm"] > 1 and both["clipped"] == 0, "of the threshold that was set"


def test_words_per_second_and_hours(text, tmp_path, monkeypatch):
    """An update takes a second, a validation a hundred. Hours have both, words per second only updates."""
    clock, word_counts = [0.0], []
    monkeypatch.setattr("nmt.training.trainer.time.monotonic", lambda: clock[0])
    run = model_run(updates=20, log_every=2, validate_every=2, patience=3)
    trainer = make_trainer(run, text, tmp_path)
    make_update, compute_dev_nll = trainer._update, trainer.compute_dev_nll

    def slow_update(batch: Any) -> None:
        make_update(batch)
        word_counts.append(int(batch.target_lengths.sum()) - len(batch))
        clock[0] += 1

    def slow_dev_nll() -> float:
        clock[0] += 100
        return compute_dev_nll() if trainer.counters.update < 5 else 1e9

    trainer._update, trainer.compute_dev_nll = slow_update, slow_dev_nll
    trainer.run()
    for side in ("source", "target"):  # each pair has as many words on both sides
        speeds = [line[f"{side}_words_per_second"] for line in history_lines(trainer, "train_nll")]
        assert [2 * speed for speed in speeds] == [sum(word_counts[i : i + 2]) for i in range(0, 10, 2)]
    assert trainer.counters.seconds == clock[0] == 10 + 5 * 100
    assert summarize_training(trainer, "")["hours"] == pytest.approx(510 / 3600)
    records = [read_checkpoint(path).record for path in list_checkpoints(tmp_path)]
    assert [record["counters"]["seconds"] for record in records] == [205, 510]


SUTSKEVERS = model_run(
    model_type="lstm", optimizer="sgd", learning_rate=0.7, clip_norm=5.0, cost="mean", epochs=1.95, updates=100,
    decay_from_epoch=0.5, decay_every_epochs=0.25,
)  # fmt: skip
"""30 updates of 4 of 60 pairs are 2 epochs."""
ADAM_WITH_DECAY = model_run(
    optimizer="adam", learning_rate=0.01, cost="mean", keep="best", epochs=1.95, updates=100, decay_from_epoch=0.5,
    decay_every_epochs=0.25,
)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "stops"),
    [(model_run(), (3, 5, 12, 29)), (SUTSKEVERS, (4, 8, 13)), (ADAM_WITH_DECAY, (9,))],
    ids=["adadelta", "sgd", "adam"],
)
def test_stopped_run_equals_unbroken_run(text, tmp_path, run, stops):
    unbroken = train(run, text, tmp_path / "unbroken")
    for stop in stops:
        state_folder = tmp_path / f"{stop}"
        stop_after(make_trainer(run, text, state_folder), stop)
        resumed = make_trainer(run, text, state_folder)
        assert resumed.counters.update == stop
        resumed.run()
        assert_same_end(resumed, unbroken)


@pytest.mark.parametrize("run", [SUTSKEVERS, ADAM_WITH_DECAY], ids=["sgd", "adam"])
def test_schedule_in_epochs(text, tmp_path, run):
    trainer = make_trainer(run, text, tmp_path)
    assert trainer.run() == "epochs"
    assert trainer.counters.update == 30 == math.ceil(1.95 * 60 / 4) and trainer.count_epochs() == 2
    for line in history_lines(trainer, "train_nll"):
        epochs_before_update = (line["update"] - 1) * 4 / 60
        assert line["learning_rate"] == schedule_learning_rate(run.training, epochs_before_update)


def test_order_by_seed(text, tmp_path):
    stored, shuffled = (
        make_trainer(model_run(order=order), text, tmp_path / order).pairs for order in ("stored", "seed")
    )
    stored_rows, shuffled_rows = stored.take(0, 60).tolist(), shuffled.take(0, 60).tolist()
    assert shuffled_rows != stored_rows == sorted(shuffled_rows)


def test_damaged_checkpoint_is_skipped(text, tmp_path, capsys):
    run = model_run(updates=10)
    unbroken = train(run, text, tmp_path)
    older, newest = list_checkpoints(tmp_path)
    assert older.name == "checkpoint-000000007.safetensors"
    content = bytearray(newest.read_bytes())
    content[-3] ^= 1
    newest.write_bytes(content)
    resumed = make_trainer(run, text, tmp_path)
    assert resumed.counters.update == 7
    assert "damaged" in capsys.readouterr().err
    resumed.run()
    assert_same_end(resumed, unbroken)

    history = resumed.history.path.read_bytes()
    for path in list_checkpoints(tmp_path):
        path.write_bytes(path.read_bytes()[:-3])
    with refused():  # nothing begins anew
        make_trainer(run, text, tmp_path)
    assert resumed.history.path.read_bytes() == history


def test_partial_checkpoint_is_removed(text, tmp_path):
    leftover = tmp_path / ".checkpoint-000000003.safetensors.0-1-2.part.safetensors"
    leftover.write_bytes(b"half")
    make_trainer(model_run(), text, tmp_path)
    assert not leftover.exists()


def test_nonfinite_gradient_stops(text, tmp_path):
    trainer = make_trainer(model_run(), text, tmp_path)
    with torch.no_grad():
        trainer.model.readout.b_o[0] = math.inf
    with refused():
        trainer.run()
    assert not list_checkpoints(tmp_path)


WILD = {"optimizer": "adam", "learning_rate": 0.15, "cost": "mean", "keep": "best", "log_every": 100}
"""Steps so large that the score soon falls again."""


@pytest.mark.parametrize("first_end", [6, 13])
@pytest.mark.parametrize("is_stopped", [False, True], ids=["ended", "stopped"])
def test_longer_run_equals_one_of_that_length(text, tmp_path, first_end, is_stopped):
    """The validation at the first end, which has the best score so far, changes nothing of the longer run."""
    settings = {**WILD, "validate_every": 4, "patience": 2}

    def run(updates: int, name: str) -> tuple[Trainer, dict[str, Any]]:
        trainer = train(model_run(**settings, updates=updates), text, tmp_path / "state" / name)
        summary = export(trainer, tmp_path / "models" / name)
        return trainer, {key: value for key, value in summary.items() if key not in ("hours", "made_with")}

    # a longer run, and one that was told to stop and is then ended where it has stopped
    other_folder = tmp_path / "state" / "other"
    if is_stopped:
        stop_after(make_trainer(model_run(**settings, updates=60), text, other_folder), first_end)
    else:
        run(first_end, "other")
    end = first_end if is_stopped else 60
    other, other_summary = run(end, "other")
    unbroken, summary = run(end, "unbroken")
    assert other_summary == summary and summary["best_update"] <= end
    assert_same_end(other, unbroken)
    states = [
        read_checkpoint(tmp_path / "models" / name / "final_state.safetensors")
        for name in ("other", "unbroken")
    ]
    assert states[0].record["counters"]["best_score"] == states[1].record["counters"]["best_score"]


def test_last_update_may_be_the_best(text, tmp_path):
    """The last weights are scored, although no validation is due after them."""
    trainer = train(model_run(updates=13, keep="best", validate_every=6), text, tmp_path / "state")
    last_weights = {name: weight.clone() for name, weight in trainer.model.state_dict().items()}
    assert export(trainer, tmp_path / "model")["best_update"] == 13
    assert_equal_tensors(load_tensors(tmp_path / "model" / "model.safetensors"), last_weights)


def test_history_behind_its_checkpoint(text, tmp_path, capsys):
    """Only the checkpoints were copied from another machine, where the training had gone on."""
    stop_after(make_trainer(model_run(), text, tmp_path), 20)
    history = tmp_path / "history.jsonl"
    content = history.read_bytes()
    history.write_bytes(content[: content.index(b"\n") + 5])  # a line, and the beginning of another one
    resumed = make_trainer(model_run(), text, tmp_path)
    assert str(history) in capsys.readouterr().err
    resumed.run()
    assert [line["update"] for line in history_lines(resumed, "train_nll")] == [4, 24, 28, 30]


@pytest.mark.parametrize("copied", ["checkpoint-*", "best-*"])
def test_files_of_another_training_are_refused(text, tmp_path, copied):
    """Checkpoints, or best weights, of a training with another learning rate lie in the folder."""
    settings = {"updates": 12, "keep": "best", "validate_every": 5}
    train(model_run(**settings), text, tmp_path / "other")
    own_run = model_run(learning_rate=0.5, **settings)
    assert train(own_run, text, tmp_path / "own").counters.best_update == 12
    make_trainer(own_run, text, tmp_path / "own").load_chosen_weights()
    for path in (tmp_path / "other").glob(copied):
        shutil.copy(path, tmp_path / "own")
    with refused():
        make_trainer(own_run, text, tmp_path / "own").load_chosen_weights()


class Killed(Exception):
    """Ends a run as a kill does."""


@pytest.mark.parametrize(
    ("killed_before_save", "end", "best_update"),
    [(False, 24, 24), (True, 23, 10)],
    ids=["after its checkpoint", "before its checkpoint"],
)
def test_best_weights_survive_kill(text, tmp_path, killed_before_save, end, best_update):
    """The run is killed after update 24, whose weights are the best and written, and then ended earlier."""
    settings = {**WILD, "validate_every": 2, "checkpoint_every": 11}
    trainer = make_trainer(model_run(**settings, updates=60), text, tmp_path)
    save, make_update = trainer.save, trainer._update

    def save_or_die() -> None:
        if killed_before_save and trainer.counters.update == 24:
            raise Killed
        save()

    def update_or_die(batch: Any) -> None:
        if trainer.counters.update == 25:
            raise Killed
        make_update(batch)

    trainer.save, trainer._update = save_or_die, update_or_die
    with pytest.raises(Killed):
        trainer.run()
    assert trainer.counters.best_update == 24
    for path in list_checkpoints(tmp_path):  # if the newest is damaged, the run resumes from the other one
        counters = read_checkpoint(path).record["counters"]
        assert best_weights_path(tmp_path, counters["best_update"]).is_file()
    shorter = train(model_run(**settings, updates=end), text, tmp_path)
    shorter.load_chosen_weights()
    assert shorter.counters.best_update == best_update


def test_state_past_the_end(text, tmp_path):
    settings = {"updates": 60, "optimizer": "adam", "learning_rate": 0.3, "cost": "mean", "validate_every": 5}
    stopped = train(model_run(**settings, patience=2), text, tmp_path)
    end = stopped.counters.update
    assert end < 60, "the step size was meant to be too large"
    assert make_trainer(model_run(**settings, patience=2), text, tmp_path).run() == "development NLL"
    # With more patience it goes on, and then this state is not that of a run with less.
    train(model_run(**settings), text, tmp_path)
    for ending in ({"patience": 2}, {"patience": 1}, {"updates": end}):
        with pytest.raises(PastTheEnd):
            make_trainer(model_run(**{**settings, **ending}), text, tmp_path)


def continue_from(predecessor: Trainer, run: ModelRun, text: Bitext, folder: Path) -> Trainer:
    """Return the trainer of a run that continues from the final state of another."""
    export(predecessor, folder / "model")
    return make_trainer(run, text, folder / "second", continue_from=folder / "model")


def test_continue_from(text, tmp_path):
    first = train(model_run(updates=10), text, tmp_path / "first")
    second = continue_from(first, model_run(continue_from="small", updates=30), text, tmp_path)
    assert second.counters.update == 10
    # The weights that it begins with may be its best.
    (line,) = history_lines(second)
    assert (line["update"], line["dev_nll"]) == (10, first.compute_dev_nll())
    assert second.counters.best_update == 10
    assert 0 < second.counters.seconds < first.counters.seconds, "without its last validation"
    second.run()
    unbroken = train(model_run(), text, tmp_path / "unbroken")
    assert_equal_tensors(second.make_checkpoint().tensors, unbroken.make_checkpoint().tensors)
    with refused():
        continue_from(first, model_run(continue_from="small", batch_size=5), text, tmp_path / "first")


def test_continue_from_resets_patience(text, tmp_path):
    settings = {"validate_every": 1, "optimizer": "adam", "learning_rate": 0.5}
    first = train(model_run(updates=12, **settings), text, tmp_path / "first")
    assert first.counters.validations_without_gain > 0
    run = model_run(continue_from="small", updates=13, patience=1, **settings)
    second = continue_from(first, run, text, tmp_path)
    second.run()
    assert second.counters.update == 13
    again = make_trainer(run, text, tmp_path / "second", continue_from=tmp_path / "model")
    assert again.counters.update == 13, "the first one's patience is forgotten"


def export(trainer: Trainer, folder: Path) -> dict[str, Any]:
    """Export a model, and return its summary."""
    export_model(folder, trainer, "updates")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary


def test_init_from(text, tmp_path):
    folder = tmp_path / "model"
    weights_path = folder / "model.safetensors"
    export(train(model_run(updates=10), text, tmp_path / "first"), folder)
    run, state_folder = model_run(learning_rate=0.1), tmp_path / "tuned"
    tuned = make_trainer(run, text, state_folder, init_from=folder)
    assert (tuned.counters.update, tuned.counters.best_update) == (0, 0)
    assert -tuned.counters.best_score == history_lines(tuned)[0]["dev_nll"] == tuned.compute_dev_nll()
    weights = load_tensors(weights_path)
    assert_equal_tensors(tuned.model.state_dict(), weights)
    # The weights decide which training this is.
    assert tuned.training_inputs["data.initial_weights"] == sha256(weights_path)
    assert tuned.key != make_trainer(run, text, tmp_path / "drawn").key
    with refused():
        make_trainer(model_run(model_type="rnnencdec"), text, state_folder, init_from=folder)
    save_tensors(weights_path, weights, {"vocabularies": '{"source": "another"}'})
    with refused():
        make_trainer(run, text, state_folder, init_from=folder)


def test_tensorboard_events(text, tmp_path, monkeypatch):
    """They are the history, also after the run was continued."""
    events = {}

    def add_scalar(_: SummaryWriter, name: str, value: float, update: int) -> None:
        events[name, update] = value

    monkeypatch.setattr(SummaryWriter, "add_scalar", add_scalar)
    for updates in (8, 12):
        run = model_run(updates=updates, tensorboard=True, log_every=4, validate_every=8)
        trainer = train(run, text, tmp_path)
    assert len([*(tmp_path / "tensorboard").glob("events.out.tfevents.*")]) == 2
    for line in history_lines(trainer):
        for name in line.keys() - {"update", "epoch", "seconds"}:
            assert events[name, line["update"]] == line[name]


def test_time_budget(text, tmp_path):
    trainer = make_trainer(model_run(), text, tmp_path)
    with pytest.raises(Interrupted) as error:
        trainer.run(deadline=0.0)
    check(error.value)
    assert make_trainer(model_run(), text, tmp_path).counters.update == 1


def test_export_model(text, tmp_path):
    """The folder has all that Table 2 and a translator need."""
    trainer = train(model_run(updates=10), text, tmp_path / "state")
    summary = export(trainer, tmp_path / "model")
    assert summary["updates"] == 10
    assert summary["epochs"] == pytest.approx(10 * 4 / 60)
    assert summary["train_nll"] > 0 and summary["dev_nll"] > 0 and summary["hours"] > 0
    loaded = trained_model.load_model(tmp_path / "model", torch.device("cpu"))
    assert_equal_tensors(loaded.network.state_dict(), trainer.model.state_dict())
    assert len(loaded.source_vocabulary) == len(vocabulary(30))


def test_model_without_updates(text, tmp_path):
    """It keeps its initial weights, whose score is its history."""
    trainer = train(model_run(updates=0), text, tmp_path / "state")
    summary = export(trainer, tmp_path / "model")
    (line,) = history_lines(trainer)
    assert (summary["updates"], line["update"], line["dev_nll"]) == (0, 0, summary["dev_nll"])


def test_vocabulary_replaced_during_training(text, tmp_path, monkeypatch):
    """The model has the vocabulary with which it was trained."""
    vocabulary_file = shutil.copy(text.folder.with_name("source.tsv"), tmp_path)
    files = TrainingFiles(text.folder, text.folder, vocabulary_file, vocabulary_file)
    run_trainer = Trainer.run

    def run_and_replace(trainer: Trainer, deadline: float) -> str:
        vocabulary(20).write(vocabulary_file)
        return run_trainer(trainer, deadline)

    monkeypatch.setattr(Trainer, "run", run_and_replace)
    run, store = model_run(updates=2), TrainingStore(tmp_path)
    folder = train_in_store(store, "small", run, files, files.collect_inputs(run), "refuse", math.inf)
    loaded = trained_model.load_model(folder, torch.device("cpu"))
    assert loaded.source_vocabulary.sha256 == vocabulary(30).sha256


def test_shorter_training_begins_in_its_own_folder(text, tmp_path, capsys):
    """The longer one, whose settings are the same, is the only reason that is given."""
    folders, store = [], TrainingStore(tmp_path)
    for run in (model_run(updates=1, learning_rate=0.5), model_run(updates=3), model_run(updates=2)):
        files = training_files(text)
        folders.append(
            train_in_store(store, "small", run, files, files.collect_inputs(run), "refuse", math.inf)
        )
    assert len({folder.parent for folder in folders}) == 3
    assert capsys.readouterr().err.count("a new training, because") == 1


def test_text_that_changed_meanwhile_is_refused(text, tmp_path):
    """Otherwise the training would lie in the folder of a different one."""
    run, files = model_run(), training_files(text)
    former_inputs = files.collect_inputs(run) | {"data.train": "0" * 64}
    with refused():
        train_in_store(TrainingStore(tmp_path), "small", run, files, former_inputs, "wait", math.inf)
    assert not list(tmp_path.rglob("facts.json"))


@pytest.mark.parametrize("nll", [1e9, math.nan, math.inf])
def test_diverged_training_is_no_model(text, tmp_path, monkeypatch, nll):
    trainer = train(model_run(updates=4), text, tmp_path / "state")
    export(trainer, tmp_path / "model")
    monkeypatch.setattr(Trainer, "compute_dev_nll", lambda _: nll)
    with refused():
        export(trainer, tmp_path / "diverged")
    assert not (tmp_path / "diverged").exists()


def test_random_nll(text, tmp_path):
    """It is that of a model whose logits are all equal."""
    trainer = make_trainer(model_run(), text, tmp_path)
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.zero_()
    assert trainer.compute_random_nll() == pytest.approx(trainer.compute_dev_nll())


def test_lost_lock_stops_training(text, tmp_path):
    trainer = make_trainer(model_run(), text, tmp_path)
    trainer.is_lock_lost = lambda: True
    with refused():
        trainer.run()
    assert not list_checkpoints(tmp_path)


def test_lost_lock_leaves_no_summary(text, tmp_path):
    trainer = train(model_run(updates=2), text, tmp_path / "state")
    answers = iter([False, True])
    trainer.is_lock_lost = lambda: next(answers)
    with refused():
        export(trainer, tmp_path / "model")
    assert not (tmp_path / "model" / "summary.json").exists()


def test_resume_keeps_matmul_library(tmp_path, text, monkeypatch):
    for library, updates in (("torch", 2), ("onednn", 4)):
        monkeypatch.setattr("nmt.training.trainer.choose_matmul_library", lambda *_, library=library: library)
        trainer = train(model_run(updates=updates), text, tmp_path / "state")
        assert trainer.model.readout.backend.matmul_library == "torch"
        assert trainer.make_checkpoint().record["matmul_library"] == "torch"
    fresh = make_trainer(model_run(updates=2), text, tmp_path / "new")
    assert fresh.model.backend.matmul_library == "onednn"


def test_score_that_is_not_a_number_is_never_the_best():
    counters = Counters()
    assert [counters.count_validation(score) for score in (math.nan, math.nan, -9.0)] == [True, False, True]


def test_state_of_another_version_is_refused():
    with refused():
        Counters.from_record({"update": 40, "window_updates": 10})
