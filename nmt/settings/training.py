"""Settings of models and their training."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WrapValidator

from nmt.settings.base import (
    MAX_SENTENCE_LENGTH,
    BatchSize,
    Fraction,
    Identifier,
    PositiveInt,
    Seed,
    Seeds,
    Settings,
    Threads,
    TokenCount,
)
from nmt.settings.model_types import (
    MODEL_TYPES,
    AnyArchitecture,
    ModelTypeName,
    parse_architecture,
)

Epochs = Annotated[float, Field(gt=0, le=1e6)]
"""Passes over the training text."""
PositiveFraction = Annotated[float, Field(gt=0, le=1)]


class Training(Settings):
    """Settings of the training: optimizer, batches, stopping, bookkeeping (paper, Sec. 4.2 and B.2)."""

    optimizer: Literal["adadelta", "adam", "sgd"]
    """adadelta (as in the paper), adam, or sgd (without momentum, as in Sutskever et al., 2014)."""
    rho: Fraction
    """Adadelta's decay of its averages (rho)."""
    epsilon: PositiveFraction
    """epsilon of Adadelta or Adam."""
    learning_rate: Annotated[float, Field(gt=0, le=1000)]
    """Learning rate. Adadelta as published has 1."""
    decay_from_epoch: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Passes over the text after which the learning rate begins to fall. null: it is constant."""
    decay_every_epochs: Epochs = 0.5
    """Passes over the text between two reductions of the learning rate."""
    decay_factor: PositiveFraction = 0.5
    """Factor of each reduction."""
    clip_norm: Annotated[float, Field(gt=0, le=1e9)]
    """Maximum L2 norm of the gradient; a longer one is scaled down."""
    cost: Literal["sum", "mean"]
    """Cost of a batch before clipping: sum (as in the authors' code) or mean over its sentences."""
    not_finite: Literal["stop", "groundhog"]
    """Reaction to a gradient that is not finite. stop: training stops at the last good state. groundhog: a tenth of the
    weights replaces the gradient, as in the authors' code."""
    precision: Literal["fp32", "tf32", "bf16"]
    """Precision of the matrix products (docs/gpu.md#precision): fp32, tf32 (on a GPU) or bf16."""
    batch_size: BatchSize
    """Sentence pairs per update."""
    batches_per_sort: Annotated[int, Field(ge=1, le=10_000)]
    """Batches that are read together, sorted by length, and split again (B.2: 20 x 80 = 1600 pairs)."""
    order: Literal["stored", "seed"] = "stored"
    """Order of the training pairs. stored: the same for every model and seed. seed: a different one for each seed (as
    in the ensembles of Sutskever et al., 2014)."""
    updates: Annotated[int, Field(ge=0, le=10**12)]
    """Number of updates, counted from the start of the training. 0: the model keeps its initial weights."""
    epochs: Epochs | None = None
    """Maximum number of passes over the text. null: only `updates` counts."""
    patience: PositiveInt | None
    """Training stops after this many validations without a better development score. null: all updates are done. While
    BLEU is 0, the newest weights count as better."""
    keep: Literal["best", "last"]
    """Weights of the finished model: best (by development score) or last."""
    dev_score: Literal["nll", "bleu"]
    """Development score: nll, or bleu of greedy translations."""
    dev_sentences: Literal["all", "within_limit"]
    """Development pairs of the score: all, or within_limit (both sides within the model's max_words)."""
    validate_every: PositiveInt
    """Updates between two validations."""
    checkpoint_every: PositiveInt
    """Updates between two checkpoints: a killed job loses at most this many."""
    log_every: PositiveInt
    """Updates between two lines of the history. With a multiple of batches_per_sort, each line covers batches of all
    lengths."""
    train_sample: PositiveInt
    """Number of random training pairs whose NLL Table 2 reports."""
    tensorboard: bool
    """Also write the history for TensorBoard, into the folder of the training in the store."""
    length_bucket: Annotated[int, Field(ge=1, le=10_000)]
    """On a GPU, batches are padded to a multiple of this many words, plus the end symbol, so that there are few CUDA
    graphs. With 5, sentences of up to 50 words need 10 of them."""
    cuda_graph_max_words: Annotated[int, Field(ge=0, le=MAX_SENTENCE_LENGTH)] | None = None
    """Updates are captured as CUDA graphs if the longest side of their batch has at most this many words
    (docs/gpu.md#memory). 0: none is captured. null: all are. No result depends on it."""
    kernels: Literal["auto", "torch", "compiled"] = "auto"
    """Operations between the matrix products (docs/gpu.md#kernels): torch, compiled, or auto: compiled on a GPU where
    this works. The last digits of the results depend on it."""
    matmul_library: Literal["auto", "torch"] = "auto"
    """Library of the matrix products in fp32 on a processor. torch: MKL. auto: oneDNN on AMD processors with AVX-512,
    where MKL is slow, else MKL. The last digits of the results depend on it."""
    arithmetic: Literal["native", "portable"] = "native"
    """native: the fastest kernels of the processor. portable: kernels that give the same bits on every x86-64 processor
    with AVX2 (docs/how-a-number-is-made.md#equal-bits-on-other-processors), in the training and in the translations of
    the run. It needs `device: cpu`."""
    device: Literal["auto", "cpu", "cuda"]
    """cuda, cpu, or auto: the GPU if there is one."""
    threads: Threads
    """Threads of the matrix products. It is a setting, so that results do not depend on the cores of the machine."""


RECORDING_KEYS = {"checkpoint_every", "log_every", "tensorboard"}
"""Keys of `Training` that only decide what is written down during the training."""

ENDING_KEYS = {"updates", "epochs", "patience", "keep", "train_sample"}
"""Keys of `Training` that decide when a training ends, which of its weights the model keeps, and what is measured then.
"""

COMPUTING_KEYS = {"length_bucket", "cuda_graph_max_words", "kernels", "matmul_library", "device"}
"""Keys of `Training` that decide how updates are computed, and so at most the last digits of the results."""


ArchitectureOfModelType = Annotated[
    AnyArchitecture,
    WrapValidator(lambda values, _, info: parse_architecture(info.data.get("model_type"), values)),
]
"""The architecture of the model's type, which is the field before it."""


class ModelEntry(Settings):
    """A model to train, with its differences from the shared `architecture` and `training`."""

    label: str
    """Name in tables and figures."""
    model_type: ModelTypeName
    """rnnencdec, rnnsearch, grconv or lstm; each has its own keys of `architecture`."""
    max_words: TokenCount
    """Maximum words of each side of the model's training pairs."""
    continue_from: Identifier | None = None
    """The model whose final state this one continues."""
    seeds: Seeds | None = None
    """Seeds of this model instead of the shared ones."""
    architecture: ArchitectureOfModelType
    """Differences from the shared `architecture`."""
    training: Training
    """Differences from the shared `training`."""

    @property
    def has_attention(self) -> bool:
        """Whether the model has attention."""
        return MODEL_TYPES[self.model_type].has_attention


class ModelRun(Settings):
    """The settings of one run, which decide its weights together with the data: those of `nmt train --settings`."""

    model: Identifier
    """Id of the model. The runs of one model differ only in `seed`."""
    label: str
    model_type: ModelTypeName
    max_words: TokenCount
    seed: Seed
    """Seed of the initial weights, and of the order of the training pairs with `training.order: seed`."""
    sample_seed: Seed | None = None
    """Seed of the training pairs whose NLL Table 2 reports, the same for all runs of a model. None: `seed`."""
    continue_from: Identifier | None
    architecture: ArchitectureOfModelType
    training: Training

    def fingerprint_fields(self) -> dict[str, Any]:
        """Return the settings that decide the weights after each update, without names and the end of the training."""
        values = self.model_dump(exclude={"model", "label", "sample_seed", "continue_from", "training"})
        values["training"] = self.training.model_dump(exclude=RECORDING_KEYS | ENDING_KEYS | COMPUTING_KEYS)
        return values

    def ending_fields(self) -> dict[str, Any]:
        """Return the settings that decide the finished model, besides those of `fingerprint_fields`."""
        return {"sample_seed": self.sample_seed, "training": self.training.model_dump(include=ENDING_KEYS)}

    def summary_fields(self) -> dict[str, Any]:
        """Return the settings that the summary of a training repeats. The keys are those of the summary."""
        return {
            "model": self.model,
            "label": self.label,
            "model_type": self.model_type,
            "seed": self.seed,
            "max_words": self.max_words,
            "continue_from": self.continue_from,
            "dev_sentences": self.training.dev_sentences,
            "optimizer": self.training.optimizer,
            "batch_size": self.training.batch_size,
            "hidden_units": self.architecture.hidden_units,
            "embedding_size": self.architecture.embedding_size,
        }

    @property
    def has_attention(self) -> bool:
        """See `ModelEntry.has_attention`."""
        return MODEL_TYPES[self.model_type].has_attention
