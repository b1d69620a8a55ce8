"""The types of models: the settings of each, and facts that are needed without building a model.

A model type is an entry of `MODEL_TYPES`, a name in `ModelTypeName`, and a module of this name in
`nmt.model.model_types`. All other code, from the checks of settings to a model's card, asks `MODEL_TYPES`. This module
does not need PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from nmt.settings.base import Settings

Size = Annotated[int, Field(ge=1, le=100_000)]
"""Number of units of a layer."""
Deviation = Annotated[float, Field(gt=0, le=100)]
"""Standard deviation of normally distributed initial weights."""


class Architecture(Settings):
    """Settings that every model type has."""

    hidden_units: Size
    """n: hidden units of each recurrent network."""
    embedding_size: Size
    """m: size of a word's embedding."""
    source_eos: bool
    """Whether the source's end symbol is read and attended to (it is in Figure 3)."""
    unused_ids: Annotated[int, Field(ge=0, le=100_000)]
    """Rows of the embeddings and of the output layer that belong to no word. The authors' models have 1."""


class GatedDecoderArchitecture(Architecture):
    """Settings of all models with the gated decoder: Bahdanau et al. (2015), App. A and B.1."""

    maxout_units: Size
    """l: maxout units of the output layer."""
    step_order: Literal["groundhog", "appendix", "section3"]
    """When the previous word enters the state. groundhog: as in the authors' code. appendix: as in A.2.2. section3: as
    in Sec. 3.1."""
    output_layer: Literal["direct", "factored"]
    """Layer from the maxout units to the words. direct: as in the paper. factored: by way of a layer of the embedding's
    size, as in the authors' code."""
    init_std: Deviation
    """Standard deviation of the initial matrices (B.1), except the recurrent ones, which are orthogonal."""


class GatedArchitecture(GatedDecoderArchitecture):
    """Settings of RNNencdec and RNNsearch: paper, Sec. 3, App. A, B.1. RNNencdec ignores the keys with `alignment`."""

    alignment_units: Size
    """n': hidden units of the alignment model."""
    alignment_init_std: Deviation
    """Standard deviation of the initial W_a and U_a (B.1)."""


class GrConvArchitecture(GatedDecoderArchitecture):
    """Settings of grConv: Cho et al. (2014b), Sec. 2.2 and 4.2. `hidden_units`: of tree and decoder."""

    tree_init_scale: Deviation = 0.4
    """Initial singular values of W_l and W_r."""
    recurrent_init_scale: Deviation = 1.0
    """Initial singular values of the decoder's square matrices."""


class LSTMArchitecture(Architecture):
    """Settings of deep LSTMs: Sutskever et al. (2014), Sec. 2 and 3.4. The defaults are those of the paper."""

    layers: Annotated[int, Field(ge=1, le=100)] = 4
    """Number of layers of the encoder, and of the decoder."""
    source_order: Literal["reversed", "forward"] = "reversed"
    """Order in which the encoder reads the source."""
    init_range: Deviation = 0.08
    """r, if all initial weights are uniform in [-r, r]."""


ModelTypeName = Literal["rnnencdec", "rnnsearch", "grconv", "lstm"]
AnyArchitecture = GatedArchitecture | GrConvArchitecture | LSTMArchitecture
"""The union of the model types' architectures."""


@dataclass(frozen=True)
class ModelType:
    """Facts about a model type.

    architecture: the class of its settings.
    weights_per_square: number of weights of encoder and decoder, divided by the square of `hidden_units`, if the other
    sizes are in the paper's proportions. For deep LSTMs, it is the number per layer.
    description, paper: text for a model's card.
    has_attention: whether it aligns. makes_trees: whether it reads a sentence as a tree. runs_in_browser: whether the
    playground computes it.
    """

    architecture: type[AnyArchitecture]
    weights_per_square: float
    description: str
    paper: str
    has_attention: bool = False
    makes_trees: bool = False
    runs_in_browser: bool = False

    def estimate_weights(self, architecture: AnyArchitecture, vocabulary_sizes: tuple[int, int]) -> int:
        """Return the number of weights of a model, accurate to about a tenth, without building it."""
        if isinstance(architecture, LSTMArchitecture):
            layers, output_layer_inputs = architecture.layers, architecture.hidden_units
        else:
            layers, output_layer_inputs = 1, architecture.maxout_units
        recurrent_weights = layers * self.weights_per_square * architecture.hidden_units**2

        source_words, target_words = vocabulary_sizes
        embedding_weights = (source_words + target_words) * architecture.embedding_size
        return round(embedding_weights + recurrent_weights + output_layer_inputs * target_words)


BAHDANAU = "Bahdanau, Cho and Bengio (2015), [arXiv 1409.0473](https://arxiv.org/abs/1409.0473)"
CHO_2014B = (
    "Cho, van Merriënboer, Bahdanau and Bengio (2014), [arXiv 1409.1259](https://arxiv.org/abs/1409.1259)"
)
SUTSKEVER = "Sutskever, Vinyals and Le (2014), [arXiv 1409.3215](https://arxiv.org/abs/1409.3215)"

# With n hidden units, the paper's models have embeddings of 0.62 n, n alignment units, and 0.5 n maxout units of two
# inputs each. So the matrices of a gated unit, three of 0.62 n by n and three of n by n, have 4.86 n^2 weights.
MODEL_TYPES: dict[ModelTypeName, ModelType] = {
    "rnnencdec": ModelType(
        architecture=GatedArchitecture,
        weights_per_square=16.3,  # encoder 4.86; decoder: unit 4.86, context and first state 4, output 2.62
        description="RNNencdec: a gated encoder whose last state alone is what the decoder knows of the sentence",
        paper=BAHDANAU,
        runs_in_browser=True,
    ),
    "rnnsearch": ModelType(
        architecture=GatedArchitecture,
        weights_per_square=28.2,  # encoder 2 * 4.86; alignment 3; decoder as above, but with a context of 2 n
        description="RNNsearch: a bidirectional gated encoder and a decoder that learns to align (soft attention)",
        paper=BAHDANAU,
        has_attention=True,
        runs_in_browser=True,
    ),
    "grconv": ModelType(
        architecture=GrConvArchitecture,
        weights_per_square=14.1,  # encoder 2.62, leaves and two children; decoder as above
        description="grConv: a gated recursive convolution whose root alone is what the decoder knows of the sentence",
        paper=CHO_2014B,
        makes_trees=True,
    ),
    "lstm": ModelType(
        architecture=LSTMArchitecture,
        weights_per_square=16,  # in encoder and decoder, four gates of n + n by n
        description="Deep LSTMs: one reads the source, the other starts from its last state and writes",
        paper=SUTSKEVER,
    ),
}

MODEL_TYPES_WITH_ATTENTION = tuple(name for name, entry in MODEL_TYPES.items() if entry.has_attention)
MODEL_TYPES_WITH_TREES = tuple(name for name, entry in MODEL_TYPES.items() if entry.makes_trees)
MODEL_TYPES_IN_BROWSER = tuple(name for name, entry in MODEL_TYPES.items() if entry.runs_in_browser)


def parse_architecture(model_type: ModelTypeName | None, values: Any) -> Any:
    """Return the architecture of a model type. If the type is invalid (None), return `values`: it has its own error."""
    return values if model_type is None else MODEL_TYPES[model_type].architecture.model_validate(values)
