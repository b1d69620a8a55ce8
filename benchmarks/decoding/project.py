"""The project's beam search as in `nmt test-set decode`, with the settings of `config.yaml`."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
import yaml

from benchmarks.training import project
from benchmarks.training.sizes import Machine, Sizes
from nmt.backend.device import keep_freed_memory, make_deterministic
from nmt.backend.products import Backend, Precision, choose_products, refuse_unable
from nmt.cli.model import FREQUENT, LIKELY
from nmt.data.batches import pad_pairs
from nmt.data.vocabulary import END
from nmt.decoding.beam_search import translate
from nmt.decoding.shortlist import Shortlist
from nmt.model import families
from nmt.settings.decoding import Decoding


class Search:
    """Translates with RNNsearch. A precision such as `int8-shortlist` also limits the words to a shortlist."""

    def __init__(self, sizes: Sizes, machine: Machine) -> None:
        precision, _, limited = machine.precision.partition("-")
        used = cast(Precision, precision)
        self.shortlist = drawn(sizes.vocabulary) if limited else None
        self.device = torch.device(machine.device)
        refuse_unable(used, self.device)
        architecture, _ = project.settings("rnnsearch", 1, sizes, Machine(machine.device))
        make_deterministic(machine.threads)
        keep_freed_memory()
        vocabularies = (sizes.vocabulary, sizes.vocabulary)
        self.model = families.create("rnnsearch", architecture, vocabularies, seed=1).to(self.device).eval()
        self.model.use(Backend(used, choose_products(self.device)))
        with torch.no_grad():
            self.model.readout.b_o[END] = -1e9  # no sentence ends
        self.parameters = sum(weight.numel() for weight in self.model.parameters())
        self.decoding = yaml.safe_load(project.DEFAULTS.read_text(encoding="utf-8"))["decoding"]

    @torch.no_grad()
    def decode(self, sentences: list[list[int]], beam: int, steps: int) -> list[int]:
        """Translate the sentences. Return the number of words written for each."""
        ids = [np.array(words, dtype=np.uint16) for words in sentences]
        batch = pad_pairs(ids, [ids[0][:0]] * len(ids), source_end=True).to(self.device)
        limits = {"max_length_factor": 1, "unfinished": "best", "n_best": 1, "beam": beam}
        settings = Decoding.model_validate(self.decoding | limits)
        encoded = self.model.encode(batch.source, batch.source_mask)
        candidates = self.shortlist.candidates(batch.source) if self.shortlist else None
        found = translate(self.model, encoded, np.full(len(ids), steps - 1), settings, False, candidates)
        return [len(n_best[0].words) for n_best in found]


def drawn(vocabulary: int) -> Shortlist:
    """Return a shortlist whose likely words are drawn evenly. A batch has more of them than in real text."""
    rarer = min(FREQUENT, vocabulary - 1)
    likely = np.random.default_rng(3).integers(rarer, vocabulary, (vocabulary, LIKELY))
    likely[END] = END
    return Shortlist(torch.from_numpy(likely), rarer, vocabulary)
