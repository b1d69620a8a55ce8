"""The text that a phrase-based system is trained and tuned on: plain token files with words on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs, write_lines

RESERVED = ("|", "<", "[")
"""What Moses takes for its own notation; its tokenizer writes these characters in another form."""


def write_text(
    shards: Sequence[tuple[Path, Path]], max_words: int | None, source: Path, target: Path
) -> tuple[int, int]:
    """Write the pairs of some shards one after the other; constant memory.

    Args:
        shards: token files of both sides.
        max_words: longest sentence, in words; None keeps all.
        source: plain text, a sentence per line.
        target: as many lines.

    Returns:
        Pairs written, and pairs with words on both sides that were too long.

    Raises:
        UserError: no pair is left, or the text holds characters that Moses takes for its own notation.
    """
    kept = too_long = 0
    files = [path for pair in shards for path in pair]
    with (
        Progress.over_files(files, "moses-text") as progress,
        write_lines(source) as sources,
        write_lines(target) as targets,
    ):
        for pair in shards:
            for line, sides in enumerate(read_pairs(*pair, progress), start=1):
                words = [side.split() for side in sides]
                if not all(words):
                    continue
                if max_words is not None and max(map(len, words)) > max_words:
                    too_long += 1
                    continue
                for path, side, writer in zip(pair, words, (sources, targets), strict=True):
                    writer.write(_checked(" ".join(side), path, line))
                kept += 1
        if not kept:
            names = ", ".join(map(str, files))
            raise UserError(f"moses-text: no pair with words on both sides in {names}; give it text")
    return kept, too_long


def _checked(sentence: str, path: Path, line: int) -> str:
    found = [character for character in RESERVED if character in sentence]
    if found:
        raise UserError(
            f"{path}, line {line}: holds {found[0]!r}, which Moses takes for its own notation; "
            "set `tokenization.escape: true`"
        )
    return sentence
