"""Writes the model folder of a finished training: final state, weights, vocabularies, history, settings, summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from nmt.backend.device import device_name
from nmt.errors import PermanentError
from nmt.io.files import copy_file, sha256, write_json
from nmt.io.system import describe_environment
from nmt.store.model_folder import (
    FINAL_STATE,
    HISTORY,
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    WEIGHTS,
)
from nmt.store.tensors import save_tensors
from nmt.store.trained_model import SIDES
from nmt.training.checkpoint import list_checkpoints
from nmt.training.trainer import Trainer

MAX_TIMES_RANDOM = 3
"""A training has diverged if its development NLL is more than this many times the NLL of random words.

At the start of a training, both are about equal. An overfitted model can have a greater NLL than random words, but not
three times theirs: a word of a vocabulary of 30,000 would have a probability of e^-31 on average.
"""


def export_model(folder: Path, trainer: Trainer, stop_reason: str) -> None:
    """Write the model folder of a finished run. `stop_reason` is the return value of `Trainer.run`.

    The summary is written last, so that a folder with a summary is complete.
    """
    # 1. the weights that the settings choose, and their scores
    trainer.load_chosen_weights()
    summary = summarize_training(trainer, stop_reason)
    check_has_learnt(trainer, summary["dev_nll"])

    # 2. the final state, from which a new training can continue
    trainer.check_before_writing()
    copy_file(list_checkpoints(trainer.state_folder)[-1], folder / FINAL_STATE)

    # 3. the weights, with the checksums of their vocabularies
    checksums = {side: trainer.data[f"{side}_vocabulary"] for side in SIDES}
    metadata = {"vocabularies": json.dumps(checksums, sort_keys=True)}
    save_tensors(folder / WEIGHTS, trainer.model.state_dict(), metadata)

    # 4. the vocabularies with which the training began (their files may have changed), the history and the settings
    source_vocabulary, target_vocabulary = trainer.vocabularies
    source_vocabulary.write(folder / SOURCE_VOCABULARY)
    target_vocabulary.write(folder / TARGET_VOCABULARY)
    copy_file(trainer.history.path, folder / HISTORY)
    write_json(folder / SETTINGS, trainer.run_settings.model_dump())

    # 5. the summary, unless this process was suspended while it wrote and another one has taken the folder
    trainer.check_before_writing()
    write_json(folder / SUMMARY, summary | {"weights": sha256(folder / WEIGHTS)})


def check_has_learnt(trainer: Trainer, dev_nll: float) -> None:
    """Raise a UserError if the weights are much worse than random words, since the training has diverged."""
    random_nll = trainer.compute_random_nll()
    if not dev_nll <= MAX_TIMES_RANDOM * random_nll:  # also if it is not a number
        raise PermanentError(
            f"{trainer.state_folder}: the training has diverged: its development NLL is {dev_nll:.4g}; random "
            f"words have {random_nll:.4g}. Lower training.learning_rate or training.clip_norm"
        )


def summarize_training(trainer: Trainer, stop_reason: str) -> dict[str, Any]:
    """Return the summary of a finished run, which has the values of Table 2.

    NLLs are in nats per sentence, for the weights that the model keeps.
    """
    counters = trainer.counters
    return {
        **trainer.run_settings.summary_fields(),
        "updates": counters.update,
        "epochs": trainer.count_epochs(),
        "hours": counters.seconds / 3600,
        "device": device_name(trainer.device),
        "matmul_library": trainer.model.backend.matmul_library,
        "stopped_by": stop_reason,
        "best_update": counters.best_update if trainer.settings.keep == "best" else None,
        "train_nll": trainer.compute_train_nll(),
        "dev_nll": trainer.compute_dev_nll(),
        "train_pairs": len(trainer.train_bitext),
        "parameters": sum(weight.numel() for weight in trainer.model.parameters()),
        "torch": torch.__version__,
        "data": trainer.data,
        "key": trainer.key,
        "made_with": describe_environment(),
    }
