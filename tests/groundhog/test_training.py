"""A training beside the authors' own code: costs and weights."""

import numpy as np
import pytest
import torch

from nmt.data.batches import pad_pairs
from nmt.training.update import Updater
from tests.authors_numbers import (
    build_same_model,
    list_pairs,
    relative_difference,
    take,
)
from tests.training_settings import training

UPDATES = 100


@pytest.mark.parametrize("model_type", ["rnnencdec", "rnnsearch"])
def test_training_is_groundhogs(groundhog, model_type):
    """The same initial weights and batches: the cost of each of 100 updates, and the weights on the way."""
    results = groundhog.load("training", model_type)
    model = build_same_model(results, model_type, "factored", "weight/0")
    initial_weights = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    clip_norm = 15.0 if model_type == "rnnencdec" else 1.0
    updater = Updater(model, training(not_finite="groundhog", clip_norm=clip_norm))

    costs = []
    for number in range(UPDATES):
        update(updater, list_pairs(results, f"batch/{number}/"))
        costs.append(updater.read_statistics().nll)
        updater.statistics.zero_()
        if number + 1 in (1, 50, 100):
            theirs = take(results, f"weight/{number + 1}", model_type, "factored")
            for name, weight in model.named_parameters():
                difference = relative_difference(
                    weight.detach() - initial_weights[name], theirs[name] - initial_weights[name]
                )
                groundhog.check(f"{model_type}: changes of weights by update {number + 1}", difference, 1e-3)
    their_costs = torch.from_numpy(results["costs"][:UPDATES])
    difference = float((torch.tensor(costs) / their_costs - 1).abs().max())
    groundhog.check(f"{model_type}: costs of {UPDATES} updates", difference, 1e-5)
    assert (results["norms"] > clip_norm).any()
    assert (results["norms"] < clip_norm).any() or model_type != "rnnencdec"

    # exp of their bias overflows, so their gradient is NaN; here it is made so
    with torch.no_grad():
        model.readout.b_o[3] = 200
    model.readout.b_o.register_hook(lambda gradient: gradient * float("nan"))
    update(updater, list_pairs(results, f"batch/{UPDATES}/"))
    theirs = take(results, "weight/not finite", model_type, "factored")
    for name, weight in model.named_parameters():
        difference = relative_difference(weight.detach(), theirs[name])
        groundhog.check(f"{model_type}: weights after a gradient that is not finite", difference, 1e-4)


def update(updater: Updater, pairs: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = ([np.array(pair[side][:-1]) for pair in pairs] for side in (0, 1))
    updater(pad_pairs(sources, targets, source_eos=True))
