"""Initial weights, one by one: App. B.1, and Cho et al. (2014b), Sec. 4.2."""

import re

import pytest
import torch

from nmt.model import model_types
from nmt.settings.model_types import ModelTypeName
from tests.small_models import small_architecture

SIZES = {"hidden_units": 150, "embedding_size": 120, "maxout_units": 80, "init_std": 0.01}


def initial_weights(model_type: ModelTypeName, **settings: object) -> dict[str, torch.Tensor]:
    architecture = small_architecture(model_type, **settings)
    return dict(model_types.create_model(model_type, architecture, (400, 300), seed=1).named_parameters())


def check_orthogonal(weight: torch.Tensor, scale: float = 1.0) -> None:
    expected = scale**2 * torch.eye(len(weight))
    torch.testing.assert_close(weight @ weight.t(), expected, atol=1e-4, rtol=0)


def check_normal(weight: torch.Tensor, std: float) -> None:
    assert weight.std().item() == pytest.approx(std, rel=0.1)
    assert abs(weight.mean().item()) < 0.1 * std


@pytest.mark.parametrize("model_type", ["rnnencdec", "rnnsearch"])
def test_gated_models_start_as_in_b1(model_type):
    weights = initial_weights(model_type, **SIZES, alignment_units=130, alignment_init_std=0.001)
    for name, weight in weights.items():
        if re.search(r"\.(U|U_z|U_r)$", name):
            check_orthogonal(weight)
        elif re.search(r"\.(v_a|b|b_\w+)$", name):
            assert not weight.any(), name
        else:
            check_normal(weight, std=0.001 if name.endswith(("W_a", "U_a")) else 0.01)
    recurrent_weights = [weights[f"decoder.unit.{name}"] for name in ("U", "U_z", "U_r")]
    assert len({float(weight.sum()) for weight in recurrent_weights}) == 3, "each is drawn anew"


def test_tree_starts_as_in_the_paper():
    weights = initial_weights("grconv", **SIZES)
    for name in ("U", "G_l", "G_r"):
        check_normal(weights[f"encoder.{name}"], std=0.01)
    for name in ("b_U", "b", "b_g"):
        assert not weights[f"encoder.{name}"].any()
    for name in ("W_l", "W_r"):
        check_orthogonal(weights[f"encoder.{name}"], scale=0.4)
    check_normal(weights["decoder.unit.W_r"], std=0.01)  # no square matrix of the tree, in spite of its name


def test_recurrent_init_scale():
    weights = initial_weights("grconv", recurrent_init_scale=0.4)
    for name in ("U", "U_z", "U_r"):
        singular_values = torch.linalg.svdvals(weights[f"decoder.unit.{name}"])
        assert singular_values.tolist() == pytest.approx([0.4] * len(singular_values))


def test_seed_gives_one_model(model_type):
    weights, weights_again = initial_weights(model_type), initial_weights(model_type)
    assert all(torch.equal(weight, weights_again[name]) for name, weight in weights.items())
