"""JoeyNMT 2.3.0's search, `joeynmt.search.search`, on the model of `benchmarks.training.joeynmt`."""

from __future__ import annotations

import torch
from joeynmt.batch import Batch
from joeynmt.search import search

from benchmarks.training.joeynmt import EOS, PAD, JoeyNMT
from benchmarks.training.sizes import Machine, Sizes


class Search(JoeyNMT):
    """Runs JoeyNMT's greedy search at beam 1, and its beam search at larger beam sizes."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        super().__init__(sizes, machine)
        self.model.eval()

    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the number of words written for each."""
        lengths = torch.tensor([len(words) + 1 for words in sentences])
        source = torch.full((len(sentences), int(lengths.max())), PAD)
        for row, words in enumerate(sentences):
            source[row, : len(words) + 1] = torch.tensor([*words, EOS])
        batch = Batch(
            src=source, src_length=lengths, src_prompt_mask=None, trg=None, trg_prompt_mask=None,
            indices=torch.arange(len(sentences)), device=self.device, pad_index=PAD, eos_index=EOS, is_train=False,
        )  # fmt: skip
        batch.sort_by_src_length()
        output, _, _ = search(
            self.model, batch, max_output_length=steps, beam_size=beam, beam_alpha=-1, min_output_length=steps + 1
        )  # fmt: skip
        return [len(words) for words in output]
