"""Translates text to text, as `nmt translate` does.

The steps are tokenization as in the model's training, search, replacement of [UNK], and detokenization. Lines are
independent of each other: their grouping only changes the time (and, in 32 bits, the last digits).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nmt.data.tokenization import RawText, Text, TokenText
from nmt.data.vocabulary import UNKNOWN_WORD, Vocabulary
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.ensemble import search
from nmt.decoding.forced_decoding import Words, batches, score
from nmt.decoding.shortlist import Shortlist
from nmt.decoding.translation import Translation, join_pieces, pieces
from nmt.errors import UserError
from nmt.settings.decoding import ComputeOptions, TextSettings, TranslateOptions
from nmt.settings.families import ALIGNING
from nmt.store.trained_model import TrainedModel


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
        self.models, self.options = list(models), options
        self.aligns = any(model.run.aligns for model in models)
        self._unknown = text.unknown_words(options)
        if self._unknown == "copy" and not self.aligns:
            raise UserError(
                f"unknown words: {models[0].run.label} has no attention, so no source word can be copied; use a model "
                f"of the family {' or '.join(ALIGNING)}, or keep or forbid the words"
            )
        self._source, self._target = text_processors(text, options.tokenized)
        self._decoding = text.search(compute, options, n_best)
        # Forbidden is forbidden, also to a model whose settings allow the word when a search is repeated.
        if self._unknown == "forbid" and self._decoding.unfinished == "retry":
            self._decoding = self._decoding.model_copy(update={"unfinished": "widen"})
        self._attention = attention and self.aligns
        self._shortlist = shortlist

    def __call__(self, lines: Sequence[str]) -> list[list[Translation]]:
        """Return the translations of each line, best first. A line without words has one, which is empty."""
        tokens = [self._source.tokens(line) for line in lines]
        cut = [pieces(words, self.options.max_words) for words in tokens]
        found = iter(self._search([piece for parts in cut for piece in parts]))
        return [
            [
                replace(whole, source=line, text=self._target.text(whole.tokens))
                for whole in self._whole([next(found) for _ in parts])
            ]
            for line, parts in zip(lines, cut, strict=True)
        ]

    def _whole(self, parts: Sequence[list[Translation]]) -> list[Translation]:
        """Return the translations of a line, given those of its pieces."""
        nothing = Translation("", "", 0.0, [], [], [], piece_attention=[] if self._attention else None)
        return join_pieces(parts, self._decoding.n_best) if parts else [nothing]

    def _search(self, sources: Sequence[Words]) -> list[list[Translation]]:
        """Return the translations of each source, best first."""
        found: dict[int, list[Translation]] = {}
        for batch in batches([len(words) for words in sources], self._decoding.batch_size):
            group = [sources[place] for place in batch]
            found |= zip(batch, self._found(group), strict=True)
        return [found[place] for place in range(len(sources))]

    def _found(self, group: Sequence[Words]) -> list[list[Translation]]:
        """Return the translations of each source of a batch, best first."""
        forbid = self._unknown == "forbid"
        searched = search(self.models, group, self._decoding, forbid, shortlist=self._shortlist)
        target, divided = self.models[0].target, self._decoding.normalize_by_length
        flat = [
            translated(target, source, hypothesis, hypothesis.score(divided))
            for source, hypotheses in zip(group, searched, strict=True)
            for hypothesis in hypotheses
        ]
        found = iter(self._with_attention(flat))
        return [[next(found) for _ in hypotheses] for hypotheses in searched]

    def _with_attention(self, found: Sequence[Translation]) -> list[Translation]:
        """Add attention, and source words for [UNK], if requested. For this, the models read their translations."""
        copying = self._unknown == "copy"
        places = [
            place
            for place, entry in enumerate(found)
            if self._attention or (copying and UNKNOWN_WORD in entry.tokens)
        ]
        pairs = [(found[place].source_tokens, found[place].tokens) for place in places]
        written = list(found)
        for place, forced in zip(places, score(self.models, pairs, self._decoding.batch_size), strict=True):
            entry = found[place]
            assert forced.attention is not None
            weights = forced.attention[: len(entry.tokens), : len(entry.source_tokens)]
            tokens = copied(entry.tokens, entry.source_tokens, weights) if copying else entry.tokens
            shown = [weights] if self._attention else None
            written[place] = replace(entry, tokens=tokens, piece_attention=shown)
        return written


def translated(target: Vocabulary, source: Words, found: Hypothesis, rank: float) -> Translation:
    """Return a hypothesis as words. The score of a word is the sum over its subword units."""
    tokens, scores = target.words(found.words), np.array(found.scores)
    if target.subwords:
        begun = [len(target.words(found.words[: place + 1])) for place in range(len(found.words))]
        owners = [*(max(0, words - 1) for words in begun), *[len(tokens)] * found.finished]
        scores = np.bincount(owners, scores, minlength=len(tokens) + found.finished)
    return Translation(
        "",
        "",
        found.log_probability,
        list(source),
        tokens,
        scores.tolist(),
        found.finished,
        rank,
        [len(source)],
    )


def copied(tokens: Words, source: Words, attention: np.ndarray) -> list[str]:
    """Replace each [UNK] by the source word with most attention, of attention (T, S)."""
    return [
        source[int(row.argmax())] if word == UNKNOWN_WORD else word
        for word, row in zip(tokens, attention, strict=True)
    ]
