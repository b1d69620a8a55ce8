"""One update: cost, gradient, clipping, step (paper, Sec. 4.2 and App. B.2).

On a GPU, the host does not wait for the result of an update. Its cost and the norm of its gradient are added up on the
device, and the host reads the sums when it reports or saves something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nmt.backend.cuda_graphs import GraphedUpdates
from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.training import Training
from nmt.training.optimizers import clip, descend, make_optimizer, rate_at, replace_not_finite, set_rate


@dataclass(frozen=True)
class Sums:
    """Sums over updates: NLL in nats and gradient norms (finite ones), numbers of clipped and not finite gradients."""

    nll: float
    norm: float
    clipped: int
    not_finite: int


class Updater:
    """A model, its optimizer, and the sums of its updates.

    sums: (4,) float64 on the model's device, in the order of `Sums`. The reader of the sums resets them to 0. They are
    part of a run's state, so that they are equal for an interrupted and an uninterrupted run.
    """

    def __init__(self, model: EncoderDecoder, training: Training) -> None:
        self.model, self.training = model, training
        self.optimizer = make_optimizer(model, training, model.backend.fuse)
        self.device = next(model.parameters()).device
        self.sums = torch.zeros(4, dtype=torch.float64, device=self.device)
        # sparse gradients cost nothing for words that a batch lacks, but the host of a GPU would wait to know which
        for embedding in (model.source_embedding, model.target_embedding):
            embedding.sparse = training.optimizer != "adam" and self.device.type == "cpu"
        on_gpu, longest = self.device.type == "cuda", training.recorded_words
        self.graphs = GraphedUpdates(self._descend, self.device, longest) if on_gpu else None

    def __call__(self, batch: Batch, epoch: float = 0.0) -> None:
        """Make one step of the optimizer, after a number of epochs."""
        if set_rate(self.optimizer, rate_at(self.training, epoch)) and self.graphs:
            self.graphs.reset()
        (self.graphs or self._descend)(batch)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the last update."""
        return float(self.optimizer.param_groups[0]["lr"])

    def prepare(self, batch: Batch) -> Batch:
        """Convert a batch on the host to the form that a GPU takes."""
        return batch.in_bucket(self.training.length_bucket).pinned()

    def preallocate(self, longest: int) -> None:
        """On a GPU, allocate the memory for pairs of up to this number of words, or fail now. Nothing else changes."""
        if self.graphs is None:
            return
        # what the first step will add to the weights
        averages = 0 if self.optimizer.state or self.training.optimizer == "sgd" else 2
        held = [torch.empty_like(weight) for weight in self.model.parameters() for _ in range(averages)]
        bucket, limit = self.training.length_bucket, self.training.recorded_words
        recorded = longest if limit is None else limit // bucket * bucket
        lengths = [longest, *([recorded] if 0 < recorded < longest else [])]
        self.graphs.preallocate(self._gradient, [self._of_length(words) for words in lengths])
        self.optimizer.zero_grad(set_to_none=True)
        held.clear()

    def _of_length(self, words: int) -> Batch:
        ids = [np.full(words, END)] * self.training.batch_size
        return self.prepare(pad_pairs(ids, ids, self.model.architecture.source_end))

    def _gradient(self, batch: Batch) -> Tensor:
        """Compute the gradients of the weights, and return the NLL."""
        self.optimizer.zero_grad(set_to_none=True)
        nll = self.model.total_nll(*batch.inputs())
        cost = nll if self.training.cost == "sum" else nll / len(batch)
        cost.backward()  # type: ignore[no-untyped-call]
        return nll

    def _descend(self, batch: Batch) -> None:
        parameters = list(self.model.parameters())
        nll = self._gradient(batch)
        norm, scale = clip(parameters, self.training.clip_norm)
        self._count(nll.detach(), norm)
        if self.training.not_finite == "groundhog":
            replace_not_finite(parameters, norm)
        descend(self.optimizer, scale)

    def _count(self, nll: Tensor, norm: Tensor) -> None:
        finite = norm.isfinite()
        clipped = finite & (norm > self.training.clip_norm)
        seen = [torch.where(finite, value, 0.0) for value in (nll, norm)]
        self.sums += torch.stack([part.to(self.sums) for part in (*seen, clipped, ~finite)])

    def read(self) -> Sums:
        """Return the sums so far, after waiting for the device."""
        nll, norm, clipped, not_finite = self.sums.tolist()
        return Sums(nll, norm, int(clipped), int(not_finite))
