"""N-gram language models for the selection: their text, training and use, with KenLM's programs.

KenLM's Python module is not used: it does not compile with Python 3.13, and KenLM's program `query` computes the same
numbers.
"""

from __future__ import annotations

import heapq
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nmt.data.shards import Corpora, make_random_key, merge_shards, read_numbered_pairs
from nmt.data.vocabulary import count_words
from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.system import last_output_line
from nmt.io.text_files import read_lines, write_lines

_SORTING_FRACTION = 0.7
"""Fraction of lmplz' memory that it sorts in. The rest is for the vocabulary and everything else."""
_MIN_SORTING_MB = 64
_KEY_BYTES = 8

# --- text of the models -----------------------------------------------------------------------------------------------


def read_nonempty_lines(text: Mapping[str, Sequence[Path]], max_words: int | None = None) -> Iterator[str]:
    """Yield the non-empty lines of corpora, until they have `max_words` words (None: all lines).

    Lines are not cut: the last one may exceed the limit. Their order does not depend on the number of shards.

    text: for each corpus, the token files of one side of all its shards, in order.
    """
    word_count = 0
    for name, shards in text.items():
        for line in merge_shards(name, [read_lines(path) for path in shards]):
            if line:
                yield line
                if max_words is not None:
                    word_count += len(line.split())
                    if word_count >= max_words:
                        return


def count_nonempty_lines(paths: Sequence[Path]) -> int:
    """Return the number of lines with words in files."""
    return sum(1 for path in paths for line in read_lines(path) if line)


def sample_pairs(corpora: Corpora, pair_count: int, seed: int, source: Path, target: Path) -> int:
    """Write a random sample of pairs without empty sides to the files `source` and `target`. Return its size.

    Every pair has a random key that depends only on seed, corpus and global line number. The `pair_count` pairs with
    the smallest keys are the sample, so it does not depend on the number of shards. It is held in memory.
    """

    def read_keyed_pairs() -> Iterator[tuple[bytes, str, str]]:
        numbered_pairs = read_numbered_pairs(corpora, "selection sample")
        for corpus, line_number, (source_line, target_line) in numbered_pairs:
            if source_line and target_line:
                yield make_random_key(seed, corpus, line_number, _KEY_BYTES), source_line, target_line

    sample = heapq.nsmallest(pair_count, read_keyed_pairs())

    with write_lines(source) as source_writer, write_lines(target) as target_writer:
        for _, source_line, target_line in sample:
            source_writer.write(source_line)
            target_writer.write(target_line)
    return len(sample)


def list_frequent_words(paths: Sequence[Path], min_count: int) -> list[str]:
    """Return the words that occur at least `min_count` times in token files, in code point order."""
    counts = count_words(paths)
    frequent_words = sorted(word for word, count in counts.items() if count >= min_count)
    if not frequent_words:
        raise UserError(
            f"{len(counts)} words, none of which occurs {min_count} times, in {', '.join(map(str, paths))};"
            " lower `selection.lm_vocabulary_min_count`"
        )
    return frequent_words


# --- KenLM's programs -------------------------------------------------------------------------------------------------


def train_language_model(
    text: Mapping[str, Sequence[Path]],
    order: int,
    output: Path,
    discount_fallback: bool,
    memory_mb: int,
    programs: Path,
    vocabulary: Sequence[str] | None = None,
    extra_text: Mapping[str, Sequence[Path]] | None = None,
    max_extra_words: int | None = None,
) -> None:
    """Train a model with modified Kneser-Ney smoothing and no cut-offs, and write it in KenLM's binary format.

    The bytes of the model do not depend on the number of shards or the memory.

    Args:
        text: for each corpus, the token files of one side of all its shards, in order.
        order: n of the n-grams.
        discount_fallback: whether default discounts are used where the text is too small to estimate them.
        memory_mb: memory limit of lmplz in megabytes. build_binary uses as much as the model has bytes.
        programs: folder of lmplz and build_binary.
        vocabulary: the words that the model knows; None: all words of its text.
        extra_text: text that follows, in the same form.
        max_extra_words: number of words of `extra_text` that are used; None: all.
    """
    lmplz = _find_program("lmplz", programs)
    build_binary = _find_program("build_binary", programs)
    with temporary_folder(output.parent, f".{output.name}.lm-") as work_folder:
        # 1. the command of lmplz, which sorts n-gram counts on the disk, in the output's folder
        arpa = work_folder / "model.arpa"
        sorting_mb = max(_MIN_SORTING_MB, round(_SORTING_FRACTION * memory_mb))
        command = [lmplz, "--order", str(order), "--memory", f"{sorting_mb}M"]
        command += ["--temp_prefix", f"{work_folder}/", "--skip_symbols", "--arpa", str(arpa)]
        if discount_fallback:
            command.append("--discount_fallback")
        if vocabulary is not None:
            word_file = work_folder / "words"
            word_file.write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8")
            command += ["--limit_vocab_file", str(word_file)]

        # 2. the text, in an order that does not depend on the shards: lmplz numbers words as they come, and adds up
        # probabilities in the order of these numbers
        lines = chain(read_nonempty_lines(text), read_nonempty_lines(extra_text or {}, max_extra_words))
        first_line = next(lines, None)
        if first_line is None:
            raise UserError(f"{output}: no words in its text; give token files with text")

        # 3. make the model: lmplz writes it in the ARPA format, which build_binary converts to KenLM's binary format
        _run_program(command, chain([first_line], lines), output)
        with atomic_path(output) as binary:
            _run_program([build_binary, str(arpa), str(binary)], (), output)


def _find_program(name: str, folder: Path) -> str:
    """Return the path of a program in a folder."""
    path = shutil.which(name, path=folder)
    if path is None:
        raise UserError(f"{folder}: no program {name}; remove the folder and run again, it is then made anew")
    return path


def _run_program(
    command: Sequence[str], lines: Iterable[str], file: Path, output: IO[bytes] | None = None
) -> None:
    """Run a program with lines on its standard input.

    Args:
        file: the file that the program makes or reads. The UserError of a program that fails begins with it.
        output: the open file that gets the standard output of the program.
    """
    with tempfile.TemporaryFile() as log_file:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output or log_file, stderr=log_file
        ) as process:
            assert process.stdin is not None
            # A program that ends early breaks the pipe. Its exit status and its log tell why.
            with suppress(BrokenPipeError):
                process.stdin.writelines(line.encode() + b"\n" for line in lines)
            with suppress(BrokenPipeError):
                process.stdin.close()
        if not process.returncode:
            return
        log_file.seek(0)
        log = log_file.read().decode(errors="replace")

    # if there is too little text, lmplz recommends an option, which is set by this key
    reason = last_output_line(log).replace("--discount_fallback", "`selection.discount_fallback: true`")
    raise UserError(f"{file}: {Path(command[0]).name} ended with code {process.returncode}: {reason}")


def compute_log_probabilities(lines: Iterable[str], model: Path, programs: Path) -> NDArray[np.float64]:
    """Return log10 p of n lines of words, from the start of a sentence to its end symbol, (n,).

    Args:
        model: the language model, in ARPA or KenLM's binary format.
        programs: folder of KenLM's program `query`.
    """
    command = [_find_program("query", programs), "-v", "sentence", str(model)]
    with tempfile.TemporaryFile() as answers:
        _run_program(command, lines, model, answers)
        answers.seek(0)
        # b"Total: -12.5 OOV: 0" for each line, then statistics of the text
        totals = [float(answer.split()[1]) for answer in answers if answer.startswith(b"Total:")]

    # `query` prints float32 numbers with as few digits as identify them, so float32 gives their exact values
    return np.array(totals, np.float32).astype(np.float64)
