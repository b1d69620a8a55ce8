"""Settings of models and their training."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WrapValidator

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
    """Settings of the training: optimizer, batches, stopping, bookkeeping (paper, Sec. 4.2 and B.2)."""

    optimizer: Literal["adadelta", "adam", "sgd"]
    rho: Share
    epsilon: Annotated[float, Field(gt=0, le=1)]
    learning_rate: Annotated[float, Field(gt=0, le=1000)]
    decay_from_epoch: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Number of epochs after which the learning rate begins to fall. None: it is constant."""
    decay_every_epochs: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    decay_factor: Annotated[float, Field(gt=0, le=1)] = 0.5
    clip_norm: Annotated[float, Field(gt=0, le=1e9)]
    cost: Literal["sum", "mean"]
    not_finite: Literal["stop", "groundhog"]
    precision: Literal["fp32", "tf32", "bf16"]
    batch_size: BatchSize
    batches_per_sort: Annotated[int, Field(ge=1, le=10_000)]
    order: Literal["stored", "seed"] = "stored"
    """Order of the training pairs: as they were binarized, or drawn with the seed of the run."""
    updates: PositiveInt
    epochs: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Number of epochs after which the training stops, if `updates` are not done before."""
    patience: PositiveInt | None
    """Number of validations without a better development score after which the training stops. None: no limit."""
    keep: Literal["best", "last"]
    """Which weights the finished model has: those with the best development score, or the last."""
    dev_score: Literal["nll", "bleu"]
    """The development score for `patience` and `keep`: the NLL, or BLEU of greedy translations."""
    dev_sentences: Literal["all", "within_limit"]
    """Which development pairs are scored: all, or those within the model's `max_words`."""
    validate_every: PositiveInt
    checkpoint_every: PositiveInt
    log_every: PositiveInt
    train_sample: PositiveInt
    tensorboard: bool
    length_bucket: Annotated[int, Field(ge=1, le=10_000)]
    recorded_words: Annotated[int, Field(ge=0, le=MOST_WORDS)] | None = None
    """Maximum number of words of batches whose updates are recorded as CUDA graphs. None: no limit."""
    kernels: Annotated[
        Literal["auto", "torch", "compiled"],
        BeforeValidator(lambda name: "compiled" if name == "triton" else name),
    ] = "auto"
    """Operations between the matrix products: those of PyTorch, or what torch.compile makes of them; `auto` compiles on
    a GPU. `triton` is the name in settings of before there was `compiled`."""
    products: Literal["auto", "torch"] = "auto"
    """Library for matrix products on a CPU in 32 bits: the faster one, or always PyTorch's choice."""
    device: Literal["auto", "cpu", "cuda"]
    threads: Threads


RECORDING = frozenset({"checkpoint_every", "log_every", "tensorboard"})
"""Keys of `Training` that only decide what is recorded during the training."""

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
"""Keys of `Training` that may change when a run resumes, since they do not affect the updates before."""


ArchitectureOfFamily = Annotated[
    AnyArchitecture, WrapValidator(lambda values, _, info: architecture_of(info.data.get("family"), values))
]
"""The architecture of the model's family, which is the field before it."""


class ModelEntry(Settings):
    """A model to train, with its differences from the shared `architecture` and `training`."""

    label: str
    family: FamilyName
    max_words: Words
    continue_from: Identifier | None = None
    seeds: Seeds | None = None
    """Seeds of the runs. None: the shared seeds."""
    architecture: ArchitectureOfFamily
    training: Training

    @property
    def aligns(self) -> bool:
        """Whether the model has attention."""
        return FAMILIES[self.family].aligns


class ModelRun(TrainedWith):
    """The settings of one run, which decide its weights together with the data: those of `nmt train --settings`."""

    model: Identifier
    """Id of the model. The runs of one model differ only in `seed`."""
    label: str
    family: FamilyName
    max_words: Words
    seed: Seed
    """Seed of the initial weights, and of the order of the training pairs with `training.order: seed`."""
    sample_seed: Seed | None = None
    """Seed of the training pairs whose NLL Table 2 reports, the same for all runs of a model. None: `seed`."""
    continue_from: Identifier | None
    architecture: ArchitectureOfFamily
    training: Training

    def deciding(self) -> dict[str, Any]:
        """Return the settings that decide the weights: no names, and nothing that may change when a run resumes."""
        values = self.model_dump(exclude={"model", "label", "sample_seed", "training"})
        return values | {"training": self.training.model_dump(exclude=set(RESUMABLE))}

    def outcome(self) -> dict[str, Any]:
        """Return the settings that decide the finished model: all but its label, `kernels` and those of `RECORDING`."""
        values = self.model_dump(exclude={"label", "training"})
        return values | {"training": self.training.model_dump(exclude=set(RECORDING) | {"kernels"})}

    @property
    def aligns(self) -> bool:
        """See `ModelEntry.aligns`."""
        return FAMILIES[self.family].aligns
