"""The way from text to its translation, which `nmt translate`, `nmt test-set decode` and Python go.

Text is tokenized as in the model's training, lines are cut into pieces that are not too long, and pieces of similar
length are searched together. Of the ids, scores and attention that the search returns for the pieces of a line, one
`Translation` is made. Lines are independent of each other: their grouping only changes the time (and, in 32 bits, the
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
from nmt.decoding.ensemble import joined
from nmt.decoding.forced_decoding import in_words, score_translations
from nmt.decoding.shortlist import Shortlist
from nmt.decoding.translation import Translation, pieces
from nmt.errors import UserError
from nmt.settings.decoding import Average, ComputeOptions, Decoding, TextSettings, TranslateOptions
from nmt.settings.model_types import ALIGNING
from nmt.settings.text import Tokenization
from nmt.store.trained_model import Tokens, TrainedModel


@dataclass(frozen=True)
class Translator:
    """Searches for the translations of tokenized sentences with one model or an ensemble.

    Attributes:
        models: models that share their vocabularies.
        decoding: settings of the search.
        forbid_unknown: whether translations must not contain [UNK].
        attention: whether hypotheses have their attention, if any model has attention.
        average: what an ensemble averages.
        shortlist: the allowed target words for each sentence; None for all.
    """

    models: Sequence[TrainedModel]
    decoding: Decoding
    forbid_unknown: bool
    attention: bool = True
    average: Average = "probability"
    shortlist: Shortlist | None = None

    def __call__(self, sources: Sequence[Tokens]) -> list[list[Hypothesis]]:
        """Return the hypotheses of each sentence, best first."""
        return map_in_batches(
            self.batch, sources, [len(words) for words in sources], self.decoding.batch_size
        )

    @torch.no_grad()
    def batch(self, sources: Sequence[Tokens]) -> list[list[Hypothesis]]:
        """Return the hypotheses of each sentence of one batch, best first."""
        model, first = joined([one.network for one in self.models], self.average), self.models[0]
        batch = first.make_batch(sources)
        return beam_search.search(
            model,
            model.encode(batch.source, batch.source_lengths),
            source_words=np.array([len(first.source.ids(words)) for words in sources]),
            decoding=self.decoding,
            forbid_unknown=self.forbid_unknown,
            candidates=self.shortlist.candidates(batch.source) if self.shortlist else None,
            attention=self.attention,
        )


def translation(
    model: TrainedModel,
    line: str,
    pieces: Sequence[Tokens],
    hypotheses: Sequence[Hypothesis],
    *,
    text: TextCodec,
    copy: bool = False,
    attention: bool = True,
    with_ends: bool = False,
) -> Translation:
    """Return the translation of a line, given a hypothesis for each of its pieces.

    Args:
        model: the model, or any of an ensemble.
        line: the line of text.
        pieces: its tokens, cut into the pieces that were searched.
        hypotheses: what was found for them.
        text: makes text of the translation's tokens.
        copy: whether the source word with most attention replaces [UNK].
        attention: whether the translation keeps the attention of its hypotheses.
        with_ends: whether this has a row and a column for the end symbols.
    """
    score, tokens, token_scores = 0.0, list[str](), list[float]()
    matrices = list[np.ndarray]()
    for source, hypothesis in zip(pieces, hypotheses, strict=True):
        written, beginnings = model.target.words_and_start_indices(hypothesis.ids)
        if hypothesis.finished:
            beginnings.append(len(hypothesis.ids))
        scores = in_words(model, source, beginnings, np.array(hypothesis.scores), hypothesis.attention)
        weights = scores.attention
        if weights is not None:
            between_words = weights[: len(written), : len(source)]
            written = copied(written, source, between_words) if copy else written
            matrices.append(weights if with_ends else between_words)

        score += hypothesis.log_probability
        tokens += written
        token_scores += scores.word_log_probabilities.tolist()

    source_tokens = [token for piece in pieces for token in piece]
    return Translation(
        source=line,
        text=text.detokenize(tokens),
        score=score,
        source_tokens=source_tokens,
        tokens=tokens,
        token_scores=token_scores,
        finished=all(hypothesis.finished for hypothesis in hypotheses),
        unknown_words=[token for token in source_tokens if token not in model.source],
        pieces=[len(piece) for piece in pieces],
        piece_attention=matrices if attention and len(matrices) == len(pieces) else None,
    )


def choose_text_processors(text: TextSettings, tokenized: bool) -> tuple[TextCodec, TextCodec]:
    """Return the text processors of source and target, which turn lines into tokens and back."""
    if tokenized or text.tokenized:
        return TokenText(), TokenText()
    languages = text.languages
    return _raw_text(languages.source, text.tokenization), _raw_text(languages.target, text.tokenization)


@lru_cache
def _raw_text(language: str, settings: Tokenization) -> RawText:
    """Return the text processor of a language. It is made once, since it remembers the tokens of words."""
    return RawText(language, settings)


class TextTranslator:
    """Translates lines of text with one model or an ensemble."""

    def __init__(
        self,
        models: Sequence[TrainedModel],
        text: TextSettings,
        options: TranslateOptions,
        compute: ComputeOptions,
        *,
        n_best: int = 1,
        attention: bool = False,
        shortlist: Shortlist | None = None,
    ) -> None:
        """Take the models, their text settings, and the options.

        Args:
            models: one model, or several as an ensemble.
            text: languages, tokenization and default decoding.
            options: what replaces the defaults.
            compute: how the models compute.
            n_best: translations per line; a smaller beam is raised to this number.
            attention: whether translations have their attention, if the models have any.
            shortlist: the allowed target words for each line; None for all.
        """
        aligns = any(model.run.aligns for model in models)
        unknown = text.unknown_word_policy(options)
        self._copying = unknown == "copy"
        if self._copying and not aligns:
            raise UserError(
                f"unknown words: {models[0].run.label} has no attention, so no source word can be copied; use a model "
                f"of type {' or '.join(ALIGNING)}, or keep or forbid the words"
            )
        self._source, self._target = choose_text_processors(text, options.tokenized)
        self._max_words = options.max_words
        self._attention = attention and aligns
        decoding = text.decoding_settings(compute, options, n_best)
        # Forbidden is forbidden, also to a model whose settings allow the word when a search is repeated.
        if unknown == "forbid" and decoding.if_no_eos == "retry":
            decoding = decoding.model_copy(update={"if_no_eos": "widen_beam"})
        self._search = Translator(
            models,
            decoding,
            forbid_unknown=unknown == "forbid",
            attention=self._attention or self._copying,
            shortlist=shortlist,
        )

    def __call__(self, lines: Sequence[str]) -> list[list[Translation]]:
        """Return the translations of each line, best first. A line without words has one, which is empty."""
        cut = [pieces(self._source.tokenize(line), self._max_words) for line in lines]
        n_best = iter(self._search([piece for parts in cut for piece in parts]))
        return [
            self._translations(line, parts, [next(n_best) for _ in parts])
            for line, parts in zip(lines, cut, strict=True)
        ]

    def _translations(
        self, line: str, pieces: Sequence[Tokens], n_best: Sequence[Sequence[Hypothesis]]
    ) -> list[Translation]:
        """Return the translations of a line, given the hypotheses of each of its pieces, best first.

        Translation k of the line joins hypothesis k of each piece, as long as each piece has one.
        """
        ranked = [*zip(*n_best, strict=False)] if pieces else [()]
        return [
            translation(
                self._search.models[0],
                line,
                pieces,
                hypotheses,
                text=self._target,
                copy=self._copying,
                attention=self._attention,
            )
            for hypotheses in ranked
        ]


def copied(tokens: Tokens, source: Tokens, attention: np.ndarray) -> list[str]:
    """Replace each [UNK] by the source word with most attention, of attention (T, S)."""
    return [
        source[int(row.argmax())] if word == UNKNOWN_WORD else word
        for word, row in zip(tokens, attention, strict=True)
    ]


def score_lines(
    models: Sequence[TrainedModel],
    text: TextSettings,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    batch_size: int,
    tokenized: bool,
    attention: bool,
) -> list[Translation]:
    """Return given translations of lines with the models' scores; see `nmt.api.Model.score`."""
    tokens_of_source, tokens_of_target = (side.tokenize for side in choose_text_processors(text, tokenized))
    pairs = [
        (tokens_of_source(source), tokens_of_target(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    scored = score_translations(models, pairs, batch_size, attention)
    return [
        Translation(
            source=source,
            text=target,
            score=scores.log_probability,
            source_tokens=source_tokens,
            tokens=target_tokens,
            token_scores=scores.word_log_probabilities.tolist(),
            unknown_words=[token for token in source_tokens if token not in models[0].source],
            pieces=[len(source_tokens)],
            piece_attention=None
            if scores.attention is None
            else [scores.attention[: len(target_tokens), : len(source_tokens)]],
        )
        for source, target, (source_tokens, target_tokens), scores in zip(
            sources, targets, pairs, scored, strict=True
        )
    ]
