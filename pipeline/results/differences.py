"""Where a published text differs from the recomputed one."""

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

_MAX_QUOTED_CHARACTERS = 120
"""Length of the part of a line that a problem quotes: around the first difference, if the line is longer."""


def describe_difference(
    path: Path, written_lines: Iterable[str], remade_lines: Iterable[str], message_end: str
) -> list[str]:
    """Return a line about the first line that differs in two texts; none if they are equal.

    Args:
        path: the file with the written lines.
        written_lines, remade_lines: the texts.
        message_end: what the message says of the recomputed line, such as "comes from its source".
    """
    line_pairs = zip_longest(written_lines, remade_lines)
    for number, (written_line, remade_line) in enumerate(line_pairs, start=1):
        if written_line != remade_line:
            # the quoted parts begin a little before the first letter that differs
            letter_pairs = enumerate(zip_longest(written_line or "", remade_line or ""))
            first_difference = next((index for index, letters in letter_pairs if len(set(letters)) == 2), 0)
            start = max(0, first_difference - _MAX_QUOTED_CHARACTERS // 2)
            difference = (
                f"{_quote(written_line, start)} is written, {_quote(remade_line, start)} {message_end}"
            )
            return [f"{path}, line {number}: {difference}"]
    return []


def _quote(line: str | None, start: int) -> str:
    """Return a part of a line in quotes; "nothing" if there is no line."""
    return "nothing" if line is None else repr(line[start : start + _MAX_QUOTED_CHARACTERS])
