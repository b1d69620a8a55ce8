"""Phrase and reordering tables from aligned text, by Moses' own training script."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines
from pipeline.phrase_based.programs import Moses, run_logged

SEPARATOR = " ||| "
SCORES = 2
"""Place of the scores among the fields of a table's line: source phrase, target phrase, scores, alignment, counts. They
are probabilities, of which the decoder takes the logarithm."""


def extract_phrases(
    moses: Moses,
    text: tuple[Path, Path],
    aligned: Path,
    tables: tuple[Path, Path],
    log: Path,
    max_phrase_words: int,
    reordering: str,
    threads: int,
    memory_mb: int,
) -> None:
    """Extract and score phrases and their reordering.

    Args:
        moses: programs and scripts.
        text: plain tokens of both sides.
        aligned: their word alignment.
        tables: gets the phrase table and the reordering table (gzip).
        log: gets what the programs say.
        max_phrase_words: longest phrase.
        reordering: Moses' name of the reordering model.
        threads: processes side by side.
        memory_mb: for sorting; the rest needs little. The disk takes what does not fit.

    Raises:
        UserError: a step failed, or no phrase was found.
    """
    with temporary_folder(tables[0].parent, f".{tables[0].name}.work-") as work:
        for name, file in zip(
            ("corpus.source", "corpus.target", "aligned.given"), (*text, aligned), strict=True
        ):
            (work / name).symlink_to(file.absolute())
        (work / "model").mkdir()
        script = moses.script("training/train-model.perl")
        # earlier steps make the alignment, later ones a configuration
        command = ["perl", script, "--first-step", "4", "--last-step", "7"]
        command += ["--root-dir", ".", "--model-dir", "model"]
        command += ["--corpus", "corpus", "--f", "source", "--e", "target"]
        command += ["--alignment", "given", "--alignment-file", "aligned", "--reordering", reordering]
        command += ["--max-phrase-length", str(max_phrase_words), "--cores", str(threads), "--parallel"]
        command += ["--sort-buffer-size", f"{memory_mb}M", "--sort-parallel", str(threads)]
        run_logged(command, log, "extraction failed", work)
        made = [work / "model/phrase-table.gz", *(work / "model").glob("reordering-table.*.gz")]
        for path, table in zip(made, tables, strict=True):
            _check(path, aligned)
            with atomic_path(table) as copy:
                shutil.copyfile(path, copy)


def _check(table: Path, aligned: Path) -> None:
    """Raise a UserError if nothing was extracted, which the script does not notice."""
    if not table.exists():
        raise UserError(f"{table}: Moses' training left no such file; see the log beside it")
    with gzip.open(table) as lines:
        if not lines.readline():
            raise UserError(f"{table}: no phrase was extracted; check the alignment {aligned} and its text")


def count_scores(table: Path) -> int:
    """Return how many scores each pair of a phrase table has."""
    return len(next(read_entries(table))[SCORES].split())


def read_entries(table: Path, label: str | None = None) -> Iterator[list[str]]:
    """Yield the fields of each line of a phrase table, with progress if there is a label."""
    number = 0
    with Progress.over_files([table], label) if label else nullcontext() as progress:
        for number, line in enumerate(read_lines(table, progress), start=1):
            fields = line.rstrip(" ").split(SEPARATOR)
            if len(fields) <= SCORES:
                expected = "source, target and scores between |||"
                raise UserError(f"{table}, line {number}: {len(fields)} fields, expected {expected}")
            yield fields
    if not number:
        raise UserError(f"{table}: empty; expected a phrase table")
