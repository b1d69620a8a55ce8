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

from benchmarks.task import SPECIAL_COUNT, Sizes, WordIds

UNK, PAD, BOS, EOS = range(SPECIAL_COUNT)


class Training:
    """Trains a bidirectional GRU encoder with n units per direction, and a GRU decoder with n units and attention."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        logging.getLogger("joeynmt").setLevel(logging.WARNING)
        torch.manual_seed(1)
        torch.set_num_threads(sizes.threads)
        vocabulary = make_vocabulary(sizes.vocabulary)
        self.model = build_model(make_configuration(sizes), vocabulary, vocabulary)
        self.model.loss_function = ("crossentropy", 0.0)
        self.clip = build_gradient_clipper({"clip_grad_val": None, "clip_grad_norm": 1.0})
        self.optimizer = build_optimizer(
            {"optimizer": "adadelta", "learning_rate": 1.0}, self.model.parameters()
        )
        for group in self.optimizer.param_groups:  # JoeyNMT has no option for it, and torch's default is 0.9
            group["rho"] = 0.95
        self.model.zero_grad()

    def make_batch(self, source: WordIds, target: WordIds) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the symbols as JoeyNMT's data sets do: EOS to sources, BOS and EOS to targets."""
        pad = torch.nn.functional.pad
        source_with_eos = pad(torch.from_numpy(source), (0, 1), value=EOS)
        target_with_eos = pad(torch.from_numpy(target), (0, 1), value=EOS)
        return source_with_eos, pad(target_with_eos, (1, 0), value=BOS)

    def update(self, sides: tuple[torch.Tensor, torch.Tensor]) -> float:
        """Make one step as JoeyNMT's trainer does. Return the NLL of the batch in nats."""
        # 1. loss and gradients
        source, target = sides
        batch = make_joeynmt_batch(source, torch.full((len(source),), source.shape[1]), target)
        self.model.train()
        batch.sort_by_src_length()
        loss, _, _, correct_words = self.model(return_type="loss", **vars(batch))
        cost = batch.normalize(loss, normalization="none")
        correct_words = batch.normalize(correct_words, "sum")
        cost.backward()

        # 2. the trainer reads the number of correct words, too, which takes time
        nll = cost.item()
        correct_words.item()

        # 3. new weights
        self.clip(parameters=self.model.parameters())
        self.optimizer.step()
        self.model.zero_grad()
        return float(nll)


class Search(Training):
    """Runs JoeyNMT's greedy search at beam 1, and its beam search at larger beam sizes."""

    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the length of each translation in words."""
        # 1. sources with EOS, padded to the longest
        self.model.eval()
        lengths = torch.tensor([len(words) + 1 for words in sentences])
        source = torch.full((len(sentences), int(lengths.max())), PAD)
        for row, words in enumerate(sentences):
            source[row, : len(words) + 1] = torch.tensor([*words, EOS])

        # 2. Translations have the maximum length: only longer ones may end with EOS.
        batch = make_joeynmt_batch(source, lengths)
        batch.sort_by_src_length()
        translations, _, _ = search(
            self.model,
            batch,
            max_output_length=steps,
            beam_size=beam,
            beam_alpha=-1,
            min_output_length=steps + 1,
        )
        return [len(words) for words in translations]


def make_joeynmt_batch(
    source: torch.Tensor, source_lengths: torch.Tensor, target: torch.Tensor | None = None
) -> Batch:
    """Return JoeyNMT's batch of padded ids (sentences, positions); without a target it is for a search."""
    return Batch(
        src=source,
        src_length=source_lengths,
        src_prompt_mask=None,
        trg=target,
        trg_prompt_mask=None,
        indices=torch.arange(len(source)),
        device=torch.device("cpu"),
        pad_index=PAD,
        eos_index=EOS,
        is_train=target is not None,
    )


def make_vocabulary(size: int) -> Vocabulary:
    """Return a vocabulary with `size` ids, special symbols included."""
    specials = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
        unk_id=UNK, pad_id=PAD, bos_id=BOS, eos_id=EOS, sep_id=None, lang_tags=[],
    )  # fmt: skip
    return Vocabulary([str(number) for number in range(SPECIAL_COUNT, size)], specials)


def make_configuration(sizes: Sizes) -> dict[str, object]:
    """Return the section `model` of a JoeyNMT configuration."""
    settings_of_both_sides = {
        "type": "recurrent",
        "rnn_type": "gru",
        "hidden_size": sizes.hidden,
        "num_layers": 1,
        "dropout": 0.0,
        "embeddings": {"embedding_dim": sizes.embedding, "dropout": 0.0},
    }
    decoder_settings = {
        "attention": "bahdanau",
        "init_hidden": "bridge",
        "input_feeding": True,
        "hidden_dropout": 0.0,
    }
    return {
        "encoder": settings_of_both_sides | {"bidirectional": True},
        "decoder": settings_of_both_sides | decoder_settings,
    }
