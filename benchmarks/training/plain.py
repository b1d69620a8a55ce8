"""The same RNNsearch as a textbook would train it: plain loop, torch's cross-entropy, clipping and Adadelta."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchmarks.plain_loop import total_nll
from benchmarks.training import precision
from benchmarks.training.project import settings
from benchmarks.training.sentences import Words
from benchmarks.training.sizes import Machine, Sizes
from nmt.data.vocabulary import END
from nmt.model import families


class Plain:
    """RNNsearch, step by step under autograd, with dense gradients of the embeddings."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        architecture, training = settings("rnnsearch", 1, sizes, machine)
        torch.set_num_threads(machine.threads)
        precision.choose(machine)
        self.machine = machine
        self.device = torch.device(machine.device)
        model = families.create("rnnsearch", architecture, (sizes.vocabulary, sizes.vocabulary), seed=1)
        self.weights = {
            name: nn.Parameter(weight.to(self.device)) for name, weight in model.state_dict().items()
        }
        self.parameters = sum(weight.numel() for weight in self.weights.values())
        self.clip_norm = training.clip_norm
        self.optimizer = torch.optim.Adadelta(
            self.weights.values(), lr=training.learning_rate, rho=training.rho, eps=training.epsilon
        )

    def batch(self, source: Words, target: Words) -> tuple[Tensor, Tensor]:
        """Words with end symbols, (S, B) and (T, B)."""
        return with_end(source), with_end(target)

    def update(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """One step of SGD; the NLL of the batch in nats."""
        source, target = (side.to(self.device) for side in batch)
        self.optimizer.zero_grad()
        with precision.autocast(self.machine):
            nll = total_nll(self.weights, source, target)
        nll.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.weights.values(), self.clip_norm)
        self.optimizer.step()
        return nll.detach()


def with_end(words: Words) -> Tensor:
    """(B, length - 1) -> (length, B), the end symbol last."""
    return nn.functional.pad(torch.from_numpy(words).t(), (0, 0, 0, 1), value=END)
