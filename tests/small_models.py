"""Small models, for tests."""

from itertools import product
from typing import Any

import torch

from nmt.model import model_types, reference
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import (
    MODEL_TYPES,
    AnyArchitecture,
    GatedArchitecture,
    GrConvArchitecture,
    LSTMArchitecture,
    ModelTypeName,
)

SIZES = {"hidden_units": 5, "embedding_size": 4, "unused_ids": 0, "source_eos": True}
GATED_DECODER: dict[str, object] = {
    "maxout_units": 3,
    "step_order": "groundhog",
    "output_layer": "direct",
    "init_std": 0.7,
}
OF_CLASS: dict[type[AnyArchitecture], dict[str, object]] = {
    GatedArchitecture: GATED_DECODER | {"alignment_units": 6, "alignment_init_std": 0.7},
    GrConvArchitecture: GATED_DECODER | {"init_std": 0.5},
    LSTMArchitecture: {"layers": 2, "init_range": 1.2},
}
"""What else the architecture of a small model says, by its class; starts are large enough that every term matters."""

INTERPRETATIONS: dict[type[AnyArchitecture], dict[str, list[Any]]] = {
    GatedArchitecture: {
        "step_order": ["groundhog", "appendix", "section3"],
        "output_layer": ["direct", "factored"],
    },
    LSTMArchitecture: {
        "source_order": ["reversed", "forward"],
        "source_eos": [False, True],
    },
}
"""Settings that change a model's equations, with their values, by the class of its architecture."""

SOURCE_VOCABULARY, TARGET_VOCABULARY = 9, 7


def small_architecture(model_type: ModelTypeName = "rnnsearch", **changes: object) -> AnyArchitecture:
    """The architecture of a model of a few units."""
    kind = MODEL_TYPES[model_type].architecture
    return kind.model_validate(SIZES | OF_CLASS[kind] | changes)


def interpretations(model_type: ModelTypeName) -> list[dict[str, Any]]:
    """Every combination of the settings that change a model type's equations."""
    choices = INTERPRETATIONS.get(MODEL_TYPES[model_type].architecture, {})
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def small_model(
    model_type: ModelTypeName, dtype: torch.dtype = torch.float64, **changes: object
) -> EncoderDecoder:
    """A model with random weights everywhere, biases and v_a too."""
    architecture = small_architecture(model_type, **changes)
    model = model_types.create_model(model_type, architecture, (SOURCE_VOCABULARY, TARGET_VOCABULARY), seed=3)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for weight in model.parameters():
            if not weight.any():
                weight.normal_(0, 0.7, generator=generator)
    return model.to(dtype)


def by_loops(model: EncoderDecoder) -> Any:
    """The same model as plain loops over the same weights: the class of its name in `nmt.model.reference`."""
    loops = getattr(reference, type(model).__name__)
    return loops(dict(model.named_parameters()), model.architecture)
