"""Development score of a model: mean NLL per sentence in nats, as in Table 2, or BLEU."""

from __future__ import annotations

import torch

from nmt.data.batches import Batch, Indices, evaluation_batches
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END, UNKNOWN, Vocabulary
from nmt.decoding import beam_search
from nmt.decoding.forced_decoding import compute_word_log_probabilities
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.decoding import SearchSettings

GREEDY_SEARCH = SearchSettings(
    beam=1,
    normalize_by_length=False,
    min_length="half",
    max_length_factor=3,
    if_no_eos="best",
    max_beam=1,
    unknown="allowed",
    n_best=1,
)
"""Settings of the search in a validation: the authors' rules with beam size 1."""


def compute_sentence_nlls(model: EncoderDecoder, batch: Batch) -> torch.Tensor:
    """Return -log p(target | source) of each pair in nats, EOS included: (B,), float64."""
    encoded = model.encode(batch.source, batch.source_lengths)
    log_probabilities, _ = compute_word_log_probabilities(model, encoded, batch, keep_attention=False)

    # The positions of the target words are step * B + sentence.
    sentences = batch.positions % len(batch)
    nlls = log_probabilities.new_zeros(len(batch))
    return nlls.index_add_(0, sentences, log_probabilities, alpha=-1)


@torch.no_grad()
def compute_mean_nll(model: EncoderDecoder, bitext: Bitext, rows: Indices, batch_size: int) -> float:
    """Return the mean NLL per sentence, in nats, over the pairs at `rows`."""
    device = next(model.parameters()).device
    total_nll = torch.zeros((), dtype=torch.float64, device=device)
    for batch in evaluation_batches(bitext, rows, batch_size, model.architecture.source_eos):
        total_nll += compute_sentence_nlls(model, batch.to(device)).sum()
    return float(total_nll) / len(rows)


@torch.no_grad()
def compute_greedy_bleu(
    model: EncoderDecoder, bitext: Bitext, rows: Indices, batch_size: int, target_vocabulary: Vocabulary
) -> float:
    """Return the BLEU (0 to 100) of greedy translations of the pairs at `rows`.

    BLEU is measured on words, also for a model of subword units. Unknown words are never correct.
    """
    from nmt.evaluation.bleu import multi_bleu  # translating needs this module too, but no BLEU

    device = next(model.parameters()).device
    hypotheses, references = list[str](), list[str]()
    source_eos = model.architecture.source_eos
    for batch in evaluation_batches(bitext, rows, batch_size, source_eos):
        # 1. the best translation of each source
        encoded = model.encode(batch.source.to(device), batch.source_lengths.to(device))
        source_lengths = batch.source_lengths.numpy() - (1 if source_eos else 0)
        n_best_lists = beam_search.search(model, encoded, source_lengths, GREEDY_SEARCH, forbid_unknown=False)
        for n_best_list in n_best_lists:
            hypotheses.append(" ".join(target_vocabulary.words(n_best_list[0].ids)))

        # 2. the references, with EOS in place of [UNK]: translations never contain EOS, so unknown words are wrong
        targets = torch.where(batch.target == UNKNOWN, END, batch.target)
        for ids, length in zip(targets.t().tolist(), batch.target_lengths.tolist(), strict=True):
            references.append(" ".join(target_vocabulary.words(ids[: length - 1])))
    return float(multi_bleu().corpus_score(hypotheses, [references]).score)
