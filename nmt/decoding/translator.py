"""Translation of text, from lines to lines: for `nmt translate`, `nmt test-set decode` and Python.

Text is tokenized as in the model's training, lines are split into pieces that are not too long, and pieces of similar
length are searched together. The ids, scores and attention that the search returns for the pieces of a line become one
`Translation`. Lines are independent of each other: their grouping only changes the time (and, in 32 bits, the
last digits).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from nmt.data.batches import map_in_batches
from nmt.data.tokenization import RawText, TextCodec, TokenText
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.decoding import beam_search
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.forced_decoding import WordScores, to_word_scores
from nmt.decoding.translation import Translation, split_into_pieces
from nmt.errors import UserError
from nmt.settings.decoding import Average, ComputeOptions, Decoding, TextSettings, TranslateOptions
from nmt.settings.model_types import MODEL_TYPES_WITH_ATTENTION
from nmt.settings.text import Tokenization
from nmt.store.trained_model import Tokens, TrainedModel


@dataclass(frozen=True)
class SentenceTranslator:
    """Searches for the translations of tokenized sentences with one model or an ensemble.

    Attributes:
        models: models that share their vocabularies.
        decoding: settings of the search.
        forbid_unknown: whether translations must not contain [UNK].
        keep_attention: whether hypotheses have their attention, if any model has attention.
        average: whether an ensemble averages probabilities or their logarithms.
    """

    models: Sequence[TrainedModel]
    decoding: Decoding
    forbid_unknown: bool
    keep_attention: bool = True
    average: Average = "probability"

    @torch.no_grad()
    def search_batch(self, sources: Sequence[Tokens]) -> list[list[Hypothesis]]:
        """Return the hypotheses of each sentence of one batch, best first."""
        networks = [model.network for model in self.models]
        network = Ensemble(networks, self.average) if len(networks) > 1 else networks[0]
        batch = self.models[0].make_batch(sources)
        vocabulary = self.models[0].source_vocabulary
        return beam_search.search(
            model=network,
            encoded=network.encode(batch.source, batch.source_lengths),
            source_lengths=np.array([len(vocabulary.ids(tokens)) for tokens in sources]),
            decoding=self.decoding,
            forbid_unknown=self.forbid_unknown,
            keep_attention=self.keep_attention,
        )


def score_hypothesis(
    model: TrainedModel, source: Tokens, hypothesis: Hypothesis
) -> tuple[list[str], WordScores]:
    """Return the words of a hypothesis for a tokenized source, and their scores."""
    words, word_starts = model.target_vocabulary.words_and_start_indices(hypothesis.ids)
    if hypothesis.finished:
        word_starts.append(len(hypothesis.ids))  # the end symbol has a score of its own, like a word
    scores = to_word_scores(
        model=model,
        source=source,
        word_starts=word_starts,
        scores=np.array(hypothesis.scores),
        attention=hypothesis.attention,
    )
    return words, scores


def replace_unknown_words(tokens: Tokens, source: Tokens, attention: np.ndarray) -> list[str]:
    """Return the tokens, each [UNK] replaced by the source word to which it has most attention. `attention`: (T, S)."""
    new_tokens = []
    for token, weights in zip(tokens, attention, strict=True):
        new_tokens.append(source[int(weights.argmax())] if token == UNKNOWN_WORD else token)
    return new_tokens


# --- lines of text ----------------------------------------------------------------------------------------------------


def choose_text_codecs(text_settings: TextSettings, tokenized: bool) -> tuple[TextCodec, TextCodec]:
    """Return the codecs of source and target, which turn lines into tokens and back.

    Lines are `tokenized` already if the caller says so, or if the model was trained on such text.
    """
    if tokenized or text_settings.tokenized:
        return TokenText(), TokenText()
    languages, tokenization = text_settings.languages, text_settings.tokenization
    return _make_codec(languages.source, tokenization), _make_codec(languages.target, tokenization)


@lru_cache
def _make_codec(language: str, settings: Tokenization) -> RawText:
    """Return the codec of a language. There is one for all calls, since it remembers the tokens of words."""
    return RawText(language, settings)


class TextTranslator:
    """Translates lines of text with one model or an ensemble."""

    def __init__(
        self,
        models: Sequence[TrainedModel],
        text_settings: TextSettings,
        options: TranslateOptions,
        compute: ComputeOptions,
        *,
        n_best: int = 1,
        keep_attention: bool = False,
    ) -> None:
        """Take the models, their text settings, and the options.

        Args:
            models: one model, or several as an ensemble.
            text_settings: languages, tokenization and default decoding.
            options: settings of the search that replace the defaults.
            compute: batch size, threads, device and precision.
            n_best: translations per line; a smaller beam is raised to this number.
            keep_attention: whether translations have their attention, if the models have any.
        """
        has_attention = any(model.run.has_attention for model in models)
        model_policy = "forbid" if text_settings.decoding.unknown == "excluded" else "keep"
        unknown_words = options.unknown or model_policy
        self._copy_unknown = unknown_words == "copy"
        if self._copy_unknown and not has_attention:
            raise UserError(
                f"unknown words: {models[0].run.label} has no attention, so no source word can be copied; use a model "
                f"of type {' or '.join(MODEL_TYPES_WITH_ATTENTION)}, or keep or forbid the words"
            )

        # A translation without EOS may be searched again in two ways: `retry` allows [UNK] in the second search,
        # `widen_beam` does not. If the caller forbids [UNK], only the latter is possible.
        decoding = text_settings.decoding_settings(compute, options, n_best)
        if unknown_words == "forbid" and decoding.if_no_eos == "retry":
            decoding = decoding.model_copy(update={"if_no_eos": "widen_beam"})

        self._source_codec, self._target_codec = choose_text_codecs(text_settings, options.tokenized)
        self._max_words = options.max_words
        self._keep_attention = keep_attention and has_attention
        self._translator = SentenceTranslator(
            models,
            decoding,
            forbid_unknown=unknown_words == "forbid",
            keep_attention=self._keep_attention or self._copy_unknown,
        )

    def __call__(self, lines: Sequence[str]) -> list[list[Translation]]:
        """Return the translations of each line, best first. A line without words has one empty translation."""
        # 1. search the pieces of all lines together
        tokens_by_line = [self._source_codec.tokenize(line) for line in lines]
        pieces_by_line = [split_into_pieces(tokens, self._max_words) for tokens in tokens_by_line]
        all_pieces = [piece for pieces in pieces_by_line for piece in pieces]
        hypotheses_of_pieces = map_in_batches(
            self._translator.search_batch,
            items=all_pieces,
            lengths=[len(piece) for piece in all_pieces],
            batch_size=self._translator.decoding.batch_size,
        )

        # 2. join hypothesis k of each piece to translation k of the line, for as many k as all pieces have hypotheses
        start = 0  # index of the first piece of the line among all pieces
        n_best_lists = []
        for line, pieces in zip(lines, pieces_by_line, strict=True):
            hypotheses_by_piece = hypotheses_of_pieces[start : start + len(pieces)]
            start += len(pieces)
            # [[a1, a2], [b1, b2]] -> [(a1, b1), (a2, b2)]
            hypotheses_by_rank = list(zip(*hypotheses_by_piece, strict=False))
            if not pieces:
                hypotheses_by_rank = [()]  # a line without words has one empty translation
            n_best_lists.append(
                [self.make_translation(line, pieces, hypotheses) for hypotheses in hypotheses_by_rank]
            )
        return n_best_lists

    def make_translation(
        self, line: str, pieces: Sequence[Tokens], hypotheses: Sequence[Hypothesis]
    ) -> Translation:
        """Return the translation of a line, given the tokens of its pieces, and a hypothesis for each piece."""
        model = self._translator.models[0]
        score = 0.0
        tokens: list[str] = []
        token_scores: list[float] = []
        piece_attention: list[np.ndarray] = []
        for piece, hypothesis in zip(pieces, hypotheses, strict=True):
            target_tokens, word_scores = score_hypothesis(model, piece, hypothesis)

            # the attention without rows and columns of end symbols; with it, source words may replace [UNK]
            if word_scores.attention is not None:
                attention_of_words = word_scores.attention[: len(target_tokens), : len(piece)]
                if self._copy_unknown:
                    target_tokens = replace_unknown_words(target_tokens, piece, attention_of_words)
                piece_attention.append(attention_of_words)

            score += hypothesis.log_probability
            tokens += target_tokens
            token_scores += word_scores.word_log_probabilities.tolist()

        source_tokens = [token for piece in pieces for token in piece]
        return Translation(
            source=line,
            text=self._target_codec.detokenize(tokens),
            score=score,
            source_tokens=source_tokens,
            tokens=tokens,
            token_scores=token_scores,
            finished=all(hypothesis.finished for hypothesis in hypotheses),
            unknown_words=[token for token in source_tokens if token not in model.source_vocabulary],
            piece_lengths=[len(piece) for piece in pieces],
            piece_attention=piece_attention if self._keep_attention else None,
        )
