"""Word alignments: eflomal in both directions, symmetrised as Moses does.

eflomal (Östling and Tiedemann, 2016) chooses its own random seed, so that alignments differ from run to run. All that
follows from the file of alignments can be repeated.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import atomic_path, disk_full
from nmt.io.programs import run
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs
from pipeline.phrase_based.programs import Moses
from pipeline.phrase_based.unfinished import held

MODEL = 3
"""eflomal's default model: HMM and fertilities."""


def align(
    moses: Moses, source: Path, target: Path, output: Path, work: Path, block_pairs: int, heuristic: str
) -> int:
    """Align a text block by block. Every block after the first starts from the priors of the first.

    A block that is finished stays finished when the job is stopped. Memory holds one block.

    Args:
        moses: for symal.
        source: plain tokens, a sentence per line.
        target: the other side.
        output: gets `0-0 1-2`, source word first, a line per pair.
        work: folder of what is made on the way; removed in the end.
        block_pairs: pairs aligned together.
        heuristic: how both directions become one, such as `grow-diag-final-and`.

    Returns:
        Number of pairs.
    """
    aligner = moses.eflomal()
    pairs = 0
    finished = []
    with held(work, (block_pairs, heuristic), (source, target)):
        with Progress.over_files([source, target], "moses align") as progress:
            for number, block in enumerate(_blocks(read_pairs(source, target, progress), block_pairs)):
                finished.append(work / f"{number:05d}.aligned")
                pairs += len(block)
                if not finished[-1].exists():
                    priors = work / "priors" if number else None
                    _align_block(aligner, moses, block, heuristic, work, finished[-1], priors)
        with atomic_path(output) as whole, whole.open("wb") as joined:
            for part in finished:
                with part.open("rb") as aligned:
                    shutil.copyfileobj(aligned, joined)
    return pairs


def _blocks(pairs: Iterator[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    while block := list(itertools.islice(pairs, size)):
        yield block


def _align_block(
    eflomal: Any,
    moses: Moses,
    block: Sequence[tuple[str, str]],
    heuristic: str,
    work: Path,
    output: Path,
    priors: Path | None,
) -> None:
    """Align pairs into `output`. Without priors, write them for the blocks that follow."""
    with disk_full(output), tempfile.TemporaryDirectory(dir=work) as temporary:
        folder = Path(temporary)
        for side, name in enumerate(("source", "target")):
            lines = "".join(f"{pair[side]}\n" for pair in block)
            (folder / name).write_text(lines, encoding="utf-8")
        forward, reverse = folder / "forward", folder / "reverse"
        sources, targets = zip(*block, strict=True)
        given = priors.read_text(encoding="utf-8").split("\n")[:-1] if priors else None
        try:
            eflomal.Aligner(model=MODEL).align(
                sources, targets, str(forward), str(reverse), priors_input=given
            )
        except subprocess.CalledProcessError as error:
            code = error.returncode
            raise UserError(
                f"nmt moses align: eflomal ended with code {code} (-4: built on another processor;"
                " -9: out of memory)"
            ) from None
        _symmetrise(moses, folder, heuristic)
        aligned = folder / f"aligned.{heuristic}"
        _check_lines(aligned, len(block))
        if priors is None:
            _keep_priors(eflomal, sources, targets, forward, reverse, work / "priors")
        aligned.rename(output)


def _symmetrise(moses: Moses, folder: Path, heuristic: str) -> None:
    script = moses.script("ems/support/symmetrize-fast-align.perl")
    files = ["forward", "reverse", "source", "target", "aligned"]
    run(
        ["perl", script, *files, heuristic, moses.program("symal")],
        "nmt moses align: symmetrising failed",
        folder,
    )


def _check_lines(path: Path, expected: int) -> None:
    """Count the lines of the alignment, since the script does not look at symal's exit status."""
    with path.open("rb") as lines:
        found = sum(1 for _ in lines)
    if found != expected:
        raise UserError(f"nmt moses align: symal wrote {found:,} of {expected:,} lines; run it again")


def _keep_priors(
    eflomal: Any, sources: Sequence[str], targets: Sequence[str], forward: Path, reverse: Path, output: Path
) -> None:
    with forward.open(encoding="utf-8") as forwards, reverse.open(encoding="utf-8") as reverses:
        priors = eflomal.calculate_priors(sources, targets, forwards, reverses)
    with atomic_path(output) as path, path.open("w", encoding="utf-8") as file:
        eflomal.write_priors(file, *priors)
