"""Beam search finds what the authors' own code finds."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from nmt.data.batches import pad_pairs
from nmt.data.vocabulary import END
from nmt.decoding.beam_search import search
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.decoding import SearchSettings
from tests.authors_numbers import (
    ID_COUNT,
    build_same_model,
    exchange_ids,
)
from tests.groundhog.results import Groundhog

EVERY_MODEL_TYPE = pytest.mark.parametrize("model_type", ["rnnencdec", "rnnsearch", "grconv"])


@EVERY_MODEL_TYPE
def test_n_best_lists_are_groundhogs(groundhog, model_type):
    results = json.loads((groundhog.run("searches", model_type) / f"{model_type}-searches.json").read_text())
    weights = {f"weight/{name}": np.float32(value) for name, value in results["weights"].items()}
    warnings = []
    for end_bias in ("4.0", "2.5", "1.0"):
        model = build_same_model(weights, model_type, "factored")
        with torch.no_grad():
            model.readout.b_o[END] += float(end_bias)
            model.readout.b_o[ID_COUNT - 1] = -50
        for result in results[end_bias]:
            # without translations, GroundHog's beam was doubled beyond the number of words, and it ended in an error
            if result["translations"]:
                compare_n_best(groundhog, model_type, model, result)
                warnings += result["warnings"]
    assert set(warnings) == {"Did not manage", "Still no translations:"}, "no search was repeated"


@torch.no_grad()
def compare_n_best(
    groundhog: Groundhog, model_type: str, model: EncoderDecoder, result: dict[str, Any]
) -> None:
    """Compare the n-best list of one search: translations and costs."""
    source = exchange_ids(np.array(result["source"][:-1]))
    settings = SearchSettings(
        beam=result["beam"],
        n_best=result["beam"],
        normalize_by_length=result["is_normalized"],
        min_length="half",
        max_length_factor=3,
        if_no_eos="retry",
        max_beam=500,
        unknown="allowed",
    )
    batch = pad_pairs([source], [source], source_eos=True)
    encoded = model.encode(batch.source, batch.source_lengths)
    hypotheses = search(model, encoded, np.array([len(source)]), settings, result["is_unknown_forbidden"])[0]

    assert len(hypotheses) == min(result["beam"], len(result["costs"]))

    # theirs, the best first; costs are divided by the length with the end symbol
    order = np.argsort(result["costs"], kind="stable")[: len(hypotheses)]
    theirs = [exchange_ids(np.array(result["translations"][i])).tolist() for i in order]
    assert [[*hypothesis.ids, END] for hypothesis in hypotheses] == theirs, result
    for hypothesis, i in zip(hypotheses, order, strict=True):
        length = len(hypothesis.ids) + 1 if result["is_normalized"] else 1
        difference = abs(-hypothesis.log_probability / length - result["costs"][i])
        groundhog.check(f"{model_type}: costs of n-best lists", difference, 2e-5)


@EVERY_MODEL_TYPE
def test_only_groundhogs_search_forgets_the_word_of_id_0(groundhog, model_type):
    """Its vocabularies have no such word, so nothing follows. Here, searches and scores are the same for any word."""
    results = json.loads((groundhog.run("searches", model_type) / f"{model_type}-searches.json").read_text())
    assert abs(results["id 0"]["steps"] - results["id 0"]["score"]) > 1e-3
