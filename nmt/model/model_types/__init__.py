"""The types of models, one module each. A module is imported when a model of its model type is built."""

from __future__ import annotations

import importlib

from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import AnyArchitecture, ModelTypeName


def build_model(
    model_type: ModelTypeName, architecture: AnyArchitecture, source_vocabulary: int, target_vocabulary: int
) -> EncoderDecoder:
    """Build a model of a type without initial weights."""
    module = importlib.import_module(f"nmt.model.model_types.{model_type}")
    model: EncoderDecoder = module.Model(architecture, source_vocabulary, target_vocabulary)
    return model


def create_model(
    model_type: ModelTypeName, architecture: AnyArchitecture, vocabularies: tuple[int, int], seed: int
) -> EncoderDecoder:
    """Build a model of a type with initial weights. `vocabularies` are both sizes, source first."""
    model = build_model(model_type, architecture, *vocabularies)
    model.initialize_weights(seed)
    return model
