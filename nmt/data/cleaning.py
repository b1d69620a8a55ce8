"""Cleaning before tokenisation: removal of pairs, and treatment of malformed characters.

A removed pair becomes an empty line on both sides, so that line numbers stay those of the raw text. The limits are
those of Moses' clean-corpus-n.perl. As there, words are separated by white space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_blocks import Lines, holds, in_step, read_blocks
from nmt.io.text_files import LineWriter, uneven, write_lines
from nmt.settings.text import Cleaning


@dataclass(frozen=True)
class Fault:
    """A kind of malformed characters: the setting for their treatment, and their repair."""

    name: str
    what: str
    pattern: re.Pattern[str]
    repaired: str


FAULTS = (
    Fault("byte_order_mark", "a byte-order mark at its start", re.compile("\\A\ufeff+"), ""),
    Fault("carriage_return", "a carriage return at its end", re.compile(r"\r+\Z"), ""),
    # what str.splitlines, editors and many programs take for the end of a line
    Fault(
        "line_separators",
        "a line separator inside (U+2028 or its like)",
        re.compile("[\x0b\x0c\x85\u2028\u2029]|\r(?!\r*\\Z)"),
        " ",
    ),
    # exactly those that tokenizer.perl deletes and that are no white space to it
    Fault("control_characters", "a NUL or another control character", re.compile("[\x00-\x08\x0e-\x1f]"), ""),
)
"""Faults in the order of the search for them, after invalid UTF-8."""

FAULT_NAMES = ("invalid_utf8", *(fault.name for fault in FAULTS))
LIMITS = ("empty", "too_short", "too_long", "ratio", "too_many_characters", "long_word")
REASONS = (*FAULT_NAMES, *LIMITS)
"""Reasons for the removal of a pair; the first that applies is counted."""

_ORDINARY = bytes(sorted({*b"\t\n"} | {*range(0x20, 0x100)}))
_MARKS = "\x85\u2028\u2029\ufeff"


def clean(
    source: Path, target: Path, settings: Cleaning, output_source: Path, output_target: Path, counts: Path
) -> dict[str, int]:
    """Write the cleaned pair of files and `counts`.

    The counts are: `pairs`; `kept` pairs; removed pairs for each of `REASONS`; `source_words` and `target_words`; the
    words of the kept pairs, with the prefix `kept_`; and lines with invalid UTF-8 or one of `FAULTS`, as `source_FAULT`
    and `target_FAULT`, whatever their treatment.

    Raises:
        UserError: the sides differ in length, or a line has a fault with the setting stop.
    """
    found: Counter[str] = Counter()
    sides = _Side("source", source, settings), _Side("target", target, settings)
    with (
        Progress.over_files([source, target], f"clean {source}") as progress,
        write_lines(output_source) as sources,
        write_lines(output_target) as targets,
    ):
        read = [0, 0]
        for pair in in_step(*(side.read(progress) for side in sides)):
            read = [number + len(lines) for number, lines in zip(read, pair, strict=True)]
            if read[0] == read[1]:
                _write_kept(sides, pair, settings, (sources, targets), found)
        if read[0] != read[1]:
            raise uneven(source, read[0], target, read[1])
    result = _result(found + sides[0].found + sides[1].found)
    write_json(counts, result)
    return result


def _result(found: Counter[str]) -> dict[str, int]:
    names = ["pairs", "kept", *REASONS]
    for side in ("source", "target"):
        names += [f"{side}_words", f"kept_{side}_words", *(f"{side}_{fault}" for fault in FAULT_NAMES)]
    return {name: found[name] for name in names}


def _write_kept(
    sides: Sequence[_Side],
    pair: tuple[Lines, Lines],
    settings: Cleaning,
    writers: tuple[LineWriter, LineWriter],
    found: Counter[str],
) -> None:
    """Write both sides with empty lines in place of removed pairs, and count."""
    words = pair[0].words(), pair[1].words()
    reasons = _beyond_limits(pair, words, settings)
    for side in reversed(sides):
        reasons.update(side.dropped(len(pair[0])))
    gone = [*reasons]
    found.update(reasons.values())
    found.update(pairs=len(pair[0]), kept=len(pair[0]) - len(gone))
    for side, lines, writer, numbers in zip(sides, pair, writers, words, strict=True):
        total = int(numbers.sum())
        found[f"{side.name}_words"] += total
        found[f"kept_{side.name}_words"] += total - int(numbers[gone].sum())
        writer.write_block(_blanked(lines, gone), len(lines))


def _blanked(lines: Lines, gone: Sequence[int]) -> bytes:
    if not gone:
        return lines.data
    texts = lines.split()
    for line in gone:
        texts[line] = b""
    return b"\n".join(texts) + b"\n"


def _beyond_limits(
    pair: tuple[Lines, Lines], words: tuple[np.ndarray, np.ndarray], settings: Cleaning
) -> dict[int, str]:
    """Return which lines of a block exceed a limit, and the first of `LIMITS` that they exceed."""
    fewer, more = np.minimum(*words), np.maximum(*words)
    exceeded: dict[str, Callable[[], np.ndarray]] = {
        "empty": lambda: fewer == 0,
        "too_short": lambda: fewer < settings.min_words,
        "too_long": lambda: more > (settings.max_words or np.inf),
        "ratio": lambda: more > (settings.max_ratio or np.inf) * fewer,
        "too_many_characters": lambda: (
            np.maximum(*(side.characters() for side in pair)) > (settings.max_characters or np.inf)
        ),
        "long_word": lambda: _with_long_words(pair, settings.max_word_characters or np.inf),
    }
    reasons: dict[int, str] = {}
    for name in settings.limits:
        for line in np.flatnonzero(exceeded[name]()).tolist():
            reasons.setdefault(line, name)
    return reasons


def _with_long_words(pair: tuple[Lines, Lines], longest: float) -> np.ndarray:
    """Return which pairs contain a word of more than `longest` characters. Only lines of this length are searched."""
    found = np.zeros(len(pair[0]), bool)
    for lines in pair:
        texts = lines.split()
        for line in np.flatnonzero(lines.characters() > longest).tolist():
            found[line] |= any(len(word) > longest for word in texts[line].decode().split())
    return found


class _Side:
    """One side as repaired lines, with its faults."""

    def __init__(self, name: str, path: Path, settings: Cleaning) -> None:
        self.name = name
        self.found: Counter[str] = Counter()
        self._path = path
        self._settings = settings
        self._read = self._judged = 0
        self._dropped: dict[int, str] = {}

    def read(self, progress: Progress) -> Iterator[Lines]:
        """Yield the lines, block by block."""
        for block in read_blocks(self._path, progress):
            yield block if _is_faultless(block.data) else self._repaired(block)
            self._read += len(block)

    def dropped(self, lines: int) -> dict[int, str]:
        """Return which of the next lines are removed for a fault, and for which one. Call this once per line."""
        begin, self._judged = self._judged, self._judged + lines
        due = [line for line in self._dropped if line < self._judged]
        return {line - begin: self._dropped.pop(line) for line in due}

    def _repaired(self, block: Lines) -> Lines:
        lines = (self._repaired_line(self._read + n, raw) for n, raw in enumerate(block.split()))
        return Lines.of("".join(f"{line}\n" for line in lines).encode())

    def _repaired_line(self, number: int, raw: bytes) -> str:
        """Return a line after repair of the faults that the settings select."""
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            self._note(number, "invalid_utf8", "invalid UTF-8")
            line = raw.decode("utf-8", errors="replace")
        for fault in FAULTS:
            if fault.pattern.search(line):
                self._note(number, fault.name, fault.what)
                if getattr(self._settings, fault.name) != "keep":
                    line = fault.pattern.sub(fault.repaired, line)
        return line

    def _note(self, number: int, fault: str, what: str) -> None:
        wish = getattr(self._settings, fault)
        self.found[f"{self.name}_{fault}"] += 1
        if wish == "stop":
            raise UserError(
                f"{self._path}, line {number + 1}: holds {what}; correct the text, or say"
                f" `cleaning: {{{fault}: repair}}` (or drop)"
            )
        if wish == "drop":
            self._dropped.setdefault(number, fault)


def _is_faultless(data: bytes) -> bool:
    """Return whether a quick check shows that no line has a fault."""
    if data.translate(None, _ORDINARY) or holds(data, _MARKS):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
