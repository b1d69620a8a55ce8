"""Phrase and reordering tables from aligned text, by Moses' own training script."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path, temporary_folder
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines
from pipeline.moses.programs import Moses, run_logged

Entry = list[str]
"""The fields of a table's line: source phrase, target phrase, scores, alignment, counts."""
SEPARATOR = " ||| "
SCORES_FIELD = 2
"""Index of the scores in an entry. They are probabilities, of which the decoder takes the logarithm."""


def extract_phrases(
    moses: Moses,
    text: tuple[Path, Path],
    alignment: Path,
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
        alignment: the word alignment of the text.
        tables: the phrase table and the reordering table that are written (gzip).
        log: the file to which the programs' messages are added.
        max_phrase_words: words of the longest phrase.
        reordering: Moses' name of the reordering model.
        threads: number of parallel processes.
        memory_mb: memory for sorting, which uses the disk if this is too little. Other steps need little memory.

    Raises:
        UserError: a step failed, or no phrase was found.
    """
    with temporary_folder(tables[0].parent, f".{tables[0].name}.work-") as work_folder:
        # the names under which the script reads its input
        (work_folder / "corpus.source").symlink_to(text[0].absolute())
        (work_folder / "corpus.target").symlink_to(text[1].absolute())
        (work_folder / "aligned.given").symlink_to(alignment.absolute())
        (work_folder / "model").mkdir()

        # without steps 1 to 3, which would make an alignment, and steps 8 and 9, which would make a configuration
        command = ["perl", moses.script("training/train-model.perl"), "--first-step", "4", "--last-step", "7"]
        command += ["--root-dir", ".", "--model-dir", "model"]
        command += ["--corpus", "corpus", "--f", "source", "--e", "target"]
        command += ["--alignment", "given", "--alignment-file", "aligned", "--reordering", reordering]
        command += ["--max-phrase-length", str(max_phrase_words), "--cores", str(threads), "--parallel"]
        command += ["--sort-buffer-size", f"{memory_mb}M", "--sort-parallel", str(threads)]
        run_logged(command, log, problem="extraction failed", folder=work_folder)

        # the tables, which must have entries
        model_files = [
            work_folder / "model/phrase-table.gz",
            *(work_folder / "model").glob("reordering-table.*.gz"),
        ]
        for model_file, table in zip(model_files, tables, strict=True):
            # the script itself does not report an empty table as an error
            if next(read_entries(model_file), None) is None:
                raise UserError(f"{model_file}: no phrase was extracted; check {alignment} and its text")
            with atomic_path(table) as copy:
                shutil.copyfile(model_file, copy)


def count_scores(table: Path) -> int:
    """Return how many scores each pair of a phrase table has."""
    return len(next(read_entries(table))[SCORES_FIELD].split())


def read_entries(table: Path, progress_label: str | None = None) -> Iterator[Entry]:
    """Yield the entries of a phrase table. If there is a `progress_label`, show a progress bar with this label."""
    progress_bar = Progress.over_files([table], progress_label) if progress_label else nullcontext()
    with progress_bar as progress:
        for line in read_lines(table, progress):
            yield line.rstrip(" ").split(SEPARATOR)
