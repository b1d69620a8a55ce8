"""Translations and n-best lists by Moses' decoder, in blocks, so that a stopped job can continue."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import atomic_path
from nmt.io.programs import run_logged
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from pipeline.phrase_based.configuration import System, configuration
from pipeline.phrase_based.phrases import REPEATABLE
from pipeline.phrase_based.programs import Moses
from pipeline.phrase_based.unfinished import held

BLOCK = 200
"""Sentences per process of the decoder, which reads the tables again for each block."""


@dataclass(frozen=True)
class NBest:
    """Lists of different translations. factor: hypotheses per entry that the search considers."""

    size: int
    factor: int
    output: Path


def decode(
    moses: Moses,
    system: System,
    weights: Path,
    source: Path,
    output: Path,
    work: Path,
    search: Sequence[str],
    threads: int,
    n_best: NBest | None = None,
) -> int:
    """Translate tokens, and write n-best lists in Moses' own format (gzip), numbered from 0, if wanted.

    Args:
        moses: programs and scripts.
        system: tables and language model; filtered for this text first, so that memory grows with it alone.
        weights: of the features, from tuning.
        source: token file of any compression.
        output: gets a translation per line.
        work: folder of what is made on the way; removed in the end.
        search: the decoder's options for its search.
        threads: of the decoder.
        n_best: lists to write besides.

    Returns:
        Number of sentences.
    """
    with held(work, (system, n_best, *search), (*system.files, weights, source)) as lock:
        sentences = [" ".join(line.split()) for line in read_lines(source)]
        options = ["-threads", str(threads), "-v", "0", *search]
        filtered = _filter(moses, system, weights, sentences, work, lock)
        blocks = list(_blocks(sentences))
        with Progress(len(sentences), "sentences", "moses decode") as progress:
            for number, block in enumerate(blocks):
                _decode_block(moses, filtered, block, work / f"{number:05d}", options, n_best, lock)
                progress.update(len(block))
        if n_best:
            _join_lists([work / f"{number:05d}.lists" for number in range(len(blocks))], n_best.output)
        with write_lines(output) as lines:
            for number in range(len(blocks)):
                for line in read_lines(work / f"{number:05d}.best"):
                    lines.write(line.rstrip(" "))
    return len(sentences)


def _blocks(sentences: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(sentences), BLOCK):
        yield sentences[start : start + BLOCK]


def _filter(
    moses: Moses, system: System, weights: Path, sentences: Sequence[str], work: Path, lock: int
) -> Path:
    """Return a configuration whose tables hold what the text needs."""
    done = work / "filtered.done"
    if not done.exists():
        shutil.rmtree(work / "filtered", ignore_errors=True)
        whole, text = work / "moses.ini", work / "text"
        whole.write_text(configuration(system, weights.read_text(encoding="utf-8")), encoding="utf-8")
        text.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
        script = moses.script("training/filter-model-given-input.pl")
        command = ["perl", script, "filtered", "moses.ini", "text"]
        log = (work / "log").absolute()
        run_logged(command, log, "nmt moses decode: filtering failed", work, REPEATABLE, keep_open=[lock])
        done.touch()
    return work / "filtered/moses.ini"


def _decode_block(
    moses: Moses,
    configuration_file: Path,
    block: Sequence[str],
    stem: Path,
    options: Sequence[str],
    n_best: NBest | None,
    lock: int,
) -> None:
    best, given, made = (stem.with_suffix(suffix) for suffix in (".best", ".text", ".made"))
    if best.exists():
        return
    given.write_text("".join(f"{sentence}\n" for sentence in block), encoding="utf-8")
    command = [moses.program("moses"), "-f", str(configuration_file.absolute()), *options]
    if n_best:
        lists = stem.with_suffix(".lists")
        command += ["-n-best-list", str(lists.absolute()), str(n_best.size), "distinct"]
        command += ["-n-best-factor", str(n_best.factor)]
    log = (stem.parent / "log").absolute()
    problem = f"nmt moses decode: sentences {stem.name} of {BLOCK} each failed"
    run_logged(command, log, problem, stem.parent, source=given, output=made, keep_open=[lock])
    found = sum(1 for _ in read_lines(made))
    if found != len(block):
        raise UserError(
            f"nmt moses decode: Moses wrote {found:,} of {len(block):,} translations; run it again"
        )
    made.rename(best)


def _join_lists(parts: Sequence[Path], output: Path) -> None:
    """Join all lists to one file, with numbers that go on from block to block."""
    with (
        atomic_path(output) as path,
        path.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as joined,
    ):
        for block, part in enumerate(parts):
            with part.open("rb") as lines:
                for line in lines:
                    number, rest = line.split(b" ", 1)
                    joined.write(b"%d %b" % (int(number) + block * BLOCK, rest))
