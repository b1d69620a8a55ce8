"""Settings of the models and their training."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from nmt.settings.base import (
    MOST_WORDS,
    BatchSize,
    Identifier,
    PositiveInt,
    Seed,
    Seeds,
    Settings,
    Share,
    Threads,
    TrainedWith,
    Words,
)
from nmt.settings.families import FAMILIES, AnyArchitecture, FamilyName, architecture_of


class Training(TrainedWith):
    """Optimizer, batches, stopping and bookkeeping: paper, Sec. 4.2 and B.2."""

    optimizer: Literal["adadelta", "adam", "sgd"]
    rho: Share
    epsilon: Annotated[float, Field(gt=0, le=1)]
    learning_rate: Annotated[float, Field(gt=0, le=1000)]
    decay_from_epoch: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Passes over the text after which the learning rate begins to fall; None: it never does."""
    decay_every_epochs: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    decay_factor: Annotated[float, Field(gt=0, le=1)] = 0.5
    clip_norm: Annotated[float, Field(gt=0, le=1e9)]
    cost: Literal["sum", "mean"]
    not_finite: Literal["stop", "groundhog"]
    precision: Literal["fp32", "tf32", "bf16"]
    batch_size: BatchSize
    batches_per_sort: Annotated[int, Field(ge=1, le=10_000)]
    order: Literal["stored", "seed"] = "stored"
    """Order of the training pairs: as shuffled when they were binarized, or drawn by the run's seed."""
    updates: PositiveInt
    epochs: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Stop after so many passes over the text, if `updates` are not done before."""
    patience: PositiveInt | None
    """Stop after so many validations without a better development score; None: run all updates."""
    keep: Literal["best", "last"]
    """Weights of the finished model: those with the best development score, or the last."""
    dev_score: Literal["nll", "bleu"]
    """What `patience` and `keep` go by: the NLL, or BLEU of greedy translations."""
    dev_sentences: Literal["all", "within_limit"]
    """Development pairs that are watched and reported: all, or those within the model's `max_words`."""
    validate_every: PositiveInt
    checkpoint_every: PositiveInt
    log_every: PositiveInt
    train_sample: PositiveInt
    tensorboard: bool
    length_bucket: Annotated[int, Field(ge=1, le=10_000)]
    recorded_words: Annotated[int, Field(ge=0, le=MOST_WORDS)] | None = None
    """Longest side of the batches that a GPU's updates are recorded for as CUDA graphs; None: of any length."""
    kernels: Literal["torch", "triton"] = "torch"
    """What works between the matrix products: PyTorch's operations, or kernels of the project's own on a GPU."""
    products: Literal["auto", "torch"] = "auto"
    """Who makes a processor's products in 32 bits: the faster library, or always PyTorch's choice."""
    device: Literal["auto", "cpu", "cuda"]
    threads: Threads


RECORDING = frozenset({"checkpoint_every", "log_every", "tensorboard"})
"""Training keys that say what is written down on the way: no weight follows from them."""

RESUMABLE = RECORDING | {
    "updates",
    "epochs",
    "patience",
    "keep",
    "length_bucket",
    "recorded_words",
    "kernels",
    "products",
    "device",
}
"""Training keys that may change between two parts of one run: they don't bear on the updates already made."""


ArchitectureOfFamily = Annotated[
    AnyArchitecture, BeforeValidator(lambda values, info: architecture_of(info.data.get("family"), values))
]
"""What the model's family, the field before it, may say."""


class ModelEntry(Settings):
    """One of the models to train. `architecture` and `training` hold only what differs from the shared ones."""

    label: str
    family: FamilyName
    max_words: Words
    continue_from: Identifier | None = None
    seeds: Seeds | None = None
    """None: the shared ones."""
    architecture: ArchitectureOfFamily
    training: Training

    @property
    def aligns(self) -> bool:
        """Whether the model says which source words a target word comes from."""
        return FAMILIES[self.family].aligns

    @property
    def makes_trees(self) -> bool:
        """Whether its encoder makes a tree of a sentence."""
        return FAMILIES[self.family].trees


class ModelRun(TrainedWith):
    """All that decides one model's weights, besides the data: what `nmt train --settings` reads."""

    model: Identifier
    """Its id in the catalogue; the runs of one model differ in `seed` alone."""
    label: str
    family: FamilyName
    max_words: Words
    seed: Seed
    """Seed of the start values, and of the order of the training pairs where `training.order` says so."""
    sample_seed: Seed | None = None
    """Seed of the training pairs whose NLL Table 2 reports: the same for every run of a model; None: `seed`."""
    continue_from: Identifier | None
    architecture: ArchitectureOfFamily
    training: Training

    def deciding(self) -> dict[str, Any]:
        """The settings that the weights follow from: no names, nothing that may change between two parts of a run."""
        values = self.model_dump(exclude={"model", "label", "sample_seed", "training"})
        return values | {"training": self.training.model_dump(exclude=set(RESUMABLE))}

    def outcome(self) -> dict[str, Any]:
        """The settings that a finished model follows from: all but its label and what is written down on the way."""
        values = self.model_dump(exclude={"label", "training"})
        return values | {"training": self.training.model_dump(exclude=set(RECORDING))}

    @property
    def aligns(self) -> bool:
        """See `ModelEntry.aligns`."""
        return FAMILIES[self.family].aligns
