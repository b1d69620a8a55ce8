"""The training loop (paper, Sec. 4.2 and App. B.2): updates, validation, checkpoints, and when to stop."""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor

from nmt.backend.compiled import prepare_compiled_steps
from nmt.backend.device import (
    choose_device,
    find_out_of_memory_error,
    give_back_freed_memory,
    keep_freed_memory,
    make_deterministic,
)
from nmt.backend.products import Backend, check_precision, choose_matmul_library
from nmt.data.batches import Batch, PairsWithinLimit, training_batches
from nmt.data.bitext import Bitext
from nmt.data.meta import data_checksums
from nmt.data.vocabulary import Vocabulary
from nmt.errors import RecurringError, UserError
from nmt.io.files import remove_leftovers
from nmt.io.progress import Progress
from nmt.model import model_types
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.base import FlatSettings, describe_differences
from nmt.settings.training import ModelRun
from nmt.store.model_folder import WEIGHTS, find_initial_weights
from nmt.store.result_store import collect_training_facts, compute_model_key
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from nmt.training import checkpoint
from nmt.training.checkpoint import Checkpoint
from nmt.training.history import TENSORBOARD_FOLDER, History, TensorBoardWriter, count_planned_updates
from nmt.training.optimizers import optimizer_tensors, restore_optimizer
from nmt.training.update import Updater, prefetch_batches
from nmt.training.validation import compute_greedy_bleu, compute_mean_nll

COMPILED = "compiled"
"""Folder of what torch.compile has made for this run, so that a resumed run need not wait for it again."""
LESS_MEMORY = (
    "lower training.cuda_graph_max_words, which changes no model, or use a GPU with more (docs/gpu.md#memory)"
)


@dataclass
class Counters:
    """The state of a run besides its tensors. JSON represents it exactly.

    seconds: wall-clock time of all parts of the run. Fields that begin with `window_` add up values of updates for the
    next line of the history. best_score: the best development score, where greater is better: BLEU, or the NLL with its
    sign changed. most_validations_without_gain: the largest value so far, which was first reached after the update
    most_reached_at: with a smaller `patience` the run would have ended before.
    """

    update: int = 0
    seconds: float = 0.0
    history_bytes: int = 0
    best_score: float | None = None
    best_update: int = 0
    validations_without_gain: int = 0
    most_validations_without_gain: int = 0
    most_reached_at: int = 0
    window_updates: int = 0
    window_sentences: int = 0
    window_source_words: int = 0
    window_target_words: int = 0
    window_seconds: float = 0.0


def open_data(
    train: Path, dev: Path, source_vocabulary: Path, target_vocabulary: Path
) -> tuple[Bitext, Bitext, tuple[Vocabulary, Vocabulary]]:
    """Return training and development text, and both vocabularies, source first.

    A UserError names a bitext that was altered, or was made with another vocabulary.
    """
    source, target = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    bitexts = Bitext.open(train), Bitext.open(dev)
    for bitext in bitexts:
        bitext.check(source, target)
    return *bitexts, (source, target)


def load_initial_weights(model: EncoderDecoder, folder: Path, data: Mapping[str, str]) -> None:
    """Load the weights of the finished model in `folder`.

    Raises a UserError if it has other vocabularies than the text, whose checksums are in `data`, or other weights.
    """
    weights, about = load_tensors(folder / WEIGHTS), load_metadata(folder / WEIGHTS)
    for side, checksum in json.loads(about.get("vocabularies", "{}")).items():
        if checksum != data[f"{side}_vocabulary"]:
            raise UserError(
                f"{folder}: trained with another {side} vocabulary; binarize the text with its {side}.tsv"
            )

    shapes, expected_shapes = (
        {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        for tensors in (weights, model.state_dict())
    )
    for name in sorted(shapes.keys() | expected_shapes.keys()):
        shape, expected = shapes.get(name), expected_shapes.get(name)
        if shape != expected:
            raise UserError(
                f"{folder}: its weights do not fit the settings: {name} is {shape}, expected {expected}; the model "
                "type and the sizes of `architecture` must be the same"
            )
    model.load_state_dict(weights)


class PastTheEnd(UserError):
    """Raised when a state folder holds a training that has gone on beyond the end that the settings ask for."""


class Interrupted(Exception):
    """Raised when the run was told to stop before its end. Its state is saved."""


class Trainer:
    """One training run in one state folder, fresh or resumed from its last checkpoint."""

    def __init__(
        self,
        run: ModelRun,
        train: Bitext,
        dev: Bitext,
        vocabularies: tuple[Vocabulary, Vocabulary],
        state: Path,
        base_key: str | None = None,
        init_from: Path | None = None,
    ) -> None:
        """Set up a training of `run` in the folder `state`.

        Args:
            run: the settings.
            train, dev: training and development text.
            vocabularies: those of source and target.
            state: the folder for checkpoints.
            base_key: key of the finished model that the training continues.
            init_from: folder of the model whose weights are the initial ones; None draws them.
        """
        make_deterministic(run.training.threads)
        keep_freed_memory()
        self.run_settings, self.settings = run, run.training
        self.train, self.dev, self.state = train, dev, state
        self.device = choose_device(self.settings.device)
        check_precision(run.training.precision, self.device)
        if run.training.precision == "bf16" and self.device.type == "cuda":
            click.echo("nmt: on a GPU, bf16 is slower than tf32 (docs/gpu.md#precision)", err=True)
        source, self.target_vocabulary = vocabularies
        sizes = len(source), len(self.target_vocabulary)
        self.data = data_checksums(train.folder, dev.folder) | find_initial_weights(init_from)
        self.model = model_types.create(run.model_type, run.architecture, sizes, run.seed).to(self.device)
        if init_from is not None:
            load_initial_weights(self.model, init_from, self.data)
        matmul_library = choose_matmul_library(self.device, run.training.matmul_library)
        fuse = prepare_compiled_steps(run.training.kernels, self.device, state / COMPILED)
        self.model.use_backend(Backend(run.training.precision, matmul_library, fuse))
        self.updater = Updater(self.model, self.settings)
        self.counters = Counters()
        order_seed = run.seed if self.settings.order == "seed" else None
        self.pairs = PairsWithinLimit(train, run.max_words, order_seed)
        self.dev_rows = (
            np.arange(len(dev))
            if self.settings.dev_sentences == "all"
            else PairsWithinLimit(dev, run.max_words).rows
        )
        self.last_update = count_planned_updates(self.settings, len(self.pairs), self.settings.batch_size)
        self.last_because = "updates" if self.last_update == self.settings.updates else "epochs"
        self.facts = collect_training_facts(run, self.data, base_key)
        self.key = compute_model_key(self.facts, run)
        self.history = History(state / "history.jsonl")
        self.board: TensorBoardWriter | None = None
        self.stop_wanted = threading.Event()
        self.lost: Callable[[], bool] = lambda: False
        self._clock = time.monotonic()

    # Beginnings ------------------------------------------------------------------------------------------------

    def resume(self, predecessor: Path | None) -> None:
        """Resume from the last undamaged checkpoint, else from a predecessor's final state, else start a new run.

        Raises PastTheEnd if the checkpoint lies behind the end that the settings ask for.
        """
        self.state.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.state, ".", ".part.safetensors", is_locked=True)
        last = checkpoint.load_newest_checkpoint(self.state)
        if last is not None:
            self._refuse_other(last.counters["facts"], str(self.state))
            self._restore(last)
            self._refuse_past_the_end()
            click.echo(f"nmt: {self.state}: resuming after update {self.counters.update}", err=True)
        self.history.rewind(self.counters.history_bytes if last is not None else 0)
        if self.settings.tensorboard:
            self.board = TensorBoardWriter(self.state / TENSORBOARD_FOLDER, self.counters.update)
        if last is None and predecessor is not None:
            self._continue_from(predecessor)

    def _continue_from(self, path: Path) -> None:
        final = checkpoint.read_checkpoint(path)
        self._refuse_other(final.counters["facts"], str(path))
        self._restore(final)
        # a new run counts its own patience, and its best weights may be those that it begins with
        self.counters = replace(
            self.counters, best_score=None, most_validations_without_gain=0, most_reached_at=0
        )
        self._validate()

    def _refuse_past_the_end(self) -> None:
        counters, patience = self.counters, self.settings.patience
        if counters.update > self.last_update:
            raise PastTheEnd(
                f"{self.state}: {counters.update} updates are done, more than the settings ask for"
            )
        if patience is None or counters.most_validations_without_gain < patience:
            return
        # a run that has just ended by its patience is at its end, not past it
        just_reached = counters.most_reached_at == counters.update
        if counters.most_validations_without_gain > patience or not just_reached:
            raise PastTheEnd(f"{self.state}: training went on where a patience of {patience} ends it")

    def _refuse_other(self, was: FlatSettings, where: str) -> None:
        changed = describe_differences(was, self.facts, frozenset({"base"}))
        if changed:
            raise RecurringError(
                f"{where} belongs to a run with other settings or data: {changed}; "
                f"set them back, or delete or rename that folder to start again"
            )

    def _restore(self, saved: Checkpoint) -> None:
        # a run that began with PyTorch's own products keeps them; those of oneDNN only where the processor suits
        if saved.counters["matmul_library"] == "torch":
            self.model.use_backend(replace(self.model.backend, matmul_library="torch"))
        weights = {
            name.removeprefix("model/"): t for name, t in saved.tensors.items() if name.startswith("model/")
        }
        self.model.load_state_dict(weights)
        restore_optimizer(self.model, self.updater.optimizer, saved.tensors)
        self.updater.sums.copy_(saved.tensors["sums"])
        self.counters = Counters(**saved.counters["counters"])

    # The loop --------------------------------------------------------------------------------------------------

    def run(self, max_seconds: float = math.inf, lost: Callable[[], bool] | None = None) -> str:
        """Train until the end. Return its reason: `updates`, `epochs`, `development NLL` or `development BLEU`.

        Raises Interrupted, after saving the state, on SIGTERM or SIGINT or after `max_seconds`. Raises UserError if the
        lock of the state folder is lost or the gradient is not finite.
        """
        counters, last = self.counters, self.last_update
        self.lost = lost or self.lost
        deadline = time.monotonic() + max_seconds
        label = f"train {self.run_settings.model}"
        progress = Progress(last, "updates", label, before=counters.update)
        board = nullcontext() if self.board is None else closing(self.board)
        with progress, board, self._signals(), closing(self._batches()) as batches:
            if self._finished() is None:
                self._preallocate()
            self._clock = time.monotonic()
            while (reason := self._finished()) is None:
                self._update(next(batches))
                self._bookkeep()
                progress.update()
                if self.stop_wanted.is_set() or time.monotonic() >= deadline:
                    self.save()
                    raise Interrupted(f"stopped after update {counters.update} of {last}; run again")
        self.save()
        return reason

    def _preallocate(self) -> None:
        """Run the largest updates, so that too little GPU memory is an error now and not after a day of training."""
        longest = self.pairs.max_length
        work = f"{self.state}: updates of {self.settings.batch_size} pairs of up to {longest} words"
        try:
            self.updater.preallocate(longest)
        except RuntimeError as error:
            raise find_out_of_memory_error(error, work, LESS_MEMORY) or error from None

    def _finished(self) -> str | None:
        patience = self.settings.patience
        if patience is not None and self.counters.validations_without_gain >= patience:
            return f"development {self.settings.dev_score.upper()}"
        return self.last_because if self.counters.update >= self.last_update else None

    def _batches(self) -> Generator[Batch]:
        """Yield minibatches from the next update on; for a GPU, they are prepared ahead in pinned memory."""
        architecture = self.run_settings.architecture
        batches = training_batches(
            self.pairs,
            self.settings.batch_size,
            self.settings.batches_per_sort,
            architecture.source_eos,
            self.counters.update,
            self.updater.bucket,
        )
        return prefetch_batches(batches, Batch.pin_memory) if self.updater.graphs else batches

    def _update(self, batch: Batch) -> None:
        """Make one update, and add its values to the next line of the history."""
        self.updater(batch, self.epochs())
        counters = self.counters
        counters.update += 1
        counters.window_updates += 1
        counters.window_sentences += len(batch)
        source_ends = len(batch) if self.run_settings.architecture.source_eos else 0
        counters.window_source_words += int(batch.source_lengths.sum()) - source_ends
        counters.window_target_words += int(batch.target_lengths.sum()) - len(batch)
        if self.device.type == "cpu":
            self._refuse_not_finite()  # on a GPU, this would wait for the update, so it happens less often

    def _refuse_not_finite(self) -> None:
        """Stop before a state with a NaN is used, unless the settings say to continue."""
        if self.settings.not_finite != "stop" or not (count := self.updater.read().not_finite):
            return
        update = self.counters.update
        self._record({"update": update, "not_finite": count, "seconds": self.counters.seconds})
        where = f"of update {update}" if self.device.type == "cpu" else f"of {count} updates up to {update}"
        raise RecurringError(
            f"{self.state}: the gradient {where} is not finite; the last checkpoint is from before it. "
            f"Lower training.learning_rate, check the data, or continue as the authors did with "
            f"training.not_finite: groundhog"
        )

    def check_may_write(self) -> None:
        """Stop before anything is written, if another process has taken the folder or a NaN is in the state."""
        if self.lost():
            raise UserError(f"{self.state}: another process has taken over this folder; stopped")
        self._refuse_not_finite()

    def _tick(self, of_updates: bool = False) -> None:
        """Add the time since the last call to that of the run; `of_updates`: it was spent on updates."""
        now = time.monotonic()
        self.counters.seconds += now - self._clock
        if of_updates:
            self.counters.window_seconds += now - self._clock
        self._clock = now

    # Bookkeeping -----------------------------------------------------------------------------------------------

    def _bookkeep(self) -> None:
        """Write what is due after an update: a line of the history, a validation, a checkpoint."""
        settings, update = self.settings, self.counters.update
        last = update == self.last_update
        log_due, validation_due, checkpoint_due = (
            update % every == 0
            for every in (settings.log_every, settings.validate_every, settings.checkpoint_every)
        )
        if log_due or validation_due or checkpoint_due or last:
            self.check_may_write()
            self.updater.read()  # waits for the updates of a GPU, so that their time is complete
        self._tick(of_updates=True)

        if log_due or last:
            self._log()
            give_back_freed_memory()
        better = (validation_due or last) and self._validate(validation_due)
        if self._finished() and self.counters.window_updates:  # no patience is left
            self._log()

        # so that the last checkpoint always finds the best weights that it names
        if better or checkpoint_due:
            self.save()
        self._tick()

    def _record(self, line: dict[str, Any]) -> None:
        self.history.add(line)
        if self.board is not None:
            self.board.add(line)

    def _log(self) -> None:
        window, sums = self.counters, self.updater.read()
        seconds = max(window.window_seconds, 1e-9)
        finite = window.window_updates - sums.not_finite
        falls = self.settings.decay_from_epoch is not None
        rate = {"learning_rate": self.updater.learning_rate} if falls else {}
        self._record(
            {
                "update": window.update,
                "epoch": self.epochs(),
                "train_nll": sums.nll / (window.window_sentences * finite / window.window_updates)
                if finite
                else None,
                "gradient_norm": sums.norm / finite if finite else None,
                "clipped": sums.clipped / window.window_updates,
                "not_finite": sums.not_finite,
                **rate,
                "source_words_per_second": window.window_source_words / seconds,
                "target_words_per_second": window.window_target_words / seconds,
                "seconds": window.seconds,
            }
        )
        self.updater.sums.zero_()
        for name, value in asdict(Counters()).items():
            if name.startswith("window_"):
                setattr(window, name, value)

    def _validate(self, scheduled: bool = True) -> bool:
        """Score the development set, and return whether the score is the best so far.

        Only scheduled validations count for the patience.
        """
        measured = {"dev_nll": self.dev_nll()}
        if self.settings.dev_score == "bleu":
            measured["dev_bleu"] = compute_greedy_bleu(
                self.model, self.dev, self.dev_rows, self.settings.batch_size, self.target_vocabulary
            )
        self.check_may_write()  # a process that was suspended in between may have lost the folder
        score = measured.get("dev_bleu", -measured["dev_nll"])
        counters = self.counters
        # while BLEU is still 0, the later weights are taken for the better ones
        best = counters.best_score
        better = best is None or score > best or score == best == 0
        if better:
            counters.best_score, counters.best_update = score, counters.update
            counters.validations_without_gain = 0
            # kept without `patience` too: it may be set later, and the run then resumed
            save_tensors(self._best(), self.model.state_dict())
        elif scheduled:
            counters.validations_without_gain += 1
            if counters.validations_without_gain > counters.most_validations_without_gain:
                counters.most_validations_without_gain = counters.validations_without_gain
                counters.most_reached_at = counters.update
        self._record(
            {"update": counters.update, "epoch": self.epochs(), **measured, "seconds": counters.seconds}
        )
        bleu = f", BLEU {score:.2f}" if "dev_bleu" in measured else ""
        nll = f"{measured['dev_nll']:.3f} nats per sentence"
        click.echo(f"update {counters.update:,}: development NLL {nll}{bleu}", err=True)
        return better

    def _best(self) -> Path:
        """Return the file of the best weights so far. Others are kept until no checkpoint needs them."""
        return self.state / f"best-{self.counters.best_update:09d}.safetensors"

    def dev_nll(self) -> float:
        """Return the NLL of the development set: all pairs, or those within the length limit (`dev_sentences`)."""
        return compute_mean_nll(self.model, self.dev, self.dev_rows, self.settings.batch_size)

    def train_nll(self) -> float:
        """Return the NLL of a fixed random sample of the training pairs within the length limit."""
        run = self.run_settings
        generator = torch.Generator().manual_seed(run.seed if run.sample_seed is None else run.sample_seed)
        ranks = torch.randperm(len(self.pairs), generator=generator)[: self.settings.train_sample]
        rows = self.pairs.rows[ranks.sort().values.numpy()]
        return compute_mean_nll(self.model, self.train, rows, self.settings.batch_size)

    def epochs(self) -> float:
        """Return the number of epochs, which are passes over the pairs within the length limit."""
        return self.counters.update * self.settings.batch_size / len(self.pairs)

    def state_tensors(self) -> dict[str, Tensor]:
        """Return weights, optimizer and sums by name."""
        weights = {f"model/{name}": weight for name, weight in self.model.state_dict().items()}
        state = optimizer_tensors(self.model, self.updater.optimizer)
        return weights | state | {"sums": self.updater.sums}

    def record(self) -> dict[str, Any]:
        """Return the counters, and what decides the training, for checkpoints and final states."""
        self.counters.history_bytes = self.history.size
        counters = asdict(self.counters)
        return {
            "counters": counters,
            "facts": self.facts,
            "matmul_library": self.model.backend.matmul_library,
        }

    def save(self) -> None:
        """Write a checkpoint, then delete the best weights that no checkpoint names any more."""
        self.check_may_write()
        self._tick()
        checkpoint.save_checkpoint(
            self.state, self.counters.update, Checkpoint(self.state_tensors(), self.record())
        )
        for former in {*sorted(self.state.glob("best-*.safetensors"))[: -checkpoint.KEPT_CHECKPOINTS]} - {
            self._best()
        }:
            former.unlink()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT request a clean stop after the current update."""
        wanted = (signal.SIGTERM, signal.SIGINT)
        before = [signal.signal(number, lambda *_: self.stop_wanted.set()) for number in wanted]
        try:
            yield
        finally:
            for number, handler in zip(wanted, before, strict=True):
                signal.signal(number, handler)

    # The end ---------------------------------------------------------------------------------------------------

    def load_chosen_weights(self) -> None:
        """Load the weights that the model keeps: the best by development score, or the last (`keep`)."""
        if self.settings.keep == "best":
            self.model.load_state_dict(load_tensors(self._best()))
