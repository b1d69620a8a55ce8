"""The project's own update as in `nmt train`, and its search as in `nmt test-set decode`, with the paper's settings."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
import yaml
from torch import Tensor

from benchmarks.contest import ROOT
from benchmarks.task import Sizes, Words
from nmt.backend.device import keep_freed_memory, make_deterministic
from nmt.backend.matmul import Backend, Precision, check_precision, choose_matmul_library
from nmt.cli.train import FREQUENT_WORDS, LIKELY_TRANSLATIONS
from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.decoding import beam_search
from nmt.decoding.shortlist import Shortlist
from nmt.model import model_types
from nmt.settings import training
from nmt.settings.decoding import Decoding
from nmt.settings.model_types import MODEL_TYPES, AnyArchitecture, ModelTypeName
from nmt.training.update import Updater

CPU = torch.device("cpu")
SUTSKEVERS = {"optimizer": "sgd", "learning_rate": 0.7, "decay_from_epoch": 1, "cost": "mean", "clip_norm": 5}
"""Settings for training a deep LSTM. Its learning rate falls early, so that checks include this."""


def paper() -> dict[str, Any]:
    """Return the settings that experiments start from, which are the paper's."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "workflow" / "defaults.yaml").read_text(encoding="utf-8"))
    return found


def settings(
    model_type: ModelTypeName, sizes: Sizes, units: int = 1, **changes: Any
) -> tuple[AnyArchitecture, training.Training]:
    """Return the paper's settings of a type in the contest's sizes. `units` multiplies hidden and maxout units."""
    shared = paper()["architecture"] | {
        "hidden_units": units * sizes.hidden,
        "embedding_size": sizes.embedding,
        "maxout_units": units * sizes.maxout,
        "alignment_units": units * sizes.hidden,
    }
    kind = MODEL_TYPES[model_type].architecture
    architecture = kind.model_validate({key: shared[key] for key in kind.model_fields if key in shared})
    values = paper()["training"] | (SUTSKEVERS if model_type == "lstm" else {})
    values |= {"batch_size": sizes.batch, "device": "cpu", "threads": sizes.threads, **changes}
    return architecture, training.Training.model_validate(values)


class Contender:
    """A model with random weights: `rnnsearch` or `rnnencdec`."""

    def __init__(self, name: str, sizes: Sizes, precision: Precision = "fp32") -> None:
        model_type = cast(ModelTypeName, name.partition("-")[0])
        architecture, self.training = settings(model_type, sizes)
        make_deterministic(sizes.threads)
        keep_freed_memory()
        self.model = model_types.create_model(model_type, architecture, (sizes.vocabulary,) * 2, seed=1)
        self.model.use_backend(Backend(precision, choose_matmul_library(CPU)))
        self.parameters = sum(weight.numel() for weight in self.model.parameters())


class Training(Contender):
    """Makes the trainer's updates."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        super().__init__(name, sizes)
        self.updater = Updater(self.model, self.training)

    def batch(self, source: Words, target: Words) -> Batch:
        """Return a batch with end symbols."""
        return pad_pairs(list(source.astype(np.uint16)), list(target.astype(np.uint16)), source_eos=True)

    def update(self, batch: Batch) -> Tensor:
        """Change the weights. Return the NLL of the batch in nats."""
        self.updater.statistics.zero_()
        self.updater(batch)
        return self.updater.statistics[0]


class Search(Contender):
    """Translates. A name such as `rnnsearch-int8-shortlist` tells the precision, and limits words to a shortlist."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        _, precision, limited = f"{name}--".split("-")[:3]
        used = cast(Precision, precision or "fp32")
        check_precision(used, CPU)
        super().__init__(name, sizes, used)
        self.shortlist = drawn(sizes.vocabulary) if limited else None
        self.model.eval()
        with torch.no_grad():
            self.model.readout.b_o[END] = -1e9  # no sentence ends
        self.decoding = paper()["decoding"]

    @torch.no_grad()
    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the number of words written for each."""
        ids = [np.array(words, dtype=np.uint16) for words in sentences]
        batch = pad_pairs(ids, [ids[0][:0]] * len(ids), source_eos=True)
        limits = {"max_length_factor": 1, "if_no_eos": "best", "n_best": 1, "beam": beam}
        used = Decoding.model_validate(self.decoding | limits)
        encoded = self.model.encode(batch.source, batch.source_lengths)
        candidates = self.shortlist.candidates(batch.source) if self.shortlist else None
        found = beam_search.search(self.model, encoded, np.full(len(ids), steps - 1), used, False, candidates)
        return [len(n_best[0].ids) for n_best in found]


def drawn(vocabulary: int) -> Shortlist:
    """Return a shortlist whose likely words are drawn evenly. A batch has more of them than in real text."""
    rarer = min(FREQUENT_WORDS, vocabulary - 1)
    likely = np.random.default_rng(3).integers(rarer, vocabulary, (vocabulary, LIKELY_TRANSLATIONS))
    likely[END] = END
    return Shortlist(torch.from_numpy(likely), rarer, vocabulary)
