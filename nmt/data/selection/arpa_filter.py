"""The part of a language model that some text needs, out of its ARPA form as that is written.

A model of a billion words has more than a billion n-grams, and tens of gigabytes. What it makes of some sentences
depends on the sentences' own n-grams alone: the longest ones that the model has, and the back-off weights of the words
before. Only these are kept, so every probability stays as it is, and memory and disk are those of the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path

_BEGIN, _END, _UNKNOWN = b"<s>", b"</s>", b"<unk>"
_SECTION = re.compile(rb"\\(\d+)-grams:\n")


def ngrams(lines: Iterable[str], order: int) -> frozenset[bytes]:
    """All n-grams up to an order of some sentences with their boundaries, words joined by spaces; `<unk>` with them."""
    found = {_UNKNOWN}
    for line in lines:
        words = [_BEGIN, *line.encode().split(), _END]
        for length in range(1, order + 1):
            found.update(b" ".join(words[at : at + length]) for at in range(len(words) - length + 1))
    return frozenset(found)


def keep(arpa: Iterable[bytes], wanted: Collection[bytes], output: Path) -> None:
    """Write a model of only those n-grams, of a model's ARPA form by lines; memory holds what is kept.

    Raises:
        UserError: the lines end before the model does, or are none.
    """
    lines = iter(arpa)
    kept: list[list[bytes]] = []
    for line in lines:
        if found := _SECTION.fullmatch(line):
            if int(found[1]) != len(kept) + 1:
                break
            kept.append([*_section(lines, wanted)])
        elif line == b"\\end\\\n":
            _write(kept, output)
            return
    raise UserError(f"{output}: the language model broke off after {len(kept)} of its orders; make it again")


def _section(lines: Iterator[bytes], wanted: Collection[bytes]) -> Iterator[bytes]:
    """The wanted lines up to an empty one: probability, n-gram and (but for the highest order) back-off, by tabs."""
    for line in lines:
        if line == b"\n":
            return
        if line.split(b"\t", 2)[1].rstrip(b"\n") in wanted:
            yield line


def _write(kept: list[list[bytes]], output: Path) -> None:
    head = [b"\\data\\\n", *(b"ngram %d=%d\n" % (n, len(part)) for n, part in enumerate(kept, 1)), b"\n"]
    body = chain.from_iterable([b"\\%d-grams:\n" % n, *part, b"\n"] for n, part in enumerate(kept, 1))
    with atomic_path(output) as temporary, temporary.open("wb") as file:
        file.writelines(chain(head, body, [b"\\end\\\n"]))
