"""Show where other tokenizers differ from this project's, line by line.

Usage: python -m benchmarks.data.differences --language LANGUAGE [--output FILE] [--only NAME] TEXT [TEXT ...]

TEXT is a file of sentences, compressed or not, such as data/clean/europarl-v7/0.en.zst. All its lines go through this
project's tokenizer, sacremoses alone, and Moses' own tokenizer.perl (if Perl and the package are available). FILE gets
each line of which one of them makes other tokens: its file, its number, and both results.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

from benchmarks.data.tokenizers import Tokenize, by_perl, ours, stock, tokenizer_perl
from benchmarks.findings import FOLDER, make_parser
from nmt.io.text_files import read_lines

BLOCK = 100_000
"""The number of lines in memory at a time."""


def compare(
    texts: Sequence[Path], mine: Tokenize, others: Mapping[str, Tokenize], output: IO[str]
) -> dict[str, int]:
    """Write the lines that differ. Return the number of all lines, and how many differ in each other tokenizer."""
    found = {"lines": 0} | dict.fromkeys(others, 0)
    for place, lines in _blocks(texts):
        expected = mine(lines)
        found["lines"] += len(lines)
        for name, tokenize in others.items():
            for at, (here, there) in enumerate(zip(expected, tokenize(lines), strict=True)):
                if here != there:
                    found[name] += 1
                    file, first = place
                    output.write(f"{file}, line {first + at}\n  ours: {here}\n  {name}: {there}\n")
    return found


def _blocks(texts: Sequence[Path]) -> Iterator[tuple[tuple[Path, int], list[str]]]:
    """Yield the lines in blocks, each with its file and the number of its first line, counted from 1."""
    for path in texts:
        first, lines = 1, read_lines(path)
        while block := list(islice(lines, BLOCK)):
            yield (path, first), block
            first += len(block)


def main() -> int:
    """Compare the tokenizers, and print how many lines differ."""
    options = parse()
    others = {"sacremoses": stock(options.language)}
    perl = tokenizer_perl(FOLDER / ".moses", shlex.split(options.pip_options))
    if perl is None:
        print("tokenizer.perl is left out: Perl or its package is not available", file=sys.stderr)
    else:
        others["tokenizer_perl"] = by_perl(options.language, perl)
    chosen = {name: other for name, other in others.items() if options.only in (None, name)}
    with options.output.open("w", encoding="utf-8") as output:
        found = compare(options.text, ours(options.language), chosen, output)
    lines = found.pop("lines")
    for name, number in found.items():
        print(f"{options.language}: {name} differs in {number:,} of {lines:,} lines")
    print(f"which: {options.output}")
    return 0


def parse() -> argparse.Namespace:
    """Read the options."""
    parser = make_parser("benchmarks.data.differences", __doc__)
    parser.add_argument("text", type=Path, nargs="+", help="files of sentences")
    parser.add_argument("--language", required=True, help="its code in Moses' tokenizer, such as en")
    parser.add_argument(
        "--only", choices=["sacremoses", "tokenizer_perl"], help="compare with this tokenizer alone"
    )
    parser.add_argument("--output", type=Path, default=Path("differences.txt"), help="(%(default)s)")
    parser.add_argument("--pip-options", default="", help="for the package with tokenizer.perl")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
