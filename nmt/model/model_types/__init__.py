"""The types of models, one module each. A module is imported when a model of its model type is built."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.model.encoder_decoder import EncoderDecoder
    from nmt.settings.model_types import AnyArchitecture, ModelTypeName


def build_model(
    model_type: ModelTypeName,
    architecture: AnyArchitecture,
    vocabulary_sizes: tuple[int, int],
) -> EncoderDecoder:
    """Build a model of a type without initial weights. `vocabulary_sizes`: source first."""
    module = importlib.import_module(f"nmt.model.model_types.{model_type}")
    model: EncoderDecoder = module.Model(architecture, vocabulary_sizes)
    return model


def create_model(
    model_type: ModelTypeName, architecture: AnyArchitecture, vocabulary_sizes: tuple[int, int], seed: int
) -> EncoderDecoder:
    """Build a model of a type with initial weights."""
    model = build_model(model_type, architecture, vocabulary_sizes)
    model.initialize_weights(seed)
    return model
