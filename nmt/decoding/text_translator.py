"""Translates text to text, as `nmt translate` does.

The steps are tokenization as in the model's training, search, replacement of [UNK], and detokenization. Lines are
independent of each other: their grouping only changes the time (and, in 32 bits, the last digits).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nmt.data.text_processor import Text
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.decoding.forced_decoding import ForcedScores, Words, batches, score
from nmt.decoding.sentence_splitting import Found, pieces, together
from nmt.decoding.shortlist import Shortlist
from nmt.decoding.test_set import search
from nmt.errors import UserError
from nmt.model.precision import precision_of, refuse_unable
from nmt.model.trained_model import TrainedModel
from nmt.settings.decoding import Decoding, SearchPrecision, UnknownWords
from nmt.settings.families import ALIGNING


@dataclass(frozen=True)
class Options:
    """Options of a translation.

    unknown: keep [UNK], forbid it, or replace it by the source word with most attention.
    details: whether attention and the probability of each word are requested.
    max_words: longer lines are translated in pieces of at most this number of words.
    precision: the precision of the matrix products.
    shortlist: the allowed target words for each line; None for all.
    """

    decoding: Decoding
    unknown: UnknownWords = "keep"
    details: bool = False
    max_words: int = 100
    precision: SearchPrecision = "fp32"
    shortlist: Shortlist | None = None


@dataclass(frozen=True)
class Candidate(Found):
    """A translation and its text."""

    text: str = ""


@dataclass(frozen=True)
class Translation:
    """A line, its tokens, the pieces in which it was translated, and its translations, best first (at least one)."""

    source: str
    source_words: list[str]
    pieces: list[list[str]]
    n_best: list[Candidate]


class TextTranslator:
    """Translates lines of text with one model or an ensemble."""

    def __init__(self, models: Sequence[TrainedModel], source: Text, target: Text, options: Options) -> None:
        """Take the models, and the text processors that turn source lines into tokens and target tokens into lines."""
        refuse_unable(options.precision, models[0].device)
        self.models, self.options = list(models), options
        self.aligns = any(model.run.aligns for model in models)
        if options.unknown == "copy" and not self.aligns:
            raise UserError(
                f"unknown words: {models[0].run.label} has no attention, so no source word can be copied; use a model "
                f"of the family {' or '.join(ALIGNING)}, or keep or forbid the words"
            )
        self._source, self._target = source, target
        # Forbidden is forbidden, also to a model whose settings allow the word when a search is repeated.
        retries = options.unknown == "forbid" and options.decoding.unfinished == "retry"
        self._decoding = (
            options.decoding.model_copy(update={"unfinished": "widen"}) if retries else options.decoding
        )

    def __call__(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, in their order. A line without words has an empty translation."""
        tokens = [self._source.tokens(line) for line in lines]
        cut = [pieces(words, self.options.max_words) for words in tokens]
        with precision_of(self.options.precision):
            found = iter(self._search([piece for parts in cut for piece in parts]))
        return [
            self._translation(line, words, parts, [next(found) for _ in parts])
            for line, words, parts in zip(lines, tokens, cut, strict=True)
        ]

    def _translation(
        self, line: str, words: list[str], cut: list[list[str]], parts: list[list[Found]]
    ) -> Translation:
        nothing = [_nothing(self.options.details, self.aligns)]
        n_best = together(parts, self._decoding.n_best) if parts else nothing
        candidates = [Candidate(**vars(found), text=self._target.text(found.words)) for found in n_best]
        return Translation(line, words, cut, candidates)

    def _search(self, sources: Sequence[Words]) -> list[list[Found]]:
        """Return the translations of each source, best first."""
        found: dict[int, list[Found]] = {}
        for batch in batches([len(words) for words in sources], self._decoding.batch_size):
            group = [sources[place] for place in batch]
            found |= zip(batch, self._found(group), strict=True)
        return [found[place] for place in range(len(sources))]

    def _found(self, group: Sequence[Words]) -> list[list[Found]]:
        """Return the translations of each source of a batch, best first."""
        target, divided = self.models[0].target, self._decoding.normalize_by_length
        searched = search(
            self.models,
            group,
            self._decoding,
            self.options.unknown == "forbid",
            shortlist=self.options.shortlist,
        )
        found = iter(
            self._read_again(
                [
                    (source, Found(target.words(h.words), h.log_probability, h.finished, h.score(divided)))
                    for source, hypotheses in zip(group, searched, strict=True)
                    for h in hypotheses
                ]
            )
        )
        return [[next(found) for _ in hypotheses] for hypotheses in searched]

    def _read_again(self, found: Sequence[tuple[Words, Found]]) -> list[Found]:
        """Add details, and source words for [UNK], to the translations of sources if requested.

        For this, the models read their translations by teacher forcing.
        """
        copying, details = self.options.unknown == "copy", self.options.details
        places = [
            place
            for place, (_, entry) in enumerate(found)
            if details or (copying and UNKNOWN_WORD in entry.words)
        ]
        pairs = [(found[place][0], found[place][1].words) for place in places]
        written = [entry for _, entry in found]
        for place, forced in zip(places, score(self.models, pairs, self._decoding.batch_size), strict=True):
            source, entry = found[place]
            detailed = with_details(entry, forced, len(source))
            entry = detailed if details else entry
            written[place] = replace(entry, words=copied(detailed, source).words) if copying else entry
        return written


def with_details(found: Found, forced: ForcedScores, source_words: int) -> Found:
    """Add the attention and the probability of each word from `forced`, the scores of the same words."""
    words, weights = len(found.words), forced.attention
    return replace(
        found,
        word_log_probabilities=forced.word_log_probabilities[: words + found.finished].tolist(),
        weights=None if weights is None else [weights[:words, :source_words]],
    )


def copied(found: Found, source: Words) -> Found:
    """Replace each [UNK] of a piece by the source word with most attention; `weights` must be present."""
    assert found.weights is not None
    words = [
        source[int(row.argmax())] if word == UNKNOWN_WORD else word
        for word, row in zip(found.words, found.weights[0], strict=True)
    ]
    return replace(found, words=words)


def _nothing(details: bool, aligns: bool) -> Found:
    """Return the translation of a line without words, which is empty and has probability 1."""
    return Found([], 0.0, True, 0.0, [] if details else None, [] if details and aligns else None)
