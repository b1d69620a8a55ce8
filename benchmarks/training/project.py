"""The project's own update as in `nmt train`, with the settings of `config.yaml`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from benchmarks.findings import ROOT
from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.backend.device import keep_freed_memory, make_deterministic
from nmt.backend.products import Backend, choose_products
from nmt.data.batches import Batch, pad_pairs
from nmt.model import families
from nmt.settings.families import FAMILIES, AnyArchitecture, FamilyName
from nmt.settings.training import Training
from nmt.training.update import Updater

DEFAULTS = ROOT / "workflow" / "defaults.yaml"
SUTSKEVERS = {"optimizer": "sgd", "learning_rate": 0.7, "decay_from_epoch": 1, "cost": "mean", "clip_norm": 5}
"""Settings for training a deep LSTM. Its learning rate falls early, so that checks include this."""


def settings(
    family: FamilyName, units: int, sizes: Sizes, machine: Machine
) -> tuple[AnyArchitecture, Training]:
    """Return the paper's settings of a family with the contest's sizes. `units` multiplies hidden and maxout units."""
    paper: dict[str, Any] = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    shared = paper["architecture"] | {
        "hidden_units": units * sizes.hidden,
        "embedding_size": sizes.embedding,
        "maxout_units": units * sizes.maxout,
        "alignment_units": units * sizes.hidden,
    }
    kind = FAMILIES[family].architecture
    architecture = kind.model_validate({key: shared[key] for key in kind.model_fields if key in shared})
    training = paper["training"] | (SUTSKEVERS if family == "lstm" else {})
    training |= {
        "batch_size": sizes.batch,
        "device": machine.device,
        "threads": machine.threads,
        "precision": machine.precision,
    }
    return architecture, Training.model_validate(training)


class Project:
    """Trains a model of one of the project's families."""

    family: FamilyName
    units = 1
    """The factor for the contest's hidden and maxout units."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        architecture, self.training = settings(self.family, self.units, sizes, machine)
        make_deterministic(machine.threads)
        keep_freed_memory()
        self.device = torch.device(machine.device)
        vocabularies = (sizes.vocabulary, sizes.vocabulary)
        self.model = families.create(self.family, architecture, vocabularies, seed=1).to(self.device)
        self.model.use(Backend(self.training.precision, choose_products(self.device, self.training.products)))
        self.updater = Updater(self.model, self.training)
        self.parameters = sum(weight.numel() for weight in self.model.parameters())

    def batch(self, source: Words, target: Words) -> Batch:
        """Return a batch with end symbols in the CPU's memory. For a GPU it is prepared as in training."""
        batch = pad_pairs(list(source.astype(np.uint16)), list(target.astype(np.uint16)), source_end=True)
        return batch if self.device.type == "cpu" else self.updater.prepare(batch)

    def update(self, batch: Batch) -> Tensor:
        """Make the trainer's update. Return the NLL of the batch in nats, without waiting for a GPU."""
        self.updater.sums.zero_()
        self.updater(batch)
        return self.updater.sums[0].clone()


class RNNsearch(Project):
    """Trains the paper's model."""

    family: FamilyName = "rnnsearch"


class RNNencdec(Project):
    """Trains the paper's baseline."""

    family: FamilyName = "rnnencdec"


class GrConv(Project):
    """Trains the model of Cho et al. (2014b). Its encoder and decoder have twice the units of their RNNencdec."""

    family: FamilyName = "grconv"
    units = 2


class DeepLSTM(Project):
    """Trains the model of Sutskever et al. (2014)."""

    family: FamilyName = "lstm"
