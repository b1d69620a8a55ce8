"""N-gram language models for the selection: their text, training and use, with KenLM's programs.

KenLM's Python module is not used: it does not compile with Python 3.13, and `query` computes the same sums.
"""

from __future__ import annotations

import heapq
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import numpy as np

from nmt.data.shards import Corpora, merge_shards, random_key, read_numbered_pairs
from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.system import last_output_line
from nmt.io.text_files import read_lines, write_lines

_SORTING_SHARE = 0.7
"""Fraction of lmplz' memory for sorting. The rest is for the vocabulary and everything else."""
_LEAST_SORTING_MB = 64
_KEY_BYTES = 8


LogProbabilities = Callable[[Sequence[str]], list[float]]
"""A function that returns log10 p of each line of words, from the start of a sentence to its end symbol."""

LINES = 64
"""Lines of one query. The answers fit into the smallest pipe (4 kB), so that the processes do not block each other."""

Sides = Mapping[str, Sequence[Path]]
"""One side of some corpora: the token files of all shards of each, in order."""


def further_lines(files: Iterable[Path], most_words: int | None) -> Iterator[str]:
    """Yield the lines with words, file by file, up to the line with the last of these words (None: all)."""
    words = 0
    for line in filter(None, (line for path in files for line in read_lines(path))):
        if most_words is not None and words >= most_words:
            return
        yield line
        words += len(line.split())


def count_nonempty_lines(paths: Sequence[Path]) -> int:
    """Return the number of lines with words in files."""
    return sum(1 for path in paths for line in read_lines(path) if line.split())


def sample_pairs(corpora: Corpora, pairs: int, seed: int, source: Path, target: Path) -> int:
    """Write a random sample of `pairs` pairs without empty sides. Return the size of the sample.

    Every pair has a random key that depends only on seed, corpus and global line number. The pairs with the smallest
    keys are taken, so the sample does not depend on the number of shards. The sample is held in memory.
    """
    keyed = (
        (random_key(seed, corpus, line, _KEY_BYTES), *pair)
        for corpus, line, pair in read_numbered_pairs(corpora, "selection sample")
        if all(pair)
    )
    taken = heapq.nsmallest(pairs, keyed)
    with write_lines(source) as sources, write_lines(target) as targets:
        for _, source_line, target_line in taken:
            sources.write(source_line)
            targets.write(target_line)
    return len(taken)


def list_frequent_words(paths: Sequence[Path], least: int) -> list[str]:
    """Return the words with at least this count in token files, in code point order."""
    counts = Counter(word for path in paths for line in read_lines(path) for word in line.split())
    words = sorted(word for word, number in counts.items() if number >= least)
    if not words:
        raise UserError(
            f"{len(counts)} words, none of which occurs {least} times, in"
            f" {', '.join(map(str, paths))};"
            " lower `selection.lm_vocabulary_min_count`"
        )
    return words


def train_language_model(
    text: Sides,
    order: int,
    output: Path,
    discount_fallback: bool,
    memory_mb: int,
    programs: Path | None = None,
    words: Sequence[str] | None = None,
    also: Sequence[Path] = (),
    also_words: int | None = None,
) -> None:
    """Train a model with modified Kneser-Ney smoothing and no cut-offs, and write it in KenLM's binary format.

    The text is followed by `also`, further token files, up to a total number of words. The bytes do not depend on the
    number of shards. If `words` are given, all other words are unknown to the model.
    `programs` is the folder of lmplz and build_binary; if it is None, they must be on the PATH. lmplz uses at most
    `memory_mb`, build_binary uses the size of the model. The limit does not change the model.
    """
    with temporary_folder(output.parent, f".{output.name}.lm-") as work:
        whole = work / "model.arpa"
        sorting = max(_LEAST_SORTING_MB, round(_SORTING_SHARE * memory_mb))
        command = [_program("lmplz", programs), "--order", str(order), "--memory", f"{sorting}M"]
        command += ["--temp_prefix", f"{work}/", "--skip_symbols"]
        command += ["--discount_fallback"] * discount_fallback + ["--arpa", str(whole)]
        build_binary = _program("build_binary", programs)
        if words is not None:
            (work / "words").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
            command += ["--limit_vocab_file", str(work / "words")]
        lines = chain(_lines_of(text), further_lines(also, also_words))
        if (first := next(lines, None)) is None:
            raise UserError(f"{output}: no words in its text; give token files with text")
        _feed(command, chain([first], lines), output)
        with atomic_path(output) as binary:
            _feed([build_binary, str(whole), str(binary)], (), output)


def _program(name: str, folder: Path | None) -> str:
    path = shutil.which(name, path=str(folder) if folder else None)
    if path is None:
        raise UserError(
            f"{name}: no such program {f'in {folder}' if folder else 'on the PATH'}; the rule kenlm_programs builds it"
        )
    return path


def _feed(command: Sequence[str], lines: Iterable[str], output: Path) -> None:
    """Run a program that gets lines on its standard input."""
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as process:
            assert process.stdin is not None
            # a program that leaves early is judged by its exit status and message below
            with suppress(BrokenPipeError):
                # lmplz numbers words as they come, and adds up in the order of these numbers
                process.stdin.writelines(line.encode() + b"\n" for line in lines)
            with suppress(BrokenPipeError):
                process.stdin.close()
        if process.returncode:
            log.seek(0)
            raise _failure(
                Path(command[0]).name, process.returncode, log.read().decode(errors="replace"), output
            )


def _lines_of(text: Sides) -> Iterator[str]:
    """Yield the lines with words, by corpus and global line number."""
    for corpus, paths in text.items():
        yield from filter(None, merge_shards(corpus, [read_lines(path) for path in paths]))


def _failure(program: str, code: int, log: str, output: Path) -> UserError:
    if "discount" in log and "--discount_fallback" in log:
        return UserError(
            f"{output}: {program} finds too little text for Kneser-Ney discounts; give it more text or set "
            "`selection.discount_fallback: true`"
        )
    lines = [line.strip() for line in log.split("\n") if line.strip()]
    return UserError(f"{output}: {program} ended with code {code}: {' / '.join(lines[-3:])[-300:]}")


@contextmanager
def open_language_model(path: Path, programs: Path | None = None) -> Iterator[LogProbabilities]:
    """Query a model (ARPA or KenLM's binary format) with KenLM's program `query`, for at most `LINES` lines at once.

    `programs` is the folder of `query`; if it is None, `query` must be on the PATH. It prints the shortest decimal
    numbers that represent each float32.
    """
    command = [_program("query", programs), "-b", "-v", "sentence", str(path)]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(lines: Sequence[str]) -> list[float]:
            with suppress(BrokenPipeError):
                questions.write("".join(f"{line}\n" for line in lines).encode())
                questions.flush()
            answer = [answers.readline().split() for _ in lines]
            if not all(answer):
                log.seek(0)
                said = last_output_line(log.read().decode(errors="replace"))
                raise UserError(f"{path}: no language model ({said}); train it again")
            return [float(np.float32(words[1])) for words in answer]

        try:
            yield ask
        finally:
            process.kill()
            # what a program that left early has not read is lost with it, and `ask` has named it in its error
            with suppress(BrokenPipeError):
                questions.close()
