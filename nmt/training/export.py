"""Writes the model folder of a finished training: final state, weights, vocabularies, history, settings, summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from nmt.backend.device import device_name
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
from nmt.training.checkpoint import write_checkpoint
from nmt.training.trainer import Trainer


def export_model(folder: Path, trainer: Trainer, vocabularies: tuple[Path, Path], stop_reason: str) -> None:
    """Write the model folder of a finished run.

    vocabularies: the files of the source and target vocabulary. stop_reason: the return value of `Trainer.run`.
    The summary is written last, so that a folder with a summary is complete.
    """
    # 1. the final state, from which another training can continue
    trainer.check_before_writing()
    write_checkpoint(folder / FINAL_STATE, trainer.make_checkpoint())

    # 2. the weights that the settings choose, with the checksums of their vocabularies
    trainer.load_chosen_weights()
    checksums = {side: trainer.data[f"{side}_vocabulary"] for side in SIDES}
    metadata = {"vocabularies": json.dumps(checksums, sort_keys=True)}
    save_tensors(folder / WEIGHTS, trainer.model.state_dict(), metadata)

    # 3. the vocabularies, the history and the settings
    source_vocabulary, target_vocabulary = vocabularies
    copy_file(source_vocabulary, folder / SOURCE_VOCABULARY)
    copy_file(target_vocabulary, folder / TARGET_VOCABULARY)
    copy_file(trainer.history.path, folder / HISTORY)
    write_json(folder / SETTINGS, trainer.run_settings.model_dump())

    # 4. the summary; a process that was suspended while it scored the samples may have lost the folder
    summary = summarize_training(trainer, stop_reason) | {"weights": sha256(folder / WEIGHTS)}
    trainer.check_before_writing()
    write_json(folder / SUMMARY, summary)


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
