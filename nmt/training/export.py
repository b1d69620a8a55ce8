"""Exports a finished training run as a model's folder, which is sufficient to use the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch

from nmt.backend.device import device_name
from nmt.io.files import atomic_path, sha256, write_json
from nmt.io.system import origin
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
from nmt.training import checkpoint
from nmt.training.checkpoint import Checkpoint
from nmt.training.trainer import Trainer


def export(
    folder: Path, trainer: Trainer, vocabularies: tuple[Path, Path], stopped_by: str
) -> dict[str, Any]:
    """Write the model folder of a finished run, the summary last. Return the summary."""
    checkpoint.write(folder / FINAL_STATE, Checkpoint(trainer.state_tensors(), trainer.record()))
    trainer.load_chosen_weights()
    made_with = {side: trainer.fingerprint[f"data.{side}_vocabulary"] for side in SIDES}
    metadata = {"vocabularies": json.dumps(made_with, sort_keys=True)}
    save_tensors(folder / WEIGHTS, trainer.model.state_dict(), metadata)
    for vocabulary, name in zip(vocabularies, (SOURCE_VOCABULARY, TARGET_VOCABULARY), strict=True):
        copy(vocabulary, folder / name)
    copy(trainer.history.path, folder / HISTORY)
    write_json(folder / SETTINGS, trainer.run_settings.model_dump())
    summary = {**summarize(trainer, stopped_by), "weights": sha256(folder / WEIGHTS)}
    write_json(folder / SUMMARY, summary)
    return summary


def copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def summarize(trainer: Trainer, stopped_by: str) -> dict[str, Any]:
    """Return the values for Table 2. NLLs are in nats per sentence, for the weights that the model keeps."""
    run, counters = trainer.run_settings, trainer.counters
    return {
        "model": run.model,
        "label": run.label,
        "family": run.family,
        "seed": run.seed,
        "max_words": run.max_words,
        "continue_from": run.continue_from,
        "updates": counters.update,
        "epochs": trainer.epochs(),
        "hours": counters.seconds / 3600,
        "device": device_name(trainer.device),
        "products": trainer.model.backend.products,
        "stopped_by": stopped_by,
        "best_update": counters.best_update if trainer.settings.keep == "best" else None,
        "train_nll": trainer.train_nll(),
        "dev_nll": trainer.dev_nll(),
        "dev_sentences": run.training.dev_sentences,
        "train_pairs": len(trainer.train),
        "parameters": sum(weight.numel() for weight in trainer.model.parameters()),
        "optimizer": run.training.optimizer,
        "batch_size": run.training.batch_size,
        "hidden_units": run.architecture.hidden_units,
        "embedding_size": run.architecture.embedding_size,
        "torch": torch.__version__,
        "data": {
            key.removeprefix("data."): value
            for key, value in trainer.fingerprint.items()
            if key.startswith("data.")
        },
        "made_with": origin(),
    }
