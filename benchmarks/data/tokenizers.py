"""Tokens per second of this project's tokenizer, of sacremoses alone, and of Moses' own tokenizer.perl, in one run."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sacremoses

from nmt.data.tokenization import Tokenizer
from nmt.settings.text import Tokenization

PERL_PACKAGE = "mosestokenizer==1.2.1"
"""This package contains tokenizer.perl 1.1 and its lists."""
SETTINGS = Tokenization(tokenizer="moses", escape=True, split_hyphens=False)

Tokenize = Callable[[Sequence[str]], list[str]]


def measure(lines: Sequence[str], language: str, rounds: int, perl: Path | None) -> dict[str, Any]:
    """Return median rates of rounds in which all take turns, and the number of lines in which others differ from us."""
    contenders: dict[str, Tokenize] = {"ours": ours(language), "sacremoses": stock(language)}
    if perl is not None:
        contenders["tokenizer_perl"] = by_perl(language, perl)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    found: dict[str, list[str]] = {}
    for _ in range(rounds):
        for name, tokenize in contenders.items():
            begin = time.perf_counter()
            found[name] = tokenize(lines)
            seconds[name].append(time.perf_counter() - begin)
    tokens = sum(len(line.split()) for line in found["ours"])
    rates = {name: tokens / statistics.median(times) for name, times in seconds.items()}
    others = [name for name in contenders if name != "ours"]
    return {
        "lines": len(lines),
        "tokens_per_second": rates,
        **{f"ratio_{name}": rates["ours"] / rates[name] for name in others},
        "lines_that_differ": {
            name: sum(a != b for a, b in zip(found[name], found["ours"], strict=True)) for name in others
        },
    }


def ours(language: str) -> Tokenize:
    """Return our tokenizer. Each call makes a new one, because filling its cache is part of the contest."""

    def tokenize(lines: Sequence[str]) -> list[str]:
        tokenizer = Tokenizer(language, SETTINGS)
        return [tokenizer(line) for line in lines]

    return tokenize


def stock(language: str) -> Tokenize:
    """Return sacremoses unchanged. Control characters that it takes for spaces are removed before, as Moses does it."""
    tokenizer = sacremoses.MosesTokenizer(language)

    def tokenize(lines: Sequence[str]) -> list[str]:
        return [" ".join(tokenizer.tokenize(re.sub("[\x1c-\x1f]", "", line))) for line in lines]

    return tokenize


def by_perl(language: str, program: Path) -> Tokenize:
    """Return tokenizer.perl, as a process that gets all lines at once."""

    def tokenize(lines: Sequence[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines).encode()
        command = ["perl", str(program), "-q", "-l", language]
        result = subprocess.run(
            command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        return result.stdout.decode().split("\n")[: len(lines)]

    return tokenize


def tokenizer_perl(folder: Path, pip_options: Sequence[str]) -> Path | None:
    """Return tokenizer.perl, unpacked once into `folder`. Return None if Perl or the package is not available."""
    if shutil.which("perl") is None:
        return None
    if not any(folder.rglob("tokenizer-v1.1.perl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *pip_options]
        result = subprocess.run([*command, "--dest", str(folder), PERL_PACKAGE], check=False)
        if result.returncode:
            return None
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return next(folder.rglob("tokenizer-v1.1.perl"))
