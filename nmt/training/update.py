"""One update: cost, gradient, clipping, step (paper, Sec. 4.2 and App. B.2).

On a GPU, the host does not wait for the result of an update. The cost and the norm of the gradient are summed on the
device, and the host reads the sums when it reports or saves something. Updates are replayed as CUDA graphs
(`nmt.training.cuda_graphs`), for which batches are padded to few shapes (`length_bucket` of `pad_pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.training import Training
from nmt.training.cuda_graphs import GraphedUpdates
from nmt.training.optimizers import (
    make_gradients_dense,
    make_optimizer,
    measure_gradient,
    replace_nonfinite_gradients,
    schedule_learning_rate,
)


@dataclass(frozen=True)
class UpdateStatistics:
    """Sums over updates.

    nll, gradient_norm: sums over the updates with a finite gradient; the NLL is in nats.
    clipped_updates, nonfinite_updates: numbers of updates whose gradient was clipped, or was not finite.
    """

    nll: float
    gradient_norm: float
    clipped_updates: int
    nonfinite_updates: int


class Updater:
    """A model, its optimizer, and the statistics of its updates.

    statistics: the sums on the model's device, (4,) float64, in the order of `UpdateStatistics`. Whoever reports them
    sets them to 0. They are part of a run's state, so that they are equal for an interrupted and an unbroken run.

    length_bucket: on a GPU, batches are padded to a multiple of this many words, so that they have few shapes. Padding
    is then computed, too. None on a CPU, where padding is left out.
    """

    def __init__(self, model: EncoderDecoder, training: Training) -> None:
        self.model, self.training_settings = model, training
        self.optimizer = make_optimizer(model, training, model.backend.fuse)
        self.device = next(model.parameters()).device
        self.statistics = torch.zeros(4, dtype=torch.float64, device=self.device)  # as in UpdateStatistics
        self.length_bucket: int | None = None
        self.cuda_graphs: GraphedUpdates | None = None
        if self.device.type == "cuda":
            self.length_bucket = training.length_bucket
            self.cuda_graphs = GraphedUpdates(self._update, self.device, training.cuda_graph_max_words)

    def __call__(self, batch: Batch, epoch: float = 0.0) -> None:
        """Make one step of the optimizer. `epoch`: passes over the text so far, which decide the learning rate."""
        learning_rate = schedule_learning_rate(self.training_settings, epoch)
        if self.optimizer.learning_rate != learning_rate:
            self.optimizer.learning_rate = learning_rate
            if self.cuda_graphs is not None:
                self.cuda_graphs.reset()

        if self.cuda_graphs is not None:
            self.cuda_graphs(batch)
        else:
            self._update(batch)

    def preallocate(self, max_length: int) -> None:
        """On a GPU, allocate the memory for pairs of up to this number of words, so that a lack of memory shows now."""
        if self.cuda_graphs is None:
            return

        # 1. hold as much memory as the first step of Adadelta or Adam will allocate: two averages of each weight
        averages = []
        if self.training_settings.optimizer != "sgd" and not self.optimizer.state:
            for weight in self.model.parameters():
                averages += [torch.empty_like(weight), torch.empty_like(weight)]

        # 2. run the largest batch, and the largest that may be captured as a graph
        batches = [self._make_batch(max_length)]
        if self.training_settings.cuda_graph_max_words is not None:
            length_bucket = self.training_settings.length_bucket
            captured_length = self.training_settings.cuda_graph_max_words // length_bucket * length_bucket
            if 0 < captured_length < max_length:
                batches.append(self._make_batch(captured_length))
        self.cuda_graphs.preallocate(self._compute_gradients, batches)

        # 3. give the memory back to the allocator
        self.optimizer.zero_grad()
        averages.clear()

    def _make_batch(self, length: int) -> Batch:
        """Return a batch of the training's size whose sentences all have this number of words."""
        sentences = [np.full(length, END)] * self.training_settings.batch_size
        return pad_pairs(
            sentences, sentences, self.model.architecture.source_eos, self.length_bucket
        ).pin_memory()

    def _compute_gradients(self, batch: Batch) -> Tensor:
        """Compute the gradients of the weights, and return the NLL, a scalar."""
        self.optimizer.zero_grad()
        # On a GPU, CUDA graphs need shapes that do not depend on the number of words without padding.
        nll = self.model.total_nll(batch, include_padding=self.length_bucket is not None)
        cost = nll if self.training_settings.cost == "sum" else nll / len(batch)
        cost.backward()  # type: ignore[no-untyped-call]
        if self.training_settings.optimizer == "adam":
            make_gradients_dense(self.model.parameters())
        return nll

    def _update(self, batch: Batch) -> None:
        """Make one step of the optimizer, and add its values to the statistics, without waiting for the device."""
        weights = list(self.model.parameters())
        nll = self._compute_gradients(batch)
        norm, scale = measure_gradient(weights, self.training_settings.clip_norm)
        self._add_statistics(nll.detach(), norm)
        # GroundHog, the code of the paper's authors, replaces gradients that are not finite
        if self.training_settings.not_finite == "groundhog":
            replace_nonfinite_gradients(weights, norm)
        self.optimizer.step(scale)

    def _add_statistics(self, nll: Tensor, norm: Tensor) -> None:
        """Add an update's NLL and gradient norm, both scalars, to the statistics."""
        is_finite = norm.isfinite()
        is_clipped = is_finite & (norm > self.training_settings.clip_norm)
        finite_nll = torch.where(is_finite, nll, 0.0)
        finite_norm = torch.where(is_finite, norm, 0.0)
        values = (finite_nll, finite_norm, is_clipped, ~is_finite)
        self.statistics += torch.stack([value.to(self.statistics) for value in values])

    def read_statistics(self) -> UpdateStatistics:
        """Return the statistics so far, after waiting for the device."""
        nll, norm, clipped_updates, nonfinite_updates = self.statistics.tolist()
        return UpdateStatistics(nll, norm, int(clipped_updates), int(nonfinite_updates))
