"""A trained model, read from its folder: weights, vocabularies and settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from nmt.backend.device import choose_device, keep_freed_memory, make_deterministic
from nmt.backend.matmul import Backend, Precision, check_precision, choose_matmul_library
from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError, errors_as_user_error
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.model_types import build_model
from nmt.settings.base import read_settings
from nmt.settings.training import ModelRun
from nmt.store.model_folder import (
    SETTINGS,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    WEIGHTS,
    check_model_folder,
)
from nmt.store.tensors import load_metadata, load_tensors

Tokens = Sequence[str]
"""The tokens of a sentence."""
SIDES = ("source", "target")


@dataclass(frozen=True)
class TrainedModel:
    """A model that is ready to translate."""

    run: ModelRun
    network: EncoderDecoder
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary

    @property
    def device(self) -> torch.device:
        """The device that holds the weights."""
        return next(self.network.parameters()).device

    def make_batch(self, sources: Sequence[Tokens], targets: Sequence[Tokens] | None = None) -> Batch:
        """Return a padded batch of ids on the model's device. Without `targets`, every target is empty."""
        if targets is None:
            targets = [[]] * len(sources)
        source_ids = [np.array(self.source_vocabulary.ids(tokens), dtype=np.uint32) for tokens in sources]
        target_ids = [np.array(self.target_vocabulary.ids(tokens), dtype=np.uint32) for tokens in targets]
        return pad_pairs(source_ids, target_ids, self.run.architecture.source_eos).to(self.device)


def load_models(
    folders: Sequence[Path],
    device: str,
    threads: int,
    precision: Precision | None = None,
    matmul_library: Literal["auto", "torch"] = "torch",
    announce: bool = True,
) -> list[TrainedModel]:
    """Load the models that this process uses together, and let it compute with this number of CPU threads.

    For `device` and `announce`, see `nmt.backend.device.choose_device`; for `precision` and `matmul_library`, see
    `load_model`. Raises a UserError if the models do not fit together (`check_compatible`).
    """
    make_deterministic(threads)
    keep_freed_memory()
    torch_device = choose_device(device, announce)
    models = [load_model(folder, torch_device, precision, matmul_library) for folder in folders]
    check_compatible(models)
    return models


def check_compatible(models: Sequence[TrainedModel]) -> None:
    """Raise a UserError unless all models have the same vocabularies, and all or none read EOS after the source."""
    input_formats = {
        (model.source_vocabulary.sha256, model.target_vocabulary.sha256, model.run.architecture.source_eos)
        for model in models
    }
    if len(input_formats) > 1:
        raise UserError(
            f"{', '.join(model.run.label for model in models)} differ in vocabularies or architecture.source_eos; "
            f"an ensemble needs models that were trained on the same prepared text and read it alike"
        )


def load_model(
    folder: Path,
    device: torch.device,
    precision: Precision | None = None,
    matmul_library: Literal["auto", "torch"] = "torch",
) -> TrainedModel:
    """Read a model's folder. Raises a UserError if a file is missing, or does not fit the others.

    Args:
        device: where the model computes.
        precision: precision of the matrix products. None: fp32, or on a GPU tf32 if the model was trained in it.
        matmul_library: the library for products on a CPU; see `nmt.backend.matmul.choose_matmul_library`.
    """
    # 1. read the files
    if precision is not None:
        check_precision(precision, device)
    check_model_folder(folder)
    source_vocabulary = Vocabulary.read(folder / SOURCE_VOCABULARY)
    target_vocabulary = Vocabulary.read(folder / TARGET_VOCABULARY)
    check_vocabularies(folder, (source_vocabulary, target_vocabulary))
    run = read_settings(
        ModelRun, folder / SETTINGS, "expected a model of this version: fetch it again, or train it"
    )
    weights = load_tensors(folder / WEIGHTS)
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise UserError(f"{folder / WEIGHTS}: {name} is not finite; train or fetch it again")

    # 2. copy the weights to the device. Build the model without memory for its weights, since damaged settings may ask
    # for any size; then give it those of the file.
    network_weights = {name: weight.to(device, torch.float32, copy=True) for name, weight in weights.items()}
    try:
        with torch.device("meta"):
            vocabulary_sizes = len(source_vocabulary), len(target_vocabulary)
            network = build_model(run.model_type, run.architecture, vocabulary_sizes)
        network.load_state_dict(network_weights, assign=True)
    except RuntimeError:  # weights of other names or shapes, or sizes beyond torch's integers
        raise UserError(
            f"{folder / WEIGHTS}: its weights do not fit {SETTINGS} and the vocabularies beside it"
        ) from None
    network.eval()

    # 3. choose how it computes
    if precision is None:
        precision = "tf32" if device.type == "cuda" and run.training.precision == "tf32" else "fp32"
    network.use_backend(Backend(precision, choose_matmul_library(device, matmul_library)))
    return TrainedModel(run, network, source_vocabulary, target_vocabulary)


def check_vocabularies(folder: Path, vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """Raise a UserError if the weights in a model's folder were not trained with `vocabularies`."""
    path = folder / WEIGHTS
    with errors_as_user_error(path, KeyError, TypeError, remedy="make or fetch it again"):
        checksums = json.loads(load_metadata(path)["vocabularies"])
        for side, vocabulary in zip(SIDES, vocabularies, strict=True):
            if checksums[side] != vocabulary.sha256:
                raise UserError(
                    f"{path}: trained with a different {side} vocabulary; {side}.tsv beside it must be the vocabulary "
                    "of its training, and text must be binarized with it"
                )
