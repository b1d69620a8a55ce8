"""Development score of a model: mean NLL per sentence in nats, as in Table 2, or BLEU."""

from __future__ import annotations

import numpy as np
import torch

from nmt.data.batches import Batch, Indices, evaluation_batches, make_batch, sort_by_length
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END, UNKNOWN, Vocabulary
from nmt.decoding import beam_search
from nmt.decoding.forced_decoding import word_log_probabilities
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.decoding import Decoding

GREEDY_SEARCH = Decoding(
    beam=1,
    normalize_by_length=False,
    min_length="half",
    max_length_factor=3,
    if_no_eos="best",
    max_beam=1,
    unknown="allowed",
    n_best=1,
    batch_size=1,
    device="auto",
    threads=1,
)
"""Settings of the search in a validation: the authors' rules with beam size 1. The caller sets batches and device."""


def compute_sentence_nlls(model: EncoderDecoder, batch: Batch) -> torch.Tensor:
    """Return -log p(target | source) of each pair in nats, the end symbol included: (B,), float64."""
    encoded = model.encode(batch.source, batch.source_lengths)
    found, _ = word_log_probabilities(model, encoded, batch, attention=False)
    return found.new_zeros(len(batch)).index_add_(0, batch.positions % len(batch), found, alpha=-1)


@torch.no_grad()
def compute_mean_nll(model: EncoderDecoder, bitext: Bitext, rows: Indices, batch_size: int) -> float:
    """Return the mean NLL per sentence, in nats, over the pairs at `rows`."""
    device = next(model.parameters()).device
    total = torch.zeros((), dtype=torch.float64, device=device)
    for batch in evaluation_batches(bitext, rows, batch_size, model.architecture.source_eos):
        total += compute_sentence_nlls(model, batch.to(device)).sum()
    return float(total) / len(rows)


@torch.no_grad()
def compute_greedy_bleu(
    model: EncoderDecoder, bitext: Bitext, rows: Indices, batch_size: int, target: Vocabulary
) -> float:
    """Return the BLEU (0 to 100) of greedy translations of the pairs at `rows`: of words, also with subword units.

    Unknown words are never correct.
    """
    from nmt.evaluation.bleu import multi_bleu  # translating needs this module too, but no BLEU

    device = next(model.parameters()).device
    hypotheses, references = list[str](), list[str]()
    ordered = sort_by_length(bitext, rows)
    for start in range(0, len(ordered), batch_size):
        group = ordered[start : start + batch_size]
        batch = make_batch(bitext, group, model.architecture.source_eos).to(device)
        lengths = np.array([len(bitext.source(row)) for row in group])
        encoded = model.encode(batch.source, batch.source_lengths)
        found = beam_search.search(model, encoded, lengths, GREEDY_SEARCH, forbid_unknown=False)
        hypotheses += [" ".join(target.words(best[0].ids)) for best in found]
        # no translation contains an end symbol
        known_words = ([END if word == UNKNOWN else word for word in bitext.target(row)] for row in group)
        references += [" ".join(target.words(ids)) for ids in known_words]
    return float(multi_bleu().corpus_score(hypotheses, [references]).score)
