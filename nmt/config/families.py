"""The families of models: what the settings of each may say, and what is known of it without building one.

A family is an entry of `FAMILIES` and of the types above it here, and a module of its name in `nmt.model.families`.
Everything else, from the settings' checks to a model's card, asks `FAMILIES`. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from nmt.config.base import TrainedWith

Biases = Literal["groundhog", "every"]
Size = Annotated[int, Field(ge=1, le=100_000)]
"""Units of a layer."""
Deviation = Annotated[float, Field(gt=0, le=100)]
"""Of start values."""


class Architecture(TrainedWith):
    """What the architecture of every family says. `unused_ids`: rows of the embeddings beyond the vocabularies."""

    hidden_units: Size
    embedding_size: Size
    source_end: bool
    unused_ids: Annotated[int, Field(ge=0, le=100_000)]


class GatedArchitecture(Architecture):
    """RNNencdec and RNNsearch: paper, Sec. 3, App. A and B.1. Keys with `alignment` decide nothing of an RNNencdec."""

    maxout_units: Size
    alignment_units: Size
    step_order: Literal["groundhog", "appendix", "section3"]
    output_layer: Literal["direct", "factored"]
    biases: Biases
    encdec_start: Literal["last", "zero"]
    recurrent_init: Literal["orthogonal"]
    alignment_init_std: Deviation
    init_std: Deviation


def rnnencdec_weights(a: GatedArchitecture, words: int) -> int:
    """Weights of an RNNencdec."""
    return _gated_weights(a, words, directions=1)


def rnnsearch_weights(a: GatedArchitecture, words: int) -> int:
    """Weights of an RNNsearch."""
    n = a.hidden_units
    return _gated_weights(a, words, directions=2) + a.alignment_units * (n + 2 * n)


def _gated_weights(a: GatedArchitecture, words: int, directions: int) -> int:
    """Encoder with so many directions, whose states together are the context; decoder, embeddings and output layer."""
    n, m, maxout = a.hidden_units, a.embedding_size, a.maxout_units
    unit, context = 3 * m * n + 3 * n * n, directions * n
    body = (directions + 1) * unit + 3 * context * n + n * n + (n + m + context) * 2 * maxout
    output = maxout * words if a.output_layer == "direct" else maxout * m + m * words
    return body + 2 * words * m + output


FamilyName = Literal["rnnencdec", "rnnsearch"]
AnyArchitecture = GatedArchitecture
"""The union of the families' architectures."""


@dataclass(frozen=True)
class Family:
    """What is known of a family.

    architecture: the class of its settings. weights: how many a model has, given its architecture and the words of one
    vocabulary; those of biases and other vectors may be left out. aligns: whether a model says which source words a
    target word comes from. description, paper: for a model's card.
    """

    architecture: type[AnyArchitecture]
    weights: Callable[[Any, int], int]
    aligns: bool
    description: str
    paper: str


BAHDANAU = "Bahdanau, Cho and Bengio (2015), [arXiv 1409.0473](https://arxiv.org/abs/1409.0473)"
FAMILIES: dict[FamilyName, Family] = {
    "rnnencdec": Family(
        architecture=GatedArchitecture,
        weights=rnnencdec_weights,
        aligns=False,
        description="RNNencdec: a gated encoder whose last state alone is what the decoder knows of the sentence",
        paper=BAHDANAU,
    ),
    "rnnsearch": Family(
        architecture=GatedArchitecture,
        weights=rnnsearch_weights,
        aligns=True,
        description="RNNsearch: a bidirectional gated encoder and a decoder that learns to align (soft attention)",
        paper=BAHDANAU,
    ),
}

ALIGNING = tuple(name for name, family in FAMILIES.items() if family.aligns)


def architecture_of(family: FamilyName | None, values: Any) -> Any:
    """The architecture of a family's model; as it came where the family is unknown, for another error to say so."""
    return values if family is None else FAMILIES[family].architecture.model_validate(values)
