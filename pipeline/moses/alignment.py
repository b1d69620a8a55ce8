"""Word alignments: eflomal in both directions, symmetrised as Moses does.

eflomal (Östling and Tiedemann, 2016) chooses its own random seed, so that alignments differ from run to run. All that
follows from the file of alignments can be repeated.
"""

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
from pipeline.moses.programs import Moses
from pipeline.programs import run_program

EFLOMAL_MODEL = 3
"""eflomal's default model: HMM and fertilities."""


def align_text(
    moses: Moses, source: Path, target: Path, output: Path, alignment_block: int, symmetrization: str
) -> None:
    """Align a text block by block.

    Memory holds one block. Every block after the first starts from the priors of the first.

    Args:
        moses: the folder of eflomal, and of the programs that join both directions.
        source: plain tokens, a sentence per line.
        target: plain tokens of the other side.
        output: the file of alignments, with a line per pair, such as `0-0 1-2` (source word first).
        alignment_block: the number of pairs in a block.
        symmetrization: heuristic that makes one alignment of both directions, such as `grow-diag-final-and`.
    """
    eflomal = moses.import_eflomal()
    with (
        temporary_folder(output.parent, f".{output.name}.work-") as work_folder,
        atomic_path(output) as temporary_output,
        temporary_output.open("wb") as output_file,
        Progress.over_files([source, target], "moses align") as progress,
    ):
        pairs = read_pairs(source, target, progress)
        while block := list(itertools.islice(pairs, alignment_block)):
            block_alignment = _align_block(
                eflomal, moses, block, heuristic=symmetrization, folder=work_folder
            )
            with block_alignment.open("rb") as lines:
                shutil.copyfileobj(lines, output_file)


def _align_block(
    eflomal: Any, moses: Moses, block: Sequence[tuple[str, str]], heuristic: str, folder: Path
) -> Path:
    """Return the file with the alignment of a block. `folder` keeps the priors for later blocks."""
    sources, targets = zip(*block, strict=True)
    forward = folder / "forward"
    reverse = folder / "reverse"
    priors_file = folder / "priors"
    with full_disk_as_user_error(folder):
        # 1. align in both directions, from the priors of the first block, if there are any
        priors = None
        if priors_file.exists():
            priors = priors_file.read_text(encoding="utf-8").split("\n")[:-1]  # each line has an end
        try:
            eflomal.Aligner(model=EFLOMAL_MODEL).align(
                sources, targets, str(forward), str(reverse), priors_input=priors
            )
        except subprocess.CalledProcessError as error:
            raise UserError(
                f"eflomal ended with code {error.returncode} (-4: built on a different processor; -9: out of memory)"
            ) from None

        # 2. make one alignment of both directions
        (folder / "source").write_text("\n".join(sources) + "\n", encoding="utf-8")
        (folder / "target").write_text("\n".join(targets) + "\n", encoding="utf-8")
        script = moses.script("ems/support/symmetrize-fast-align.perl")
        command = ["perl", script, "forward", "reverse", "source", "target", "aligned", heuristic]
        command.append(moses.program("symal"))
        run_program(command, "symmetrising failed", folder)

        # The script ignores symal's exit status, so the lines are counted.
        alignment = folder / f"aligned.{heuristic}"
        with alignment.open("rb") as links:
            line_count = sum(1 for _ in links)
        if line_count != len(block):
            raise UserError(f"symal wrote {line_count:,} of {len(block):,} lines; run it again")

        # 3. write the priors from which the other blocks start
        if priors is None:
            with (
                forward.open(encoding="utf-8") as forward_links,
                reverse.open(encoding="utf-8") as reverse_links,
            ):
                new_priors = eflomal.calculate_priors(sources, targets, forward_links, reverse_links)
            with priors_file.open("w", encoding="utf-8") as file:
                eflomal.write_priors(file, *new_priors)
    return alignment
