"""The tree that a gated recursive convolution makes of a sentence (Cho et al. 2014b, Sec. 2.2 and Fig. 6)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nmt.data.vocabulary import END
from nmt.decoding.forced_decoding import Words, refuse_nan
from nmt.errors import UserError
from nmt.model.families.grconv import GrConv
from nmt.settings.families import TREE_MAKING
from nmt.store.trained_model import TrainedModel


@dataclass(frozen=True)
class Tree:
    """Leaves, with the end symbol as an empty word, and the gates [new, left child, right child] of each node above.

    `gates[t][j]` belongs to the node over the leaves j to j + t + 1; the last level has one node, the root.
    """

    leaves: list[str]
    gates: list[list[list[float]]]


def tree_of(model: TrainedModel, words: Words) -> Tree:
    """Return the tree over a sentence's words or subword units. The model reads unknown words as [UNK].

    Raises a `UserError` for a model of another family.
    """
    if not isinstance(model.network, GrConv):
        raise UserError(
            f"--model: {model.run.label} makes no trees; expected a model of the family {' or '.join(TREE_MAKING)}"
        )
    ends = model.run.architecture.source_end or not words
    ids = [*model.source.ids(words), *([END] if ends else [])]
    source = torch.tensor(ids, device=model.device)
    levels = [level.double().cpu() for level in model.network.gates(source)]
    for level in levels:
        refuse_nan(level, "tree")
    gates = [level.tolist() for level in levels]
    return Tree([*model.source.units(words), *([""] if ends else [])], gates)
