"""Translations of lines of text, and lines that are too long for one search, which are translated in pieces.

Time and memory of a search grow with the square of a line's length, and no model was trained on lines of a thousand
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.data.characters import compile_pattern, count_letters_or_word
from nmt.errors import UserError, os_errors_as_user_error

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Weights = NDArray[np.float32]

_END_MARKS = tuple(
    compile_pattern(pattern)
    for pattern in (
        r"[\p{Sentence_Terminal}…]$",
        r"[\p{Terminal_Punctuation}--[,،，、]]$",
        r"\p{Terminal_Punctuation}$",
    )
)
"""Patterns of tokens after which a line is split, in order of preference: full stops, semicolons, commas."""
_GRAPHEME = compile_pattern(r"\X")


@dataclass(frozen=True)
class Translation:
    """A translation of a line. Two translations are equal if they differ only in their attention.

    Attributes:
        source: the line.
        text: its translation.
        score: natural logarithm of its probability, which includes the end of the sentence, or of each piece.
        source_tokens: the line as the model reads it: S tokens.
        tokens: the translation as the model writes it: T tokens.
        token_scores: the summands of `score`: one for each token, and for the end of the sentence or of each piece.
        finished: whether the search reached the end of the sentence.
        unknown_words: the source tokens that the model does not know and reads as [UNK], in their order.
        piece_lengths: the number of source tokens of each piece. A line without tokens has no piece.
        piece_attention: the attention of each piece, [its tokens, its source tokens]; None if there is none.
    """

    source: str
    text: str
    score: float
    source_tokens: list[str] = field(hash=False)
    tokens: list[str] = field(hash=False)
    token_scores: list[float] = field(hash=False, repr=False)
    finished: bool = field(default=True, repr=False)
    unknown_words: list[str] = field(default_factory=list, hash=False, repr=False)
    piece_lengths: list[int] = field(default_factory=list, hash=False, repr=False)
    piece_attention: list[Weights] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def attention(self) -> Weights | None:
        """Attention, [T, S], alpha_ij of Eq. 6: how much of source token j went into target token i.

        The end symbols have no row or column. Between different pieces it is 0. None for a model without attention.
        """
        import numpy as np

        if self.piece_attention is None:
            return None
        matrix = np.zeros((len(self.tokens), len(self.source_tokens)), np.float32)
        row = column = 0
        for piece_matrix in self.piece_attention:
            target_count, source_count = piece_matrix.shape
            matrix[row : row + target_count, column : column + source_count] = piece_matrix
            row, column = row + target_count, column + source_count
        return matrix

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot the attention as in Figure 3: source words along x, words of the translation along y, 0 black, 1 white.

        Args:
            path: a file that the figure is also written to: .png, .pdf or .svg. Its folder is made if it is missing.

        Raises:
            UserError: there is no attention, the line has no words, or the file cannot be written.
        """
        from nmt.plots.attention import plot_attention
        from nmt.plots.style import save_figure

        attention = self.attention
        if attention is None:
            raise UserError(
                "no attention to draw: the model has none (use rnnsearch), or it was left out (attention=False)"
            )
        if not attention.size:
            raise UserError("the line has no words, or its translation has none: there is nothing to draw")
        figure = plot_attention(attention, self.source_tokens, self.tokens)
        if path is not None:
            with os_errors_as_user_error():
                save_figure(figure, Path(path))
        return figure


def split_into_pieces(words: Sequence[str], max_words: int) -> list[list[str]]:
    """Split a line into pieces of at most `max_words` words or, in scripts without spaces, letters.

    A piece is the longest start of the remaining line that is not too long. It ends at a punctuation mark in its second
    half if there is one. A clause without spaces that is too long is split, too.
    """
    short_words: list[str] = []
    for word in words:
        if count_letters_or_word(word) <= max_words:
            short_words.append(word)
        else:
            short_words += _split_clause(word, max_words)
    lengths = [count_letters_or_word(word) for word in short_words]

    pieces: list[list[str]] = []
    start = 0
    while start < len(short_words):
        end, length = start, 0
        # a piece has at least one word: a grapheme may have more letters than max_words
        while end < len(lengths) and (end == start or length + lengths[end] <= max_words):
            length += lengths[end]
            end += 1
        if end < len(lengths):
            end = start + _find_end(short_words[start:end])
        pieces.append(short_words[start:end])
        start = end
    return pieces


def _split_clause(clause: str, max_letters: int) -> list[str]:
    """Split a clause without spaces into parts of at most `max_letters` letters, which keep their marks."""
    parts = [""]
    for grapheme in _GRAPHEME.findall(clause):
        if parts[-1] and count_letters_or_word(parts[-1] + grapheme) > max_letters:
            parts.append("")
        parts[-1] += grapheme
    return parts


def _find_end(words: Sequence[str]) -> int:
    """Return the number of words of a piece: all up to the last punctuation mark in the second half, or all `words`.

    A full stop is preferred to a semicolon, and a semicolon to a comma.
    """
    half = len(words) // 2
    for mark in _END_MARKS:
        for end in range(len(words), half, -1):
            if mark.search(words[end - 1]):
                return end
    return len(words)
