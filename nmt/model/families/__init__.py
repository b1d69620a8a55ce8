"""The families of models, a module each. One is imported when a model of it is built, by the name of its family."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.model.encoder_decoder import EncoderDecoder
    from nmt.settings.families import AnyArchitecture, FamilyName


def build(
    family: FamilyName, architecture: AnyArchitecture, source_vocabulary: int, target_vocabulary: int
) -> EncoderDecoder:
    """A model of a family, its weights not set yet."""
    module = importlib.import_module(f"nmt.model.families.{family}")
    model: EncoderDecoder = module.Model(architecture, source_vocabulary, target_vocabulary)
    return model


def create(
    family: FamilyName, architecture: AnyArchitecture, vocabularies: tuple[int, int], seed: int
) -> EncoderDecoder:
    """A model of a family with its start values; `vocabularies` are both sizes, source first."""
    from nmt.model.initialization import initialize

    model = build(family, architecture, *vocabularies)
    initialize(model, seed)
    return model
