"""Settings of models and their training."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WrapValidator

from nmt.settings.base import (
    MAX_SENTENCE_LENGTH,
    BatchSize,
    Fraction,
    Identifier,
    OmitsDefaults,
    PositiveInt,
    Seed,
    Seeds,
    Settings,
    Threads,
    TokenCount,
)
from nmt.settings.model_types import MODEL_TYPES, AnyArchitecture, ModelTypeName, parse_architecture


class Training(OmitsDefaults):
    """Settings of the training: optimizer, batches, stopping, bookkeeping (paper, Sec. 4.2 and B.2)."""

    optimizer: Literal["adadelta", "adam", "sgd"]
    """adadelta (as in the paper), adam, or sgd (without momentum, as in Sutskever et al., 2014)."""
    rho: Fraction
    """Adadelta's decay of its averages."""
    epsilon: Annotated[float, Field(gt=0, le=1)]
    """Adadelta's (or Adam's) epsilon."""
    learning_rate: Annotated[float, Field(gt=0, le=1000)]
    """Learning rate. For Adadelta it is a factor on each step, and 1 is Adadelta as published."""
    decay_from_epoch: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """The learning rate begins to fall after this many passes over the text. null: it stays the same."""
    decay_every_epochs: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    """After the first time, it falls again whenever so many more passes are done."""
    decay_factor: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Each time, the learning rate is multiplied by this number."""
    clip_norm: Annotated[float, Field(gt=0, le=1e9)]
    """Largest L2 norm of the gradient. A longer gradient is scaled down."""
    cost: Literal["sum", "mean"]
    """The cost of a batch, before clipping: sum over its sentences, as in the authors' code, or mean."""
    not_finite: Literal["stop", "groundhog"]
    """What happens at a gradient that is not finite. stop: training stops at the last good state. groundhog: a tenth of
    the weights takes its place, as in the authors' code. The history counts such gradients."""
    precision: Literal["fp32", "tf32", "bf16"]
    """Precision of the matrix products: fp32, tf32 (on a GPU: factors of 11 significant bits) or bf16 (8 bits). States
    stay in fp32."""
    batch_size: BatchSize
    """Sentence pairs per update."""
    batches_per_sort: Annotated[int, Field(ge=1, le=10_000)]
    """Number of batches that are read together, sorted by length, and split again (B.2: 20 x 80 = 1600 pairs)."""
    order: Literal["stored", "seed"] = "stored"
    """Order in which the training pairs are read. stored: the same for every model and seed. seed: each seed has its
    own order and so other batches (as in the ensembles of Sutskever et al., 2014)."""
    updates: PositiveInt
    """Number of updates from the start of the training. Each model below states its own."""
    epochs: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Stop after this many passes over the text, if that is earlier. null: only `updates` counts."""
    patience: PositiveInt | None
    """Stop after this many validations without a better development score. null: all updates are done."""
    keep: Literal["best", "last"]
    """Which weights the finished model has: best (by development score) or last. Where the paper reports updates, they
    are the last."""
    dev_score: Literal["nll", "bleu"]
    """The development score: nll, or bleu of greedy translations. The paper says "performance"."""
    dev_sentences: Literal["all", "within_limit"]
    """Which development pairs count: all, or within_limit (both sides within the model's max_words). The paper says
    "the development set"."""
    validate_every: PositiveInt
    """Updates between two validations."""
    checkpoint_every: PositiveInt
    """Updates between two checkpoints. A killed job loses at most this many."""
    log_every: PositiveInt
    """Updates between two lines of the history. A multiple of batches_per_sort gives each line batches of all lengths.
    """
    train_sample: PositiveInt
    """Number of training pairs, drawn once, whose NLL Table 2 reports."""
    tensorboard: bool
    """Also write the history for TensorBoard, into the folder of the training state."""
    length_bucket: Annotated[int, Field(ge=1, le=10_000)]
    """On a GPU, batches are padded to a multiple of this many words, plus the end symbol. Batches then have few
    different shapes, each with its own CUDA graph: 10 if the longest side has 50 words."""
    cuda_graph_max_words: Annotated[int, Field(ge=0, le=MAX_SENTENCE_LENGTH)] | None = None
    """Updates are captured as CUDA graphs if the longest side of their batch has at most this many words. Graphs keep
    the memory of the largest batch, so a smaller number saves memory, but updates without a graph take longer. 0: none
    is captured. null: all are. No result depends on it."""
    kernels: Literal["auto", "torch", "compiled"] = "auto"
    """What computes between the matrix products. torch: PyTorch's operations. compiled: fewer and larger kernels, which
    torch.compile makes in the first minute; it takes a C compiler. auto: compiled on a GPU where this works (a C
    compiler, compute capability 7.0), else torch. The last digits of the results depend on it."""
    matmul_library: Literal["auto", "torch"] = "auto"
    """What computes the matrix products in fp32 on a processor. auto: oneDNN on AMD processors with AVX-512, where MKL
    does not use its fastest kernels, and else MKL, which is PyTorch's choice. torch: always MKL. The last digits of the
    results depend on it, and a resumed run keeps its choice."""
    device: Literal["auto", "cpu", "cuda"]
    """cuda, cpu, or auto: the GPU if there is one."""
    threads: Threads
    """Threads of the matrix products. Results must not depend on the machine's cores, so the number is a setting."""


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
    """Longest side, in words, of the pairs that the model is trained on."""
    continue_from: Identifier | None = None
    """The model whose final state it continues from: weights, optimizer, position in the data, counts and hours."""
    seeds: Seeds | None = None
    """Seeds of its own instead of the shared ones."""
    architecture: ArchitectureOfModelType
    """What differs from the shared `architecture`."""
    training: Training
    """What differs from the shared `training`."""

    @property
    def aligns(self) -> bool:
        """Whether the model has attention."""
        return MODEL_TYPES[self.model_type].aligns


class ModelRun(OmitsDefaults):
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
        """Return the settings that decide the weights at each update: no names, and nothing of the end."""
        values = self.model_dump(exclude={"model", "label", "sample_seed", "continue_from", "training"})
        values["training"] = self.training.model_dump(exclude=RECORDING_KEYS | ENDING_KEYS | COMPUTING_KEYS)
        return values

    def ending_fields(self) -> dict[str, Any]:
        """Return the settings that decide the finished model, besides those of `fingerprint_fields`."""
        return {"sample_seed": self.sample_seed, "training": self.training.model_dump(include=ENDING_KEYS)}

    @property
    def aligns(self) -> bool:
        """See `ModelEntry.aligns`."""
        return MODEL_TYPES[self.model_type].aligns
