"""Training runs: what they record, how they stop, and that a broken-off one ends like an unbroken one."""

from __future__ import annotations

import json
import math
import struct
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboardX.proto.event_pb2 import Event

from nmt.data.bitext import Bitext
from nmt.io.files import sha256
from nmt.settings.training import ModelRun
from nmt.store import trained_model
from nmt.store.tensors import load_tensors, save_tensors
from nmt.training import checkpoint
from nmt.training.checkpoint import Checkpoint, export_model
from nmt.training.history import read_history
from nmt.training.trainer import Interrupted, PastTheEnd, Trainer
from tests.bitexts import shifted_pairs, vocabulary, write_bitext
from tests.messages import check, refused
from tests.training_settings import model_run

CLOCKS = {"seconds", "source_words_per_second", "target_words_per_second"}
VOCABULARIES = (vocabulary(30), vocabulary(30))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return write_bitext(tmp_path_factory.mktemp("text"), shifted_pairs())


def trainer(run: ModelRun, text: Bitext, state: Path) -> Trainer:
    made = Trainer(run, text, text, VOCABULARIES, state)
    made.resume(None)
    return made


def trained(run: ModelRun, text: Bitext, state: Path) -> Trainer:
    made = trainer(run, text, state)
    made.run()
    return made


def history_of(made: Trainer) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in line.items() if k not in CLOCKS} for line in list(read_history(made.history.path))
    ]


def same_tensors(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_first_update_is_the_papers(text: Bitext, tmp_path: Path) -> None:
    """Cost summed over sentences, gradient clipped to norm 1, Adadelta."""
    made = trainer(model_run(updates=1), text, tmp_path)
    before = {name: weight.detach().clone() for name, weight in made.model.named_parameters()}
    made.run()
    norm = next(read_history(made.history.path))["gradient_norm"]
    assert norm > 1, "the summed cost's gradient is longer than 1, so it is clipped"
    for name, weight in made.model.named_parameters():
        assert weight.grad is not None
        grad = weight.grad.to_dense() / norm
        step = -math.sqrt(1e-6) / (0.05 * grad**2 + 1e-6).sqrt() * grad
        torch.testing.assert_close(weight.detach() - before[name], step, rtol=1e-3, atol=1e-7)


def test_the_mean_cost_is_the_sum_over_the_batch_size(text: Bitext, tmp_path: Path) -> None:
    norms = []
    for cost in ("sum", "mean"):
        made = trained(model_run(updates=1, cost=cost), text, tmp_path / cost)
        norms.append(next(read_history(made.history.path))["gradient_norm"])
    assert norms[0] == pytest.approx(4 * norms[1], rel=1e-5)


def test_history_says_what_happened(text: Bitext, tmp_path: Path) -> None:
    begin = time.monotonic()
    made = trained(model_run(updates=15, log_every=5, validate_every=10), text, tmp_path)
    lines = list(read_history(made.history.path))
    assert [line["update"] for line in lines if "train_nll" in line] == [5, 10, 15]
    assert [line["update"] for line in lines if "dev_nll" in line] == [10, 15]
    assert lines[-1]["epoch"] == pytest.approx(15 * 4 / 60)
    assert lines[-1]["dev_nll"] == pytest.approx(made.dev_nll(), rel=1e-12)
    assert 0 < lines[0]["seconds"] < lines[-1]["seconds"] < time.monotonic() - begin
    assert 0 <= lines[0]["clipped"] <= 1


def test_words_per_second_are_those_of_updates_and_the_hours_have_all(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update takes a second here, a validation a hundred."""
    now, words = [0.0], list[int]()
    monkeypatch.setattr("nmt.training.trainer.time.monotonic", lambda: now[0])
    made = trainer(model_run(updates=20, log_every=2, validate_every=2, patience=3), text, tmp_path)
    update, dev_nll = made._update, made.dev_nll

    def slow_update(batch: Any) -> None:
        update(batch)
        words.append(int(batch.target_lengths.sum()) - len(batch))
        now[0] += 1

    def slow_dev_nll() -> float:
        now[0] += 100
        return dev_nll() if made.counters.update < 5 else 1e9

    made._update, made.dev_nll = slow_update, slow_dev_nll  # type: ignore[method-assign]
    made.run()
    lines = [line for line in read_history(made.history.path) if "train_nll" in line]
    assert [2 * line["target_words_per_second"] for line in lines] == [
        sum(words[first : first + 2]) for first in range(0, 10, 2)
    ]
    assert made.counters.seconds == now[0] == 10 + 5 * 100
    checkpoints = [
        checkpoint.read_checkpoint(path).counters["counters"]
        for path in checkpoint.list_checkpoints(tmp_path)
    ]
    assert [saved["seconds"] for saved in checkpoints] == [205, 510]


SUTSKEVERS = model_run(
    model_type="lstm", optimizer="sgd", learning_rate=0.7, clip_norm=5.0, cost="mean", epochs=1.95, updates=100,
    decay_from_epoch=0.5, decay_every_epochs=0.25,
)  # fmt: skip
"""30 updates of 4 of 60 pairs are 2 epochs."""
FALLING_ADAM = model_run(
    optimizer="adam", learning_rate=0.01, cost="mean", keep="best", epochs=1.95, updates=100, decay_from_epoch=0.5,
    decay_every_epochs=0.25,
)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "stops"),
    [(model_run(), (3, 5, 12, 29)), (SUTSKEVERS, (4, 8, 13)), (FALLING_ADAM, (9,))],
    ids=["adadelta", "sgd", "adam"],
)
def test_a_run_stopped_anywhere_ends_like_an_unbroken_one(
    text: Bitext, tmp_path: Path, run: ModelRun, stops: tuple[int, ...]
) -> None:
    unbroken = trained(run, text, tmp_path / "unbroken")
    for stop in stops:
        stopped_after(trainer(run, text, tmp_path / f"{stop}"), stop)
        second = trainer(run, text, tmp_path / f"{stop}")
        assert second.counters.update == stop
        second.run()
        assert same_tensors(unbroken.state_tensors(), second.state_tensors())
        assert history_of(unbroken) == history_of(second)


def stopped_after(first: Trainer, stop: int) -> None:
    original = first._update

    def update(batch: Any) -> None:
        original(batch)
        if first.counters.update == stop:
            first.stop_wanted.set()

    first._update = update  # type: ignore[method-assign]
    with pytest.raises(Interrupted):
        first.run()


@pytest.mark.parametrize("run", [SUTSKEVERS, FALLING_ADAM], ids=["sgd", "adam"])
def test_a_schedule_in_epochs_follows_the_text(text: Bitext, tmp_path: Path, run: ModelRun) -> None:
    made = trainer(run, text, tmp_path)
    moved, rates = made.updater, dict[int, float]()
    original = moved._descend

    def descend(batch: Any) -> None:
        rates[made.counters.update] = moved.learning_rate
        original(batch)

    moved._descend = descend  # type: ignore[method-assign]
    assert made.run() == "epochs"
    assert made.counters.update == 30 == math.ceil(1.95 * 60 / 4) and made.epochs() == 2
    halvings = {0: 0, 7: 0, 8: 1, 11: 1, 12: 2, 15: 3, 19: 4, 23: 5, 27: 6}
    for update, steps in halvings.items():
        assert rates[update] == pytest.approx(run.training.learning_rate * 0.5**steps), update
    logged = {
        line["update"]: line["learning_rate"]
        for line in list(read_history(made.history.path))
        if "train_nll" in line
    }
    assert logged and all(rate == rates[update - 1] for update, rate in logged.items())


def test_a_seed_may_draw_the_order_of_the_text_as_well_as_the_start_values(
    text: Bitext, tmp_path: Path
) -> None:
    stored, drawn = (
        trainer(model_run(order=order), text, tmp_path / order).pairs for order in ("stored", "seed")
    )
    assert drawn.take(0, len(drawn)).tolist() != stored.take(0, len(stored)).tolist()
    assert sorted(drawn.take(0, len(drawn)).tolist()) == stored.take(0, len(stored)).tolist()


def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(
    text: Bitext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(model_run(updates=10), text, tmp_path)
    older, newest = checkpoint.list_checkpoints(tmp_path)
    assert older.name == "checkpoint-000000007.safetensors"
    content = bytearray(newest.read_bytes())
    content[-3] ^= 1
    newest.write_bytes(content)
    resumed = trainer(model_run(updates=10), text, tmp_path)
    assert resumed.counters.update == 7
    assert "damaged" in capsys.readouterr().err
    resumed.run()
    assert same_tensors(resumed.state_tensors(), finished(text, tmp_path / "other").state_tensors())
    history = (tmp_path / "history.jsonl").read_bytes()
    for saved in checkpoint.list_checkpoints(tmp_path):
        saved.write_bytes(saved.read_bytes()[:-3])
    with refused():  # nothing begins anew
        trainer(model_run(updates=10), text, tmp_path)
    assert (tmp_path / "history.jsonl").read_bytes() == history


def finished(text: Bitext, state: Path) -> Trainer:
    return trained(model_run(updates=10), text, state)


def test_what_a_killed_process_has_half_written_is_removed(text: Bitext, tmp_path: Path) -> None:
    leftover = tmp_path / ".checkpoint-000000003.safetensors.0-1-2.part.safetensors"
    leftover.write_bytes(b"half")
    Trainer(model_run(), text, text, VOCABULARIES, tmp_path).resume(None)
    assert not leftover.exists()


def test_other_settings_are_refused_and_named(text: Bitext, tmp_path: Path) -> None:
    finished(text, tmp_path)
    with refused():
        trainer(model_run(updates=10, batch_size=5), text, tmp_path)


def test_other_data_are_refused_and_named(text: Bitext, tmp_path: Path) -> None:
    finished(text, tmp_path / "state")
    (tmp_path / "other").mkdir()
    other = write_bitext(tmp_path / "other", [([3, 4], [5])])
    for train, dev in ((other, text), (text, other)):
        with refused():
            Trainer(model_run(updates=10), train, dev, VOCABULARIES, tmp_path / "state").resume(None)


def test_more_updates_go_on_and_fewer_are_refused(text: Bitext, tmp_path: Path) -> None:
    finished(text, tmp_path)
    longer = trained(model_run(updates=30), text, tmp_path)
    unbroken = trained(model_run(), text, tmp_path / "unbroken")
    assert same_tensors(longer.state_tensors(), unbroken.state_tensors())
    with refused():
        trainer(model_run(updates=8), text, tmp_path).run()


def test_a_gradient_that_is_not_finite_stops_with_the_last_good_state(text: Bitext, tmp_path: Path) -> None:
    made = trainer(model_run(), text, tmp_path)
    with torch.no_grad():
        made.model.readout.b_o[0] = math.inf
    with refused():
        made.run()
    assert not checkpoint.list_checkpoints(tmp_path)


WILD = {"optimizer": "adam", "learning_rate": 0.15, "cost": "mean", "keep": "best", "log_every": 100}
"""Steps so large that the score soon falls again."""


def test_each_line_of_the_history_is_of_its_own_updates(text: Bitext, tmp_path: Path) -> None:
    """With steps too small to matter, two lines of two updates each are one line of all four."""
    still = {"updates": 4, "optimizer": "sgd", "learning_rate": 1e-12, "clip_norm": 1e6}
    lines = {}
    for every in (2, 4):
        made = trained(model_run(**still, log_every=every), text, tmp_path / str(every))
        lines[every] = [line for line in list(read_history(made.history.path)) if "train_nll" in line]
    first, second = (line["train_nll"] for line in lines[2])
    assert lines[4][0]["train_nll"] == pytest.approx((first + second) / 2, rel=1e-6)
    assert lines[4][0]["gradient_norm"] > 1 and lines[4][0]["clipped"] == 0, "of the threshold that was set"


def test_the_closing_validation_uses_up_no_patience(text: Bitext, tmp_path: Path) -> None:
    """Where it is none of every so many: a run whose `updates` are raised then goes on as one that was not ended."""
    wild = {**WILD, "validate_every": 4, "patience": 2}
    unbroken = trainer(model_run(**wild, updates=60), text, tmp_path / "unbroken")
    assert unbroken.run() == "development NLL"
    end = unbroken.counters.update
    assert trainer(model_run(**wild, updates=end - 3), text, tmp_path / "ended").run() == "updates"
    raised = trainer(model_run(**wild, updates=60), text, tmp_path / "ended")
    assert (raised.run(), raised.counters.update) == ("development NLL", end)


def test_the_best_weights_of_the_last_checkpoint_survive_a_kill(text: Bitext, tmp_path: Path) -> None:
    """Better ones may have been written since, and be out of reach under other settings."""
    wild = {**WILD, "validate_every": 2, "checkpoint_every": 11}

    class Killed(Exception):
        pass

    for last, place in ((1000, "after"), (24, "before")):
        made = trainer(model_run(**wild, updates=60), text, tmp_path / place)
        save, update = made.save, made._update

        def saved(save: Any = save, made: Trainer = made, last: int = last) -> None:
            if made.counters.update == last:
                raise Killed  # the new best weights are written, and nothing names them
            save()

        def updated(batch: Any, update: Any = update, made: Trainer = made) -> None:
            if made.counters.update == 25:
                raise Killed
            update(batch)

        made.save, made._update = saved, updated  # type: ignore[method-assign]
        with pytest.raises(Killed):
            made.run()
        assert made.counters.best_update == 24
        for path in checkpoint.list_checkpoints(
            tmp_path / place
        ):  # if the newest is damaged, the other one is resumed from
            best = checkpoint.read_checkpoint(path).counters["counters"]["best_update"]
            assert (tmp_path / place / f"best-{best:09d}.safetensors").is_file()
        end = 24 if place == "after" else 23
        shorter = trained(model_run(**wild, updates=end), text, tmp_path / place)
        shorter.load_chosen_weights()
        assert shorter.counters.best_update == (24 if place == "after" else 10)


def test_while_nothing_is_translated_a_bleu_of_zero_does_not_end_the_run(
    text: Bitext, tmp_path: Path
) -> None:
    run = model_run(updates=40, dev_score="bleu", patience=2, validate_every=5, keep="best")
    made = trained(run, text, tmp_path)
    scores = [line["dev_bleu"] for line in list(read_history(made.history.path)) if "dev_bleu" in line]
    assert set(scores) == {0.0} and made.counters.best_update == made.counters.update == 40


def test_a_part_of_a_pass_ends_after_as_many_batches(tmp_path: Path) -> None:
    """In floating point, 1.1 times 50 pairs in batches of 5 are a little more than 11 batches."""
    text = write_bitext(tmp_path, [([3], [4])] * 50)
    made = trainer(model_run(epochs=1.1, batch_size=5, updates=10**6), text, tmp_path / "state")
    assert made.last_update == 11


def test_a_state_beyond_the_end_that_is_asked_for_is_not_taken(text: Bitext, tmp_path: Path) -> None:
    wild = {"updates": 60, "optimizer": "adam", "learning_rate": 0.3, "cost": "mean", "validate_every": 5}
    stopped = trained(model_run(**wild, patience=2), text, tmp_path)
    ended_at = stopped.counters.update
    assert ended_at < 60, "the step size was meant to be too large"
    assert trainer(model_run(**wild, patience=2), text, tmp_path).run() == "development NLL"
    # with more patience it goes on, and then this state is not that of a run with less
    trained(model_run(**wild), text, tmp_path)
    for ending in ({"patience": 2}, {"patience": 1}, {"updates": ended_at}):
        with pytest.raises(PastTheEnd):
            trainer(model_run(**{**wild, **ending}), text, tmp_path)


def successor_of(first: Trainer, run: ModelRun, text: Bitext, folder: Path) -> Trainer:
    """A run that continues from the final state of another."""
    final = folder / "final.safetensors"
    checkpoint.write_checkpoint(final, Checkpoint(first.state_tensors(), first.record()))
    successor = Trainer(run, text, text, VOCABULARIES, folder / "second")
    successor.resume(final)
    return successor


def test_a_successor_goes_on_exactly_where_its_predecessor_ended(text: Bitext, tmp_path: Path) -> None:
    first = finished(text, tmp_path / "first")
    successor = successor_of(first, model_run(continue_from="small", updates=30), text, tmp_path)
    assert successor.counters.update == 10
    (begun,) = read_history(successor.history.path)
    # the weights that it begins with may be its best
    assert (begun["update"], begun["dev_nll"]) == (10, first.dev_nll())
    assert successor.counters.best_update == 10
    assert successor.counters.seconds == first.counters.seconds
    successor.run()
    unbroken = trained(model_run(), text, tmp_path / "unbroken")
    assert same_tensors(successor.state_tensors(), unbroken.state_tensors())
    with refused():
        successor_of(first, model_run(continue_from="small", batch_size=5), text, tmp_path / "first")


def test_a_training_may_begin_with_the_weights_of_another_model(text: Bitext, tmp_path: Path) -> None:
    first = finished(text, tmp_path / "first")
    folder = tmp_path / "model"
    names = [tmp_path / "source.tsv", tmp_path / "target.tsv"]
    for side, name in zip(VOCABULARIES, names, strict=True):
        side.write(name)
    export_model(folder, first, (names[0], names[1]), "updates")

    def tuned(**changes: object) -> Trainer:
        return Trainer(model_run(**changes), text, text, VOCABULARIES, tmp_path / "tuned", init_from=folder)

    slow = tuned(learning_rate=0.1)
    slow.resume(None)
    assert slow.counters.update == 0
    assert same_tensors(slow.model.state_dict(), load_tensors(folder / "model.safetensors"))
    # the weights decide which training this is
    assert slow.facts["data.initial_weights"] == sha256(folder / "model.safetensors")
    assert slow.key != trainer(model_run(learning_rate=0.1), text, tmp_path / "drawn").key
    with refused():
        tuned(model_type="rnnencdec")
    changed = load_tensors(folder / "model.safetensors")
    save_tensors(folder / "model.safetensors", changed, {"vocabularies": '{"source": "another"}'})
    with refused():
        tuned()


def test_a_successor_with_patience_starts_counting_anew(text: Bitext, tmp_path: Path) -> None:
    first = trainer(
        model_run(updates=12, validate_every=1, optimizer="adam", learning_rate=0.5), text, tmp_path / "first"
    )
    first.run()
    assert first.counters.validations_without_gain > 0
    run = model_run(
        continue_from="small", updates=13, patience=1, validate_every=1, optimizer="adam", learning_rate=0.5
    )
    successor = successor_of(first, run, text, tmp_path)
    successor.run()
    assert successor.counters.update == 13


def test_tensorboard_sees_the_history_as_often_as_the_run_is_gone_on_with(
    text: Bitext, tmp_path: Path
) -> None:
    trained(model_run(updates=8, tensorboard=True, log_every=4, validate_every=8), text, tmp_path)
    longer = trained(model_run(updates=12, tensorboard=True, log_every=4, validate_every=8), text, tmp_path)
    found = events(tmp_path / "tensorboard")
    for line in read_history(longer.history.path):
        for name in ("train_nll", "dev_nll", "gradient_norm", "clipped", "target_words_per_second"):
            if name in line:
                assert found[name, line["update"]] == pytest.approx(line[name], rel=1e-6)


def events(folder: Path) -> dict[tuple[str, int], float]:
    """Every scalar of the event files: each record is its length, a check of that, the event, and a check of it."""
    found = {}
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = Event.FromString(data[12 : 12 + length])
            for value in event.summary.value:
                found[value.tag, event.step] = value.simple_value
            data = data[16 + length :]
    return found


def test_a_time_budget_ends_in_good_order(text: Bitext, tmp_path: Path) -> None:
    made = trainer(model_run(), text, tmp_path)
    with pytest.raises(Interrupted) as stopped:
        made.run(max_seconds=1e-9)
    check(stopped.value)
    assert trainer(model_run(), text, tmp_path).counters.update == 1


def test_a_folder_holds_all_that_table_2_and_a_translator_need(text: Bitext, tmp_path: Path) -> None:
    made = finished(text, tmp_path / "state")
    vocabularies = (text.folder.parent / "source.tsv", text.folder.parent / "target.tsv")
    summary = export_model(tmp_path / "model", made, vocabularies, "updates")
    assert summary == json.loads((tmp_path / "model" / "summary.json").read_text())
    assert summary["updates"] == 10
    assert summary["epochs"] == pytest.approx(10 * 4 / 60)
    assert summary["train_nll"] > 0 and summary["dev_nll"] > 0 and summary["hours"] > 0
    loaded = trained_model.load_model(tmp_path / "model", torch.device("cpu"))
    assert same_tensors(loaded.network.state_dict(), made.model.state_dict())
    assert len(loaded.source) == len(VOCABULARIES[0])


def test_a_lost_lock_stops_training(text: Bitext, tmp_path: Path) -> None:
    with refused():
        trainer(model_run(), text, tmp_path).run(lost=lambda: True)
    assert not checkpoint.list_checkpoints(tmp_path)


def test_a_lock_lost_at_the_end_leaves_no_summary(text: Bitext, tmp_path: Path) -> None:
    made = trained(model_run(updates=2), text, tmp_path / "state")
    answers = iter([False, True])
    made.lost = lambda: next(answers)
    files = [text.folder.parent / f"{side}.tsv" for side in ("source", "target")]
    with refused():
        checkpoint.export_model(tmp_path / "model", made, (files[0], files[1]), "updates")
    assert not (tmp_path / "model" / "summary.json").exists()


def test_a_resumed_run_keeps_the_library_of_its_products(
    tmp_path: Path, text: Bitext, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chosen, updates in (("torch", 2), ("onednn", 4)):
        monkeypatch.setattr("nmt.training.trainer.choose_matmul_library", lambda *_, chosen=chosen: chosen)
        made = trained(model_run(updates=updates), text, tmp_path / "state")
        assert (
            made.model.readout.backend.matmul_library == "torch"
            and made.record()["matmul_library"] == "torch"
        )
    assert trainer(model_run(updates=2), text, tmp_path / "new").model.backend.matmul_library == "onednn"
