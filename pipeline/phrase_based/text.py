"""Text for training and tuning a phrase-based system: plain token files with words on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs, write_lines

RESERVED = ("|", "<", "[")
"""Characters of Moses' own notation. Its tokenizer writes them in another form."""


def write_text(
    shards: Sequence[tuple[Path, Path]],
    outputs: tuple[Path, Path],
    max_words: int | None = None,
    sentences: int | None = None,
) -> tuple[int, int]:
    """Write the pairs of some shards one after the other, in constant memory.

    Args:
        shards: token files of both sides.
        outputs: plain text of source and target, a sentence per line.
        max_words: longest sentence, in words; None keeps all.
        sentences: most pairs, spread evenly over the text; None writes all that are short enough.

    Returns:
        Pairs written, and pairs with words on both sides that were too long.

    Raises:
        UserError: no pair is left, or the text holds characters that Moses takes for its own notation.
    """

    def fits(words: list[list[str]]) -> bool:
        return max_words is None or max(map(len, words)) <= max_words

    total = sum(fits(words) for _, words in _pairs(shards, "counting pairs")) if sentences else 0
    written = fitting = too_long = 0
    with write_lines(outputs[0]) as sources, write_lines(outputs[1]) as targets:
        for place, words in _pairs(shards, "moses text"):
            if not fits(words):
                too_long += 1
                continue
            fitting += 1
            if not sentences or fitting * sentences // total > written:
                for writer, side in zip((sources, targets), words, strict=True):
                    writer.write(_checked(" ".join(side), place))
                written += 1
        if not written:
            names = ", ".join(str(path) for pair in shards for path in pair)
            raise UserError(f"no pair with words on both sides in {names}; give it text")
    return written, too_long


def _pairs(shards: Sequence[tuple[Path, Path]], label: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield place and words, of either side, of each pair with words on both."""
    with Progress.over_files((path for pair in shards for path in pair), label) as progress:
        for pair in shards:
            for line, sides in enumerate(read_pairs(*pair, progress), start=1):
                words = [side.split() for side in sides]
                if all(words):
                    yield f"{pair[0]}, line {line}", words


def _checked(sentence: str, place: str) -> str:
    for character in RESERVED:
        if character in sentence:
            notation = "which Moses takes for its own notation; set `tokenization.escape: true`"
            raise UserError(f"{place}: holds {character!r}, {notation}")
    return sentence
