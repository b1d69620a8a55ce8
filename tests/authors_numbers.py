"""Numbers that the authors' own code, GroundHog, gave for small models, and the same models here.

Each file of `NUMBERS` has the weights of a model, a padded batch, log p of each pair, and the gradient of each weight.
tests/groundhog makes the files and compares them with a new run of GroundHog.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.vocabulary import END
from nmt.model import model_types, reference
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from tests.small_models import OF_CLASS

Arrays = Mapping[str, NDArray[Any]]

ID_COUNT = 20
"""Number of ids in the small models of tests/groundhog: 17 words, [UNK], the end symbol, and one that no text has."""
NUMBERS = Path(__file__).parent / "groundhog" / "numbers"
MODELS: list[tuple[ModelTypeName, str]] = [
    ("rnnencdec", "direct"),
    ("rnnencdec", "factored"),
    ("rnnsearch", "direct"),
    ("rnnsearch", "factored"),
    ("grconv", "direct"),
    ("grconv", "factored"),
]
"""The models of `NUMBERS`: model type and output layer."""


def name_gated_unit(ours: str, theirs: str) -> dict[str, str]:
    """Return the weights of a gated unit without context."""
    return {
        f"{ours}.W": f"W_0_{theirs}_input_embdr_0",
        f"{ours}.b": f"b_0_{theirs}_input_embdr_0",
        f"{ours}.W_z": f"W_0_{theirs}_update_embdr_0",
        f"{ours}.W_r": f"W_0_{theirs}_reset_embdr_0",
        f"{ours}.U": f"W_{theirs}_transition_0",
        f"{ours}.U_z": f"G_{theirs}_transition_0",
        f"{ours}.U_r": f"R_{theirs}_transition_0",
    }


EMBEDDINGS_AND_DECODER = name_gated_unit("decoder.unit", "dec") | {
    "source_embedding.E": "W_0_enc_approx_embdr",
    "source_embedding.b": "b_0_enc_approx_embdr",
    "target_embedding.E": "W_0_dec_approx_embdr",
    "target_embedding.b": "b_0_dec_approx_embdr",
    "decoder.W_s": "W_0_dec_initializer_0",
    "decoder.b_s": "b_0_dec_initializer_0",
    "decoder.unit.C": "W_0_dec_dec_inputter_0",
    "decoder.unit.C_z": "W_0_dec_dec_updater_0",
    "decoder.unit.C_r": "W_0_dec_dec_reseter_0",
    "readout.U_o": "W_0_dec_hid_readout_0",
    "readout.b_t": "b_0_dec_hid_readout_0",
    "readout.V_o": "W_0_dec_prev_readout_0",
    "readout.C_o": "W_0_dec_repr_readout",
    "readout.b_o": "b_dec_deep_softmax",
}
OUTPUT_LAYERS = {
    "direct": {"readout.W_o": "W_dec_deep_softmax"},
    "factored": {"readout.W_m": "W1_dec_deep_softmax", "readout.W_o": "W2_dec_deep_softmax"},
}
ENCODERS: dict[str, dict[str, str]] = {
    "rnnencdec": name_gated_unit("encoder.forwards", "enc"),
    "rnnsearch": name_gated_unit("encoder.forwards", "enc")
    | name_gated_unit("encoder.backwards", "back_enc")
    | {
        "decoder.alignment.W_a": "B_dec_transition_0",
        "decoder.alignment.U_a": "A_dec_transition_0",
        "decoder.alignment.v_a": "D_dec_transition_0",
    },
    "grconv": {
        "encoder.U": "W_0_enc_input_embdr_0",
        "encoder.b_U": "b_0_enc_input_embdr_0",
        # the nodes are moved by one before U is applied, so U belongs to the left child
        "encoder.W_l": "U_enc_transition_0",
        "encoder.W_r": "W_enc_transition_0",
        "encoder.b": "b_enc_transition_0",
        "encoder.G_l": "GU_enc_transition_0",
        "encoder.G_r": "GW_enc_transition_0",
        "encoder.b_g": "Gb_enc_transition_0",
    },
}


def list_names(model_type: str, output_layer: str) -> dict[str, str]:
    """Return GroundHog's name of each weight of a model here."""
    return EMBEDDINGS_AND_DECODER | OUTPUT_LAYERS[output_layer] | ENCODERS[model_type]


def load_numbers(model_type: str, output_layer: str) -> dict[str, NDArray[Any]]:
    """Return the numbers of a model by name."""
    with np.load(NUMBERS / f"{model_type}-{output_layer}.npz") as file:
        return dict(file)


def exchange_ids(ids: NDArray[np.integer], id_count: int = ID_COUNT) -> NDArray[np.integer]:
    """Return the ids here for GroundHog's, or the reverse. The end symbol is 0 here, and there it is the last id.

    There, 0 belongs to no word.
    """
    exchanged = ids.copy()
    exchanged[ids == id_count - 1] = END
    exchanged[ids == END] = id_count - 1
    return exchanged


def take(numbers: Arrays, kind: str, model_type: str, output_layer: str) -> dict[str, Tensor]:
    """Return GroundHog's tensors of a kind under the names of the model here, with the ids here.

    `numbers` are arrays by name: the kind, such as `gradient`, a slash, and GroundHog's name of the weight.
    """
    tensors = {}
    for ours, theirs in list_names(model_type, output_layer).items():
        array = numbers[f"{kind}/{theirs}"]
        if ours.endswith("embedding.E"):
            array = array[exchange_ids(np.arange(len(array)), len(array))]
        elif ours in ("readout.W_o", "readout.b_o"):
            array = array[..., exchange_ids(np.arange(array.shape[-1]), array.shape[-1])]
        elif ours.endswith("v_a"):
            array = array[:, 0]
        tensors[ours] = torch.from_numpy(np.ascontiguousarray(array))
    return tensors


def build_same_model(
    numbers: Arrays, model_type: ModelTypeName, output_layer: str, kind: str = "weight"
) -> EncoderDecoder:
    """Return the fast model with GroundHog's weights, in float32."""
    weights = take(numbers, kind, model_type, output_layer)
    kind_of_settings = MODEL_TYPES[model_type].architecture
    state_size = len(weights["decoder.W_s"])
    settings: dict[str, object] = OF_CLASS[kind_of_settings] | {
        "hidden_units": state_size,
        "embedding_size": weights["target_embedding.E"].shape[1],
        "maxout_units": state_size // 2,
        "unused_ids": 1,
        "source_eos": True,
        "step_order": "groundhog",
        "output_layer": output_layer,
    }
    if model_type == "rnnsearch":
        settings["alignment_units"] = state_size
    architecture = kind_of_settings.model_validate(settings)
    sizes = len(weights["source_embedding.E"]) - 1, len(weights["target_embedding.E"]) - 1
    model = model_types.build_model(model_type, architecture, sizes)
    model.load_state_dict(weights)
    return model


def build_same_reference(numbers: Arrays, model_type: ModelTypeName, output_layer: str) -> Any:
    """Return the textbook version with GroundHog's weights, in float64, whose gradients can be computed."""
    model = build_same_model(numbers, model_type, output_layer)
    weights = {name: weight.detach().double().requires_grad_() for name, weight in model.named_parameters()}
    return getattr(reference, type(model).__name__)(weights, model.architecture)


def list_pairs(numbers: Arrays, prefix: str = "") -> list[tuple[list[int], list[int]]]:
    """Return the pairs of a padded batch of GroundHog's, as ids here and with end symbols."""
    sides = []
    for side in ("x", "y"):
        ids = exchange_ids(numbers[prefix + side])  # (steps, B)
        mask = numbers[f"{prefix}{side}_mask"] > 0
        sides.append([ids[mask[:, column], column].tolist() for column in range(ids.shape[1])])
    return list(zip(*sides, strict=True))


def relative_difference(ours: Tensor, theirs: Tensor) -> float:
    """Return the L2 norm of the difference of two tensors, divided by the norm of the second one; 0 if they are equal.

    Equal tensors may be 0, as the first changes of W_a and U_a are: their gradient is 0 while v_a is.
    """
    if torch.equal(ours, theirs):
        return 0.0
    return float((ours.double() - theirs.double()).norm() / theirs.double().norm())
