"""JoeyNMT 2.3.0's update and search.

The update has its own batches, model, loss, clipping and optimizer, in the order of its trainer.
The module runs in the environment that `environment` makes, and imports nothing of `nmt`. The steps are those of
`joeynmt.training.TrainManager` (`_train_step` and `_train_epoch`), with `normalization: none` (the cost is the sum
over words, as in this project), `label_smoothing: 0`, no dropout and `fp16: False`.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace

import torch
from joeynmt.batch import Batch
from joeynmt.builders import build_gradient_clipper, build_optimizer
from joeynmt.model import build_model
from joeynmt.search import search
from joeynmt.vocabulary import Vocabulary

from benchmarks.task import SPECIALS, Sizes, Words

UNK, PAD, BOS, EOS = range(SPECIALS)


class Training:
    """Trains a bidirectional GRU encoder with n units per direction, and a GRU decoder with n units and attention."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        logging.getLogger("joeynmt").setLevel(logging.WARNING)
        torch.manual_seed(1)
        torch.set_num_threads(sizes.threads)
        words = vocabulary(sizes.vocabulary)
        self.model = build_model(configuration(sizes), words, words)
        self.model.loss_function = ("crossentropy", 0.0)
        self.parameters = sum(weight.numel() for weight in self.model.parameters())
        self.clip = build_gradient_clipper({"clip_grad_val": None, "clip_grad_norm": 1.0})
        self.optimizer = build_optimizer(
            {"optimizer": "adadelta", "learning_rate": 1.0}, self.model.parameters()
        )
        for group in self.optimizer.param_groups:  # JoeyNMT has no option for it, and torch's default is 0.9
            group["rho"] = 0.95
        self.model.zero_grad()

    def batch(self, source: Words, target: Words) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the symbols as JoeyNMT's data sets do: the end to sources, the begin and the end to targets."""
        sides = torch.from_numpy(source), torch.from_numpy(target)
        pad = torch.nn.functional.pad
        return pad(sides[0], (0, 1), value=EOS), pad(pad(sides[1], (1, 0), value=BOS), (0, 1), value=EOS)

    def update(self, batch: tuple[torch.Tensor, torch.Tensor]) -> float:
        """Make one step as its trainer does. Return the NLL of the batch in nats."""
        source, target = batch
        ready = Batch(
            src=source,
            src_length=torch.full((len(source),), source.shape[1]),
            src_prompt_mask=None,
            trg=target,
            trg_prompt_mask=None,
            indices=torch.arange(len(source)),
            device=torch.device("cpu"),
            pad_index=PAD,
            eos_index=EOS,
        )
        self.model.train()
        ready.sort_by_src_length()
        loss, _, _, correct = self.model(return_type="loss", **vars(ready))
        cost = ready.normalize(loss, normalization="none")
        correct = ready.normalize(correct, "sum")
        cost.backward()
        nll, _ = cost.item(), correct.item()
        self.clip(parameters=self.model.parameters())
        self.optimizer.step()
        self.model.zero_grad()
        return float(nll)


class Search(Training):
    """Runs JoeyNMT's greedy search at beam 1, and its beam search at larger beam sizes."""

    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the number of words written for each."""
        self.model.eval()
        lengths = torch.tensor([len(words) + 1 for words in sentences])
        source = torch.full((len(sentences), int(lengths.max())), PAD)
        for row, words in enumerate(sentences):
            source[row, : len(words) + 1] = torch.tensor([*words, EOS])
        batch = Batch(
            src=source, src_length=lengths, src_prompt_mask=None, trg=None, trg_prompt_mask=None,
            indices=torch.arange(len(sentences)), device=torch.device("cpu"), pad_index=PAD, eos_index=EOS,
            is_train=False,
        )  # fmt: skip
        batch.sort_by_src_length()
        output, _, _ = search(
            self.model, batch, max_output_length=steps, beam_size=beam, beam_alpha=-1, min_output_length=steps + 1
        )  # fmt: skip
        return [len(words) for words in output]


def vocabulary(size: int) -> Vocabulary:
    """Return a vocabulary with `size` ids, special symbols included."""
    specials = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
        unk_id=UNK, pad_id=PAD, bos_id=BOS, eos_id=EOS, sep_id=None, lang_tags=[],
    )  # fmt: skip
    words = Vocabulary([str(number) for number in range(SPECIALS, size)], specials)
    assert len(words) == size
    return words


def configuration(sizes: Sizes) -> dict[str, object]:
    """Return the section `model` of a JoeyNMT configuration."""

    def side(**more: object) -> dict[str, object]:
        embeddings = {"embedding_dim": sizes.embedding, "dropout": 0.0}
        shared = {"type": "recurrent", "rnn_type": "gru", "hidden_size": sizes.hidden, "num_layers": 1}
        return shared | {"dropout": 0.0, "embeddings": embeddings} | more

    return {
        "encoder": side(bidirectional=True),
        "decoder": side(attention="bahdanau", init_hidden="bridge", input_feeding=True, hidden_dropout=0.0),
    }
