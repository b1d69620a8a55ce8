"""The project's own update, as `nmt train` makes it, on the settings of `config.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.data.batches import Batch, pad_pairs
from nmt.model import cpu_products, families
from nmt.model.device import keep_freed_memory, make_deterministic
from nmt.model.precision import set_precision
from nmt.settings.families import FAMILIES, AnyArchitecture, FamilyName
from nmt.settings.training import Training
from nmt.training.update import Updater

CONFIG = Path(__file__).resolve().parents[2] / "config.yaml"


SUTSKEVERS = {"optimizer": "sgd", "learning_rate": 0.7, "decay_from_epoch": 1, "cost": "mean", "clip_norm": 5}
"""Training of a deep LSTM; the rate falls early, so that checks see it fall."""


def settings(
    family: FamilyName, units: int, sizes: Sizes, machine: Machine
) -> tuple[AnyArchitecture, Training]:
    """The family's paper's, with the contest's sizes; `units`: how many times those of the hidden layers."""
    paper: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
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
    """One of the project's families."""

    family: FamilyName
    units = 1
    """How many times the contest's hidden and maxout units."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        architecture, self.training = settings(self.family, self.units, sizes, machine)
        make_deterministic(machine.threads)
        keep_freed_memory()
        set_precision(self.training.precision)
        cpu_products.use(cpu_products.choose(self.training.products))
        self.device = torch.device(machine.device)
        vocabularies = (sizes.vocabulary, sizes.vocabulary)
        self.model = families.create(self.family, architecture, vocabularies, seed=1).to(self.device)
        self.updater = Updater(self.model, self.training)
        self.parameters = sum(weight.numel() for weight in self.model.parameters())

    def batch(self, source: Words, target: Words) -> Batch:
        """A batch in the CPU's memory, for a GPU as training makes it ahead; `pad_pairs` adds the end symbols."""
        batch = pad_pairs(list(source.astype(np.uint16)), list(target.astype(np.uint16)), source_end=True)
        return batch if self.device.type == "cpu" else self.updater.prepare(batch)

    def update(self, batch: Batch) -> Tensor:
        """What the trainer does with a batch; the NLL of the batch in nats, without a wait for a GPU."""
        self.updater.sums.zero_()
        self.updater(batch)
        return self.updater.sums[0].clone()


class RNNsearch(Project):
    """The paper's model."""

    family: FamilyName = "rnnsearch"


class RNNencdec(Project):
    """The paper's baseline."""

    family: FamilyName = "rnnencdec"


class GrConv(Project):
    """That of Cho et al. (2014b), with twice the units of their RNNencdec, encoder and decoder alike."""

    family: FamilyName = "grconv"
    units = 2


class DeepLSTM(Project):
    """That of Sutskever et al. (2014)."""

    family: FamilyName = "lstm"
