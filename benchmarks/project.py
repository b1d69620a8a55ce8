"""The project's own update as in `nmt train`, and its search as in `nmt test-set decode`, with the paper's settings."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from benchmarks.task import Sizes, WordIds
from nmt.backend.device import keep_freed_memory, make_deterministic
from nmt.backend.matmul import Backend, Precision, check_precision, choose_matmul_library
from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.decoding import beam_search
from nmt.model import model_types
from nmt.settings import training
from nmt.settings.decoding import Decoding
from nmt.settings.model_types import MODEL_TYPES, AnyArchitecture, ModelTypeName
from nmt.settings.paper import PAPER
from nmt.training.update import Updater

CPU = torch.device("cpu")
SUTSKEVER_TRAINING = {
    "optimizer": "sgd",
    "learning_rate": 0.7,
    "decay_from_epoch": 1,
    "cost": "mean",
    "clip_norm": 5,
}
"""Settings for training a deep LSTM. Its learning rate falls early, so that checks include this."""


PRECISIONS: dict[str, Precision] = {
    "rnnsearch": "fp32",
    "rnnsearch-bf16": "bf16",
    "rnnsearch-int8": "int8",
}
"""The project's contenders that translate."""


def make_settings(
    model_type: ModelTypeName, sizes: Sizes, units_factor: int = 1, **changes: Any
) -> tuple[AnyArchitecture, training.Training]:
    """Return a model type's architecture and training: the paper's settings in the contest's sizes.

    Args:
        model_type: which of the project's models.
        sizes: the sizes of the contest.
        units_factor: multiplies hidden, maxout and alignment units.
        changes: other settings of the training.
    """
    defaults = PAPER["run"]
    sized_architecture = defaults["architecture"] | {
        "hidden_units": units_factor * sizes.hidden,
        "embedding_size": sizes.embedding,
        "maxout_units": units_factor * sizes.maxout,
        "alignment_units": units_factor * sizes.hidden,
    }
    architecture_class = MODEL_TYPES[model_type].architecture

    # a model type has only some of these keys
    known_keys = architecture_class.model_fields.keys() & sized_architecture.keys()
    architecture = architecture_class.model_validate({key: sized_architecture[key] for key in known_keys})

    training_settings = defaults["training"] | (SUTSKEVER_TRAINING if model_type == "lstm" else {})
    training_settings |= {"batch_size": sizes.batch, "device": "cpu", "threads": sizes.threads, **changes}
    return architecture, training.Training.model_validate(training_settings)


class Contender:
    """A model with random weights: `rnnsearch` or `rnnencdec`."""

    def __init__(self, name: str, sizes: Sizes, precision: Precision = "fp32") -> None:
        model_type = cast(ModelTypeName, name.split("-")[0])
        architecture, self.training = make_settings(model_type, sizes)

        # as in `nmt train`
        make_deterministic(sizes.threads)
        keep_freed_memory()
        vocabulary_sizes = (sizes.vocabulary, sizes.vocabulary)
        self.model = model_types.create_model(model_type, architecture, vocabulary_sizes, seed=1)
        self.model.use_backend(Backend(precision, choose_matmul_library(CPU)))


class Training(Contender):
    """Makes the trainer's updates."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        super().__init__(name, sizes)
        self.updater = Updater(self.model, self.training)

    def make_batch(self, source: WordIds, target: WordIds) -> Batch:
        """Return a batch with end symbols."""
        return pad_pairs(list(source.astype(np.uint16)), list(target.astype(np.uint16)), source_eos=True)

    def update(self, batch: Batch) -> Tensor:
        """Change the weights. Return the NLL of the batch in nats."""
        self.updater.statistics.zero_()
        self.updater(batch)
        return self.updater.statistics[0]


class Search(Contender):
    """Translates in the precision of the contender (`PRECISIONS`)."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        precision = PRECISIONS[name]
        check_precision(precision, CPU)
        super().__init__(name, sizes, precision)
        self.model.eval()
        with torch.no_grad():
            self.model.readout.b_o[END] = -1e9  # no sentence ends
        self.decoding = PAPER["text"]["decoding"]

    @torch.no_grad()
    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the length of each translation in words."""
        sources = [np.array(words, dtype=np.uint16) for words in sentences]
        no_words = sources[0][:0]
        batch = pad_pairs(sources, [no_words] * len(sources), source_eos=True)
        changes = {"max_length_factor": 1, "if_no_eos": "best", "n_best": 1, "beam": beam}
        n_best_lists = beam_search.search(
            model=self.model,
            encoded=self.model.encode(batch.source, batch.source_lengths),
            source_lengths=np.full(len(sources), steps - 1),
            decoding=Decoding.model_validate(self.decoding | changes),
            forbid_unknown=False,
        )
        return [len(n_best[0].ids) for n_best in n_best_lists]
