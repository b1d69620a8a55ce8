"""Small models, for tests."""

from __future__ import annotations

import torch

from nmt.config.schema import Architecture
from nmt.model.encoder_decoder import EncoderDecoder, Family

SIZES = {"hidden_units": 5, "embedding_size": 4, "maxout_units": 3, "alignment_units": 6}
SOURCE_VOCABULARY, TARGET_VOCABULARY = 9, 7


def small_architecture(**changes: object) -> Architecture:
    """An architecture of a few units, with starts large enough that every term matters."""
    settings: dict[str, object] = SIZES | {
        "step_order": "groundhog",
        "output_layer": "direct",
        "biases": "groundhog",
        "encdec_start": "last",
        "unused_ids": 0,
        "source_end": True,
        "alignment_init_std": 0.7,
        "init_std": 0.7,
    }
    return Architecture.model_validate(settings | changes)


def small_model(family: Family, dtype: torch.dtype = torch.float64, **changes: object) -> EncoderDecoder:
    """A model with random weights everywhere, biases and v_a too."""
    model = EncoderDecoder.create(
        family, small_architecture(**changes), (SOURCE_VOCABULARY, TARGET_VOCABULARY), seed=3
    )
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for weight in model.parameters():
            if not weight.any():
                weight.normal_(0, 0.7, generator=generator)
    return model.to(dtype)
