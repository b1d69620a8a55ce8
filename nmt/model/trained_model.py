"""A trained model as a folder: weights, vocabularies, settings and summary; nothing else is needed to use it."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from nmt.config.schema import ModelRun, TextSettings
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.environment import origin
from nmt.io.files import atomic_path, read_json, write_json
from nmt.model.encoder_decoder import Translator
from nmt.publish import model_card
from nmt.training import checkpoint
from nmt.training.trainer import Trainer, save_final_state

WEIGHTS, FINAL_STATE, SETTINGS = "model.safetensors", "final_state.safetensors", "settings.json"
SUMMARY, HISTORY = "summary.json", "history.jsonl"
TEXT = "text.json"
SOURCE_VOCABULARY, TARGET_VOCABULARY = "source.tsv", "target.tsv"
SIDES = ("source", "target")


@dataclass(frozen=True)
class TrainedModel:
    """A model ready to translate."""

    run: ModelRun
    translator: Translator
    source: Vocabulary
    target: Vocabulary


def export(
    folder: Path, trainer: Trainer, vocabularies: tuple[Path, Path], stopped_by: str
) -> dict[str, Any]:
    """Write a finished run's folder, the summary last; returns the summary."""
    save_final_state(folder / FINAL_STATE, trainer)
    trainer.load_chosen_weights()
    made_with = {side: trainer.fingerprint[f"data.{side}_vocabulary"] for side in SIDES}
    # one entry: the library writes several in any order
    metadata = {"vocabularies": json.dumps(made_with, sort_keys=True)}
    checkpoint.save_tensors(folder / WEIGHTS, trainer.model.state_dict(), metadata)
    for vocabulary, name in zip(vocabularies, (SOURCE_VOCABULARY, TARGET_VOCABULARY), strict=True):
        copy(vocabulary, folder / name)
    copy(trainer.history.path, folder / HISTORY)
    write_json(folder / SETTINGS, trainer.run_settings.model_dump())
    summary = summarize(trainer, stopped_by)
    write_json(folder / SUMMARY, summary)
    model_card.write(folder)
    return summary


def refuse_other_vocabularies(folder: Path, vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """The vocabularies beside the weights must be those that they were trained with."""
    made_with = json.loads(checkpoint.load_metadata(folder / WEIGHTS).get("vocabularies", "{}"))
    for side, vocabulary in zip(SIDES, vocabularies, strict=True):
        expected = made_with.get(side, vocabulary.sha256)
        if expected != vocabulary.sha256:
            raise UserError(
                f"{folder / WEIGHTS}: trained with another {side} vocabulary (sha256 {expected[:12]}...) than "
                f"{side}.tsv beside it ({vocabulary.sha256[:12]}...); put the right one there"
            )


def copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def summarize(trainer: Trainer, stopped_by: str) -> dict[str, Any]:
    """Everything Table 2 needs. NLLs are nats a sentence, of the weights that the model keeps."""
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
        "stopped_by": stopped_by,
        "best_update": counters.best_update if trainer.settings.keep == "best" else None,
        "train_nll": trainer.train_nll(),
        "dev_nll": trainer.dev_nll(),
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


def device_name(device: torch.device) -> str:
    """The GPU's name, or the processor's kind with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU ({platform.machine()}, {threads} thread{'s' if threads > 1 else ''})"


def package(folder: Path, text: TextSettings) -> None:
    """Complete a finished model's folder with what raw text needs.

    It is no part of training: none of this changes a weight, and models that were trained before get it too.
    """
    refuse_other_than_model(folder)
    write_json(folder / TEXT, text.model_dump())


def text_settings(folder: Path) -> TextSettings:
    """What `package` wrote; a UserError says how to write it where it is missing or of another version."""
    path = folder / TEXT
    again = "write it with `nmt package`, or let Snakemake make that file (docs/translating.md)"
    if not path.exists():
        raise UserError(
            f"{path}: no such file: without it nobody knows how the model's text was tokenized; {again}"
        )
    try:
        return TextSettings.model_validate(read_json(path))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        raise UserError(f"{path}: {key}: {problem['msg']}; {again}") from None


def refuse_other_than_model(folder: Path) -> None:
    """A UserError unless `folder` looks like one that training has finished."""
    if not folder.is_dir():
        raise UserError(
            f"{folder}: no such folder; expected a model's, as `nmt train` writes it (models/...)"
        )
    missing = [
        n for n in (SETTINGS, WEIGHTS, SOURCE_VOCABULARY, TARGET_VOCABULARY) if not (folder / n).exists()
    ]
    if missing:
        raise UserError(
            f"{folder}: no {missing[0]} in it; expected a model's folder, as `nmt train` writes it"
        )


def load(folder: Path, device: torch.device) -> TrainedModel:
    """Read a model's folder; a UserError names what is missing or does not fit together."""
    refuse_other_than_model(folder)
    settings = read_json(folder / SETTINGS)
    try:
        run = ModelRun.model_validate(settings)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        raise UserError(
            f"{folder / SETTINGS}: not settings of a model of this version: {key}: {problem['msg']}; train it again"
        ) from None
    source, target = (Vocabulary.read(folder / name) for name in (SOURCE_VOCABULARY, TARGET_VOCABULARY))
    translator = Translator(run.family, run.architecture, len(source), len(target))
    weights = checkpoint.load_tensors(folder / WEIGHTS)
    refuse_other_vocabularies(folder, (source, target))
    try:
        translator.load_state_dict(weights)
    except RuntimeError:
        raise UserError(
            f"{folder / WEIGHTS}: its weights do not fit {SETTINGS} and the vocabularies beside it"
        ) from None
    refuse_other_than_numbers(folder / WEIGHTS, weights)
    return TrainedModel(run, translator.to(device).eval(), source, target)


def refuse_other_than_numbers(path: Path, weights: Mapping[str, torch.Tensor]) -> None:
    """A UserError unless all weights are finite: a search among NaN finds nothing."""
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise UserError(
                f"{path}: {name} holds NaN or infinity, expected finite weights; the training went astray: "
                f"train the model again"
            )
