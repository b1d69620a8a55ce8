"""The way from text to its translation, which `nmt translate`, `nmt test-set decode` and Python go.

Text is tokenized as in the model's training, lines are cut into pieces that are not too long, pieces of similar length
are searched together, and attention is computed by teacher forcing where it is needed. Then [UNK] is replaced, pieces
are joined, and the tokens become text. Lines are independent of each other: their grouping only changes the time (and,
in 32 bits, the last digits).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from nmt.data.batches import in_batches
from nmt.data.tokenization import RawText, Text, TokenText
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.beam_search import translate as search
from nmt.decoding.ensemble import joined
from nmt.decoding.forced_decoding import Scorer
from nmt.decoding.shortlist import Shortlist
from nmt.decoding.translation import Translation, join_pieces, pieces
from nmt.errors import UserError
from nmt.settings.decoding import Average, ComputeOptions, Decoding, TextSettings, TranslateOptions
from nmt.settings.families import ALIGNING
from nmt.store.trained_model import TrainedModel, Words


@dataclass(frozen=True)
class Translator:
    """Translates tokenized sentences with one model or an ensemble.

    Attributes:
        models: models that share their vocabularies.
        decoding: settings of the search.
        forbid_unknown: whether translations must not contain [UNK].
        needs_attention: says by rank and tokens which translations of a sentence get their attention, if any model has
            attention.
        average: what an ensemble averages.
        shortlist: the allowed target words for each sentence; None for all.
    """

    models: Sequence[TrainedModel]
    decoding: Decoding
    forbid_unknown: bool
    needs_attention: Callable[[int, Words], bool]
    average: Average = "probability"
    shortlist: Shortlist | None = None

    def __call__(self, sources: Sequence[Words]) -> list[list[Translation]]:
        """Return the translations of each sentence, best first."""
        return in_batches(self.batch, sources, [len(words) for words in sources], self.decoding.batch_size)

    @torch.no_grad()
    def batch(self, sources: Sequence[Words]) -> list[list[Translation]]:
        """Return the translations of each sentence of one batch, best first."""
        n_best = [
            [self._translation(source, hypothesis) for hypothesis in hypotheses]
            for source, hypotheses in zip(sources, self._search(sources), strict=True)
        ]
        aligning = [model for model in self.models if model.run.aligns]
        needed = [
            (row, rank, translation.tokens)
            for row, translations in enumerate(n_best)
            for rank, translation in enumerate(translations)
            if aligning and self.needs_attention(rank, translation.tokens)
        ]
        if needed:
            targets = [(row, tokens) for row, _, tokens in needed]
            scored = Scorer(aligning, sources)(targets, self.decoding.batch_size)
            for (row, rank, _), forced in zip(needed, scored, strict=True):
                translation = n_best[row][rank]
                assert forced.attention is not None
                weights = forced.attention[: len(translation.token_scores)]
                n_best[row][rank] = replace(translation, piece_attention=[weights])
        return n_best

    def _search(self, sources: Sequence[Words]) -> list[list[Hypothesis]]:
        model = joined([one.network for one in self.models], self.average)
        first = self.models[0]
        batch = first.batch(sources)
        lengths = np.array([len(first.source.ids(words)) for words in sources])
        candidates = self.shortlist.candidates(batch.source) if self.shortlist else None
        encoded = model.encode(batch.source, batch.source_mask)
        return search(model, encoded, lengths, self.decoding, self.forbid_unknown, candidates)

    def _translation(self, source: Words, hypothesis: Hypothesis) -> Translation:
        """Return a hypothesis as words. The score of a word is the sum over its subword units."""
        target = self.models[0].target
        tokens, scores = target.words(hypothesis.words), np.array(hypothesis.scores)
        if target.subwords:
            begun = [len(target.words(hypothesis.words[: end + 1])) for end in range(len(hypothesis.words))]
            owners = [*(max(0, words - 1) for words in begun), *[len(tokens)] * hypothesis.finished]
            scores = np.bincount(owners, scores, minlength=len(tokens) + hypothesis.finished)
        return Translation(
            " ".join(source),
            " ".join(tokens),
            hypothesis.log_probability,
            list(source),
            tokens,
            scores.tolist(),
            hypothesis.finished,
            [len(source)],
        )


def text_processors(text: TextSettings, tokenized: bool) -> tuple[Text, Text]:
    """Return the text processors of source and target, which turn lines into tokens and back."""
    if tokenized or text.tokenized:
        return TokenText(), TokenText()
    languages = text.languages
    return RawText(languages.source, text.tokenization), RawText(languages.target, text.tokenization)


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
        unknown = text.unknown_words(options)
        self._copying = unknown == "copy"
        if self._copying and not aligns:
            raise UserError(
                f"unknown words: {models[0].run.label} has no attention, so no source word can be copied; use a model "
                f"of the family {' or '.join(ALIGNING)}, or keep or forbid the words"
            )
        self._source, self._target = text_processors(text, options.tokenized)
        self._max_words = options.max_words
        self._attention = attention and aligns
        decoding = text.search(compute, options, n_best)
        # Forbidden is forbidden, also to a model whose settings allow the word when a search is repeated.
        if unknown == "forbid" and decoding.unfinished == "retry":
            decoding = decoding.model_copy(update={"unfinished": "widen"})
        self._translate = Translator(
            models, decoding, unknown == "forbid", self._needs_attention, shortlist=shortlist
        )

    def _needs_attention(self, rank: int, tokens: Words) -> bool:
        return self._attention or (self._copying and UNKNOWN_WORD in tokens)

    def __call__(self, lines: Sequence[str]) -> list[list[Translation]]:
        """Return the translations of each line, best first. A line without words has one, which is empty."""
        cut = [pieces(self._source.tokens(line), self._max_words) for line in lines]
        translations = iter(self._translate([piece for parts in cut for piece in parts]))
        return [
            self._line(line, [next(translations) for _ in parts])
            for line, parts in zip(lines, cut, strict=True)
        ]

    def _line(self, line: str, parts: Sequence[list[Translation]]) -> list[Translation]:
        """Return the translations of a line, given those of its pieces."""
        n_best = join_pieces([[self._copied(piece) for piece in part] for part in parts], self._attention)
        return [replace(whole, source=line, text=self._target.text(whole.tokens)) for whole in n_best]

    def _copied(self, piece: Translation) -> Translation:
        """Replace [UNK] in a piece if requested, and keep the attention between tokens if that is requested."""
        if piece.piece_attention is None:
            return piece
        weights = piece.piece_attention[0][: len(piece.tokens), : len(piece.source_tokens)]
        tokens = copied(piece.tokens, piece.source_tokens, weights) if self._copying else piece.tokens
        return replace(piece, tokens=tokens, piece_attention=[weights] if self._attention else None)


def copied(tokens: Words, source: Words, attention: np.ndarray) -> list[str]:
    """Replace each [UNK] by the source word with most attention, of attention (T, S)."""
    return [
        source[int(row.argmax())] if word == UNKNOWN_WORD else word
        for word, row in zip(tokens, attention, strict=True)
    ]
