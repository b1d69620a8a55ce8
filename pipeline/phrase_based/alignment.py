"""Word alignments: eflomal in both directions, symmetrised as Moses does.

eflomal (Östling and Tiedemann, 2016) chooses its own random seed, so that alignments differ from run to run. All that
follows from the file of alignments can be repeated.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import atomic_path, full_disk_as_user_error, temporary_folder
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs
from pipeline.phrase_based.programs import Moses
from pipeline.programs import run_program

MODEL = 3
"""eflomal's default model: HMM and fertilities."""


def align_text(
    moses: Moses, source: Path, target: Path, output: Path, alignment_block: int, symmetrization: str
) -> int:
    """Align a text block by block. Every block after the first starts from the priors of the first.

    Memory holds one block.

    Args:
        moses: for symal.
        source: plain tokens, a sentence per line.
        target: the other side.
        output: gets `0-0 1-2`, source word first, a line per pair.
        alignment_block: pairs aligned together.
        symmetrization: how both directions become one, such as `grow-diag-final-and`.

    Returns:
        Number of pairs.
    """
    aligner = moses.eflomal()
    pairs = 0
    with (
        temporary_folder(output.parent, f".{output.name}.work-") as work,
        atomic_path(output) as whole,
        whole.open("wb") as joined,
        Progress.over_files([source, target], "moses align") as progress,
    ):
        text = read_pairs(source, target, progress)
        while block := list(itertools.islice(text, alignment_block)):
            aligned = _align_block(aligner, moses, block, symmetrization, work, first=not pairs)
            pairs += len(block)
            with aligned.open("rb") as lines:
                shutil.copyfileobj(lines, joined)
    return pairs


def _align_block(
    eflomal: Any, moses: Moses, block: Sequence[tuple[str, str]], heuristic: str, folder: Path, first: bool
) -> Path:
    """Return the file with the alignment of a block. The first one writes the priors from which the others start."""
    priors = folder / "priors"
    with full_disk_as_user_error(folder):
        for side, name in enumerate(("source", "target")):
            lines = "".join(f"{pair[side]}\n" for pair in block)
            (folder / name).write_text(lines, encoding="utf-8")
        forward, reverse = folder / "forward", folder / "reverse"
        sources, targets = zip(*block, strict=True)
        given = None if first else priors.read_text(encoding="utf-8").split("\n")[:-1]
        try:
            eflomal.Aligner(model=MODEL).align(
                sources, targets, str(forward), str(reverse), priors_input=given
            )
        except subprocess.CalledProcessError as error:
            raise UserError(
                f"eflomal ended with code {error.returncode} (-4: built on another processor; -9: out of memory)"
            ) from None
        script = moses.script("ems/support/symmetrize-fast-align.perl")
        files = ["forward", "reverse", "source", "target", "aligned"]
        run_program(
            ["perl", script, *files, heuristic, moses.program("symal")], "symmetrising failed", folder
        )
        aligned = folder / f"aligned.{heuristic}"
        with aligned.open("rb") as links:
            found = sum(1 for _ in links)
        if found != len(block):  # the script does not look at symal's exit status
            raise UserError(f"symal wrote {found:,} of {len(block):,} lines; run it again")
        if first:
            _keep_priors(eflomal, sources, targets, forward, reverse, priors)
    return aligned


def _keep_priors(
    eflomal: Any, sources: Sequence[str], targets: Sequence[str], forward: Path, reverse: Path, output: Path
) -> None:
    with forward.open(encoding="utf-8") as forwards, reverse.open(encoding="utf-8") as reverses:
        priors = eflomal.calculate_priors(sources, targets, forwards, reverses)
    with output.open("w", encoding="utf-8") as file:
        eflomal.write_priors(file, *priors)
