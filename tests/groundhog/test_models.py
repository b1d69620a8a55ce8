"""The models: their numbers, settings and initial weights are those of the authors' own code."""

import json

import numpy as np
import pytest
import torch

from nmt.data.vocabulary import UNKNOWN, compute_size_without_specials
from nmt.model import model_types
from nmt.settings.model_types import MODEL_TYPES
from pipeline.config.layers import find_layers, load_config
from tests.authors_numbers import (
    NUMBERS,
    list_names,
    relative_difference,
)
from tests.pipeline.config.test_groundhog import value
from tests.running import ROOT
from tests.small_models import OF_CLASS

EVERY_MODEL_TYPE = pytest.mark.parametrize("model_type", ["rnnencdec", "rnnsearch", "grconv"])


@EVERY_MODEL_TYPE
def test_numbers_in_the_repository_are_groundhogs(groundhog, model_type):
    folder = groundhog.run("numbers", model_type)
    for output_layer in ("direct", "factored"):
        name = f"{model_type}-{output_layer}.npz"
        with np.load(folder / name) as now, np.load(NUMBERS / name) as kept:
            assert {*now, "made_by"} == {*kept}
            for key in now:
                difference = relative_difference(torch.from_numpy(now[key]), torch.from_numpy(kept[key]))
                groundhog.check(f"{model_type}: numbers in the repository", difference, 1e-5)


SETTINGS = {
    "training/rho": "adarho",
    "training/epsilon": "adaeps",
    "training/learning_rate": "lr",
    "training/clip_norm": "cutoff",
    "training/batch_size": "bs",
    "training/batches_per_sort": "sort_k_batches",
    "max_words": "seqlen",
    "architecture/hidden_units": "dim",
    "architecture/embedding_size": "rank_n_approx",
    "architecture/init_std": "weight_scale",
}
"""Keys of a model here and there."""


@pytest.mark.parametrize(
    ("model", "model_type"), [("rnnencdec-30", "rnnencdec"), ("rnnsearch-50", "rnnsearch")]
)
def test_settings_of_experiments_are_groundhogs(groundhog, model, model_type):
    """In experiments/groundhog: the two models of which GroundHog has the settings. Each weight has the same shape."""
    result = json.loads((groundhog.run("settings", model_type) / f"{model_type}-settings.json").read_text())
    config = load_config(find_layers(ROOT / "experiments" / "groundhog"))
    theirs, entry = result["settings"], config.models[model]
    for ours, key in SETTINGS.items():
        assert value(entry, ours) == theirs[key], ours
    assert entry.architecture.maxout_units == theirs["dim"] / theirs["maxout_part"]
    assert (config.vocabulary.words, UNKNOWN) == (theirs["null_sym_source"], theirs["unk_sym_source"])

    size = compute_size_without_specials(config.vocabulary.words, config.vocabulary.specials_included)
    with torch.device("meta"):
        built = model_types.build_model(model_type, entry.architecture, (size + 2, size + 2))
    names = list_names(model_type, "factored")
    for name, weight in built.named_parameters():
        shape = result["shapes"][names[name]]
        assert list(weight.shape) == (shape[:1] if name.endswith("v_a") else shape), name


@EVERY_MODEL_TYPE
def test_initial_weights_are_drawn_as_groundhogs(groundhog, model_type):
    theirs = groundhog.load("initial", model_type)
    kind = MODEL_TYPES[model_type].architecture
    sizes = {
        "hidden_units": 120,
        "embedding_size": 100,
        "maxout_units": 60,
        "unused_ids": 1,
        "source_eos": True,
    }
    settings = OF_CLASS[kind] | sizes | {"init_std": 0.01, "output_layer": "factored"}
    if model_type == "rnnsearch":
        settings |= {"alignment_units": 120, "alignment_init_std": 0.001}
    model = model_types.create_model(model_type, kind.model_validate(settings), (299, 299), seed=1)
    names = list_names(model_type, "factored")
    for name, weight in model.named_parameters():
        ours, their = weight.detach(), torch.from_numpy(theirs[names[name]])
        if name.endswith("v_a"):
            their = their[:, 0]
        assert ours.shape == their.shape, name
        if not their.any():
            assert not ours.any(), name
        elif (scale := find_orthogonal_scale(their)) is not None:
            difference = abs(scale - (find_orthogonal_scale(ours) or 0.0))
            groundhog.check(f"{model_type}: singular values of orthogonal initial weights", difference, 1e-5)
        else:
            assert find_orthogonal_scale(ours) is None, name
            # of two samples of as many numbers, the deviation and each quantile differ by some standard errors
            root_count = weight.numel() ** 0.5
            deviations = abs(float(ours.std() / their.std()) - 1) * root_count
            quantiles = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
            spread = (ours.quantile(quantiles) - their.quantile(quantiles)).abs().max() / their.std()
            what = f"{model_type}: normal initial weights (standard errors)"
            groundhog.check(f"{what}, deviations", deviations, 5)
            groundhog.check(f"{what}, quantiles", float(spread) * root_count / 3, 5)


def find_orthogonal_scale(weight: torch.Tensor) -> float | None:
    """Return the singular values of a matrix if they are all the same."""
    if weight.ndim < 2 or weight.shape[0] != weight.shape[1]:
        return None
    values = torch.linalg.svdvals(weight)
    return float(values.mean()) if values.max() - values.min() < 1e-4 * values.max() else None
