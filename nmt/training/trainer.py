"""The training loop (paper, Sec. 4.2 and App. B.2): updates, validation, checkpoints, and when to stop."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from nmt.backend.compiled import prepare_compiled_steps
from nmt.backend.device import (
    choose_device,
    give_back_freed_memory,
    keep_freed_memory,
    make_deterministic,
)
from nmt.backend.matmul import Backend, check_precision, choose_matmul_library
from nmt.data.batches import Batch, PairsWithinLimit, training_batches
from nmt.data.bitext import Bitext
from nmt.data.meta import data_checksums
from nmt.data.vocabulary import Vocabulary
from nmt.errors import PermanentError, UserError
from nmt.io.messages import print_warning
from nmt.io.progress import Progress
from nmt.model import model_types
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.base import FlatSettings, describe_differences
from nmt.settings.training import ModelRun
from nmt.store.model_folder import FINAL_STATE, WEIGHTS, initial_weights_checksum
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from nmt.store.trained_model import check_vocabularies
from nmt.store.training_store import collect_training_inputs, compute_key, compute_model_key
from nmt.training.checkpoint import (
    Checkpoint,
    best_weights_path,
    delete_old_best_weights,
    load_newest_checkpoint,
    read_checkpoint,
    save_checkpoint,
)
from nmt.training.counters import Counters, LogWindow
from nmt.training.history import History, HistoryLine, count_planned_updates
from nmt.training.optimizers import collect_optimizer_tensors, restore_optimizer
from nmt.training.prefetching import prefetch_batches
from nmt.training.training_files import TrainingFiles
from nmt.training.update import Updater
from nmt.training.validation import compute_greedy_bleu, compute_mean_nll

WEIGHT_PREFIX = "model/"
"""Checkpoints store the weights under their names with this prefix, beside the optimizer's tensors."""
STATISTICS = "sums"
"""The name of the update statistics in a checkpoint."""


def load_initial_weights(
    model: EncoderDecoder, folder: Path, vocabularies: tuple[Vocabulary, Vocabulary]
) -> None:
    """Load the weights of the finished model in `folder` into a new model.

    Raises UserError if the shapes of that model's weights differ, or its vocabularies differ from `vocabularies`.
    """
    check_vocabularies(folder, vocabularies)
    try:
        model.load_state_dict(load_tensors(folder / WEIGHTS))
    except RuntimeError:
        raise UserError(
            f"{folder}: its weights do not fit: its model type or sizes differ from the new model's"
        ) from None


@contextmanager
def catch_stop_signals(is_stopping: threading.Event) -> Iterator[None]:
    """Let SIGTERM and SIGINT set the event, so that the loop can stop after the current update."""
    previous_handlers = {
        number: signal.signal(number, lambda *_: is_stopping.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


class PastTheEnd(UserError):
    """Raised when a state folder holds a training that has gone on beyond the end that the settings ask for."""


class Interrupted(Exception):
    """Raised when the run was told to stop before its end. Its state is saved."""


class Trainer:
    """One training run in one state folder, fresh or resumed from its last checkpoint."""

    def __init__(self, run: ModelRun, files: TrainingFiles, state_folder: Path) -> None:
        """Set up a training of `run`.

        Args:
            files: the text, the vocabularies, and the model that the training continues or begins with.
            state_folder: the folder for checkpoints, best weights and the history.

        Raises:
            UserError: the files do not fit each other or the settings, or the device lacks the precision.
        """
        training = run.training
        self.run_settings, self.settings = run, training
        self.files, self.state_folder = files, state_folder

        # 1. the text, which must be as it was binarized, with these vocabularies
        self.vocabularies = Vocabulary.read(files.source_vocabulary), Vocabulary.read(files.target_vocabulary)
        self.train_bitext, self.dev_bitext = Bitext(files.train), Bitext(files.dev)
        self.train_bitext.check(*self.vocabularies)
        self.dev_bitext.check(*self.vocabularies)
        self.data = data_checksums(self.train_bitext.meta, self.dev_bitext.meta)
        self.data |= initial_weights_checksum(files.init_from)
        order_seed = run.seed if training.order == "seed" else None
        self.pairs = PairsWithinLimit(self.train_bitext, run.max_words, order_seed)
        if training.dev_sentences == "all":
            self.dev_rows = np.arange(len(self.dev_bitext))
        else:
            self.dev_rows = PairsWithinLimit(self.dev_bitext, run.max_words).rows

        # 2. the process: threads, memory, device
        make_deterministic(training.threads)
        keep_freed_memory()
        self.device = choose_device(training.device)
        check_precision(training.precision, self.device)

        # 3. the model and its optimizer
        source_vocabulary, target_vocabulary = self.vocabularies
        vocabulary_sizes = len(source_vocabulary), len(target_vocabulary)
        model = model_types.create_model(run.model_type, run.architecture, vocabulary_sizes, run.seed)
        self.model = model.to(self.device)
        if files.init_from is not None:
            load_initial_weights(self.model, files.init_from, self.vocabularies)
        is_portable = training.arithmetic == "portable"
        matmul_library = choose_matmul_library(
            self.device, "torch" if is_portable else training.matmul_library
        )
        fuse = prepare_compiled_steps(training.kernels, self.device)
        self.model.use_backend(Backend(training.precision, matmul_library, fuse))
        self.updater = Updater(self.model, training)

        # 4. the end of the run, its key in the store, and its records
        self.max_updates = count_planned_updates(training, len(self.pairs) / training.batch_size)
        self.training_inputs = collect_training_inputs(run, self.data, files.base_key)
        self.training_key = compute_key(self.training_inputs)
        self.key = compute_model_key(self.training_inputs, run)
        self.counters = Counters()
        self.history = History(state_folder / "history.jsonl")
        self.is_stopping = threading.Event()
        self.is_lock_lost: Callable[[], bool] = lambda: False
        self._last_clock = time.monotonic()

    # --- beginning or resuming ----------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Resume from the newest intact checkpoint. If there is none, start from the weights of a new model.

        If the training continues another model, it starts from the final state of that model instead.
        Raises PastTheEnd if the checkpoint is beyond the end that the settings ask for.
        """
        self.state_folder.mkdir(parents=True, exist_ok=True)
        # A killed process may have left partial files. Nobody writes them now, since this process holds the folder.
        for partial_file in self.state_folder.glob(".*.part.safetensors"):
            partial_file.unlink()

        checkpoint = load_newest_checkpoint(self.state_folder)
        if checkpoint is not None:
            self._check_same_training(checkpoint)
            self._restore(checkpoint)
            self._check_not_past_end()
            click.echo(f"nmt: {self.state_folder}: resuming after update {self.counters.update}", err=True)

        # Drop the lines of the history after the checkpoint, since their updates are made again.
        if not self.history.rewind(self.counters.history_bytes):
            print_warning(
                f"{self.history.path}: older than the checkpoint after update {self.counters.update}, so "
                f"lines are missing; to have them, stop, copy that checkpoint's history, and run again"
            )
        if self.settings.tensorboard:
            self.history.open_tensorboard(self.counters.update)
        if checkpoint is None:
            if self.files.continue_from:
                self._continue_from(self.files.continue_from / FINAL_STATE)
            if self.files.continue_from or self.files.init_from:
                # Score the weights of the other model, since they may remain the best.
                self._validate_and_keep()

    def _continue_from(self, final_state: Path) -> None:
        """Begin where a different run has ended. Raises a UserError if its settings or its text were different."""
        checkpoint = read_checkpoint(final_state)

        # Both runs must have the same inputs, except for the models with whose weights they begin.
        base_inputs: FlatSettings = checkpoint.record["facts"]
        model_keys = frozenset({"base", "data.initial_weights"})
        changes = describe_differences(base_inputs, self.training_inputs, ignore=model_keys)
        if changes:
            raise PermanentError(
                f"{final_state}: {changes}; a training continues with the settings and text of its base"
            )
        self._restore(checkpoint)

        # Early stopping begins anew.
        self.counters.best_score = None
        self.counters.most_validations_without_gain = 0
        self.counters.most_reached_at = 0

    def _check_same_training(self, checkpoint: Checkpoint) -> None:
        """Raise a PermanentError if a checkpoint in the state folder is of a different training.

        The "facts" of its record are the settings and the text of that training.
        """
        changes = describe_differences(checkpoint.record["facts"], self.training_inputs)
        if changes:
            raise PermanentError(
                f"{self.state_folder}: its checkpoints are of a different training ({changes}); delete or rename that "
                f"folder to start again"
            )

    def _check_not_past_end(self) -> None:
        """Raise PastTheEnd if the restored training is longer than the settings ask for."""
        counters, patience = self.counters, self.settings.patience
        is_past_end = counters.update > self.max_updates
        if patience is not None and counters.most_validations_without_gain >= patience:
            # A run that has used up its patience at its last update is at its end, not past it.
            is_at_end = (
                counters.most_validations_without_gain == patience
                and counters.most_reached_at == counters.update
            )
            is_past_end = is_past_end or not is_at_end
        if is_past_end:
            raise PastTheEnd(
                f"{self.state_folder}: the training in it is already beyond the end that the settings ask for"
            )

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Take weights, optimizer and counters from a checkpoint."""
        # A run that began with PyTorch's matrix products keeps them, even where oneDNN would be chosen now.
        if checkpoint.record["matmul_library"] == "torch":
            self.model.use_backend(replace(self.model.backend, matmul_library="torch"))

        weights = {}
        for name, tensor in checkpoint.tensors.items():
            if name.startswith(WEIGHT_PREFIX):
                weights[name.removeprefix(WEIGHT_PREFIX)] = tensor
        self.model.load_state_dict(weights)
        restore_optimizer(self.model, self.updater.optimizer, checkpoint.tensors)
        self.updater.statistics.copy_(checkpoint.tensors[STATISTICS])
        self.counters = Counters.from_record(checkpoint.record["counters"])

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self, deadline: float = math.inf) -> str:
        """Train until the end, and return its reason: `updates`, `epochs`, `development NLL` or `development BLEU`.

        Raises:
            Interrupted: SIGTERM or SIGINT was received, or `deadline`, a time of the monotonic clock, has passed. The
                state is saved.
            UserError: the state folder is lost, or the gradient is not finite.
        """
        label = f"train {self.run_settings.model}"
        progress = Progress(self.max_updates, "updates", label, initial_count=self.counters.update)

        with (
            progress,
            catch_stop_signals(self.is_stopping),
            closing(self._make_batches()) as batches,
        ):
            if self._find_stop_reason() is None:
                # allocate GPU memory now, so that a lack of it is an error before the training and not after a day
                self.updater.preallocate(self.pairs.max_length)
            self._last_clock = time.monotonic()
            while (stop_reason := self._find_stop_reason()) is None:
                self._update(next(batches))
                self._log_validate_and_save()
                progress.update()
                if self.is_stopping.is_set() or time.monotonic() >= deadline:
                    self.save()
                    raise Interrupted(
                        f"stopped after update {self.counters.update} of {self.max_updates}; run again"
                    )
            self.save()
            self._record_end()
        return stop_reason

    def _record_end(self) -> None:
        """Complete the history at the end of the run, and score the last weights, since they may be the best.

        These lines are only for the finished model, so the last checkpoint is written before them. If the settings
        later ask for more updates, the run resumes from it, and equals a run that had this number from the start.
        """
        if self.counters.log_window.updates:
            self._log_updates()
        if self.counters.update % self.settings.validate_every != 0 or self.counters.best_score is None:
            self._validate()
        self._add_elapsed_time()

    def _find_stop_reason(self) -> str | None:
        """Return why the run is at its end, or None if it is not."""
        patience = self.settings.patience
        if patience is not None and self.counters.validations_without_gain >= patience:
            return f"development {self.settings.dev_score.upper()}"
        if self.counters.update < self.max_updates:
            return None
        return "updates" if self.max_updates == self.settings.updates else "epochs"

    def _make_batches(self) -> Generator[Batch]:
        """Yield minibatches from the next update on. If updates are CUDA graphs, batches are prepared in advance."""
        batches = training_batches(
            self.pairs,
            batch_size=self.settings.batch_size,
            batches_per_sort=self.settings.batches_per_sort,
            source_eos=self.run_settings.architecture.source_eos,
            start_update=self.counters.update,
            length_bucket=self.updater.length_bucket,
        )
        return prefetch_batches(batches) if self.updater.cuda_graphs else batches

    def _update(self, batch: Batch) -> None:
        """Make one update, and add its values to the next line of the history."""
        self.updater(batch, self.count_epochs())
        self.counters.update += 1
        self.counters.log_window.add_batch(batch, self.run_settings.architecture.source_eos)
        if self.device.type == "cpu":
            self._check_finite()  # on a GPU, this would wait for the update, so it happens less often

    def _check_finite(self) -> None:
        """Raise an error if gradients were not finite, unless the settings say to continue."""
        if self.settings.not_finite != "stop":
            return
        nonfinite_updates = self.updater.read_statistics().nonfinite_updates
        if nonfinite_updates == 0:
            return

        update = self.counters.update
        self.history.add(
            {"update": update, "not_finite": nonfinite_updates, "seconds": self.counters.seconds}
        )
        raise PermanentError(
            f"{self.state_folder}: up to update {update}, {nonfinite_updates} gradients were not finite; the last "
            f"checkpoint is from before them. Lower training.learning_rate, check the data, or train from the start as "
            f"the authors did, with training.not_finite: groundhog"
        )

    def check_before_writing(self) -> None:
        """Raise an error if another process has taken the folder, or if gradients were not finite."""
        if self.is_lock_lost():
            raise UserError(f"{self.state_folder}: another process has taken over this folder; stopped")
        self._check_finite()

    def _add_elapsed_time(self, is_update_time: bool = False) -> None:
        """Add the time since the last call to the time of the run and, if asked for, to the time of its updates."""
        now = time.monotonic()
        elapsed_seconds = now - self._last_clock
        self._last_clock = now
        self.counters.seconds += elapsed_seconds
        if is_update_time:
            self.counters.log_window.seconds += elapsed_seconds

    # --- records: history, validation, checkpoints --------------------------------------------------------------------

    def _log_validate_and_save(self) -> None:
        """After an update, write a line of the history, validate, and write a checkpoint, if each of these is due."""
        settings, update = self.settings, self.counters.update
        log_due = update % settings.log_every == 0
        validation_due = update % settings.validate_every == 0
        checkpoint_due = update % settings.checkpoint_every == 0

        if log_due or validation_due or checkpoint_due:
            self.check_before_writing()
            self.updater.read_statistics()  # waits for the GPU, so that the time below is of all updates
        self._add_elapsed_time(is_update_time=True)

        if log_due:
            self._log_updates()
            give_back_freed_memory()

        # A checkpoint says which weights are the best, so it is written again with each new best.
        is_best = validation_due and self._validate_and_keep()
        if is_best or checkpoint_due:
            self.save()
        self._add_elapsed_time()

    def _log_updates(self) -> None:
        """Write a line about the updates since the previous line, and set their statistics to 0."""
        window = self.counters.log_window
        line: HistoryLine = {"update": self.counters.update, "epoch": self.count_epochs()}
        line |= window.compute_means(self.updater.read_statistics())
        if self.settings.decay_from_epoch is not None:
            line["learning_rate"] = self.updater.optimizer.learning_rate
        self.history.add(line | window.compute_speed() | {"seconds": self.counters.seconds})

        self.updater.statistics.zero_()
        self.counters.log_window = LogWindow()

    def _validate(self) -> bool:
        """Score the development set, and return whether the weights are the best so far."""
        # 1. score
        counters = self.counters
        dev_nll = self.compute_dev_nll()
        measures, score = {"dev_nll": dev_nll}, -dev_nll
        message = f"update {counters.update:,}: development NLL {dev_nll:.3f} nats per sentence"
        if self.settings.dev_score == "bleu":
            score = compute_greedy_bleu(
                self.model, self.dev_bitext, self.dev_rows, self.settings.batch_size, self.vocabularies[1]
            )
            measures["dev_bleu"] = score
            message += f", BLEU {score:.2f}"

        # 2. report
        # if this process was suspended while it scored, another one may have taken the folder
        self.check_before_writing()
        line: HistoryLine = {"update": counters.update, "epoch": self.count_epochs()}
        self.history.add(line | measures | {"seconds": counters.seconds})
        click.echo(message, err=True)
        return counters.count_validation(score)

    def _validate_and_keep(self) -> bool:
        """Score the development set, store the weights if they are the best so far, and return whether they are.

        The best weights are stored also without `patience`, since a resumed run may have it.
        """
        is_best = self._validate()
        if is_best:
            path = best_weights_path(self.state_folder, self.counters.update)
            save_tensors(path, self.model.state_dict(), {"training": self.training_key})
        return is_best

    def compute_dev_nll(self) -> float:
        """Return the NLL of the development set: all pairs, or those within the length limit (`dev_sentences`)."""
        return compute_mean_nll(self.model, self.dev_bitext, self.dev_rows, self.settings.batch_size)

    def compute_random_nll(self) -> float:
        """Return the development NLL of a model that finds all words of the target vocabulary equally likely."""
        lengths = [len(self.dev_bitext.target(int(row))) + 1 for row in self.dev_rows]  # with the end symbol
        return float(np.mean(lengths)) * math.log(len(self.vocabularies[1]))

    def compute_train_nll(self) -> float:
        """Return the NLL of a fixed random sample of the training pairs within the length limit."""
        run = self.run_settings
        seed = run.seed if run.sample_seed is None else run.sample_seed
        generator = torch.Generator().manual_seed(seed)
        shuffled_indices = torch.randperm(len(self.pairs), generator=generator)
        sample_indices = shuffled_indices[: self.settings.train_sample].sort().values
        sample_rows = self.pairs.rows[sample_indices.numpy()]
        return compute_mean_nll(self.model, self.train_bitext, sample_rows, self.settings.batch_size)

    def count_epochs(self) -> float:
        """Return the number of epochs, which are passes over the pairs within the length limit."""
        return self.counters.update * self.settings.batch_size / len(self.pairs)

    def make_checkpoint(self) -> Checkpoint:
        """Return the state of the run: tensors, counters, and the settings and checksums that decide the weights."""
        self.counters.history_bytes = self.history.size
        record: dict[str, Any] = {
            "counters": asdict(self.counters),
            "facts": self.training_inputs,
            "matmul_library": self.model.backend.matmul_library,
        }
        tensors = collect_optimizer_tensors(self.model, self.updater.optimizer)
        tensors[STATISTICS] = self.updater.statistics
        for name, weight in self.model.state_dict().items():
            tensors[WEIGHT_PREFIX + name] = weight
        return Checkpoint(tensors, record)

    def save(self) -> None:
        """Write a checkpoint, then delete the best weights that no checkpoint names any more."""
        self.check_before_writing()
        self._add_elapsed_time()
        save_checkpoint(self.state_folder, self.counters.update, self.make_checkpoint())
        delete_old_best_weights(self.state_folder, self.counters.best_update)

    def load_chosen_weights(self) -> None:
        """Load the weights that the model keeps: the best by development score, or the last (`keep`)."""
        counters = self.counters
        if self.settings.keep == "last" or counters.best_update == counters.update:
            return
        path = best_weights_path(self.state_folder, counters.best_update)
        if load_metadata(path).get("training") != self.training_key:
            raise PermanentError(
                f"{path}: the best weights of a different training; delete or rename its folder to start again"
            )
        self.model.load_state_dict(load_tensors(path))
