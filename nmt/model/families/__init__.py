"""The families of models, one module each. A module is imported when a model of its family is built."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.model.encoder_decoder import EncoderDecoder
    from nmt.settings.families import AnyArchitecture, FamilyName


def build(
    family: FamilyName, architecture: AnyArchitecture, source_vocabulary: int, target_vocabulary: int
) -> EncoderDecoder:
    """Build a model of a family without initial weights."""
    module = importlib.import_module(f"nmt.model.families.{family}")
    model: EncoderDecoder = module.Model(architecture, source_vocabulary, target_vocabulary)
    return model


def create(
    family: FamilyName, architecture: AnyArchitecture, vocabularies: tuple[int, int], seed: int
) -> EncoderDecoder:
    """Build a model of a family with initial weights. `vocabularies` are both sizes, source first."""
    model = build(family, architecture, *vocabularies)
    model.initialize(seed)
    return model
