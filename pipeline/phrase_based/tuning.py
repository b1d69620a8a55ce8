"""Tuning by minimum error rate training (Och, 2003) or batch MIRA (Cherry and Foster, 2012) with Moses' script."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nmt.io.files import write_text
from nmt.io.programs import run_logged
from pipeline.phrase_based.configuration import System, configuration, start_weights, weights_of
from pipeline.phrase_based.phrases import REPEATABLE
from pipeline.phrase_based.programs import Moses
from pipeline.phrase_based.unfinished import held


@dataclass(frozen=True)
class Tuning:
    """Settings of the tuning."""

    tuner: Literal["mert", "mira"]
    rounds: int
    """Limit for rounds of decoding and optimizing. Both tuners may end earlier."""
    n_best: int
    """Hypotheses per sentence and round."""


def tune(
    moses: Moses,
    system: System,
    source: Path,
    reference: Path,
    output: Path,
    work: Path,
    tuning: Tuning,
    search: Sequence[str],
    threads: int,
) -> None:
    """Choose the weights that translate the development text best. After a kill, continue from the last whole round.

    Args:
        moses: programs and scripts.
        system: tables and language model.
        source: plain tokens of the development text.
        reference: its reference.
        output: gets the weights, a feature per line.
        work: folder of what is made on the way; removed in the end.
        tuning: how the weights are optimized.
        search: the decoder's options for its search.
        threads: of decoder and optimizer.
    """
    settings = (system, tuning.tuner, tuning.n_best, *search)
    with held(work, settings, (*system.files, source, reference)) as lock:
        start = work / "moses.ini"
        start.write_text(configuration(system, start_weights(system)), encoding="utf-8")
        rounds_done = work / "mert/finished_step.txt"
        if not rounds_done.exists():
            # perhaps half of the tables that it filters first
            shutil.rmtree(work / "mert", ignore_errors=True)
        flags = " ".join(["-threads", str(threads), "-v", "0", *search])
        bin_folder = str(Path(moses.program("mert")).parent)
        command = [
            "perl",
            moses.script("training/mert-moses.pl"),
            str(source.absolute()),
            str(reference.absolute()),
        ]
        command += [
            moses.program("moses"),
            str(start.absolute()),
            "--mertdir",
            bin_folder,
            "--working-dir",
            str((work / "mert").absolute()),
        ]
        command += ["--decoder-flags", flags, "--predictable-seeds", "--nbest", str(tuning.n_best)]
        command += ["--maximum-iterations", str(tuning.rounds), "--threads", str(threads)]
        command += ["--batch-mira", "--return-best-dev"] if tuning.tuner == "mira" else []
        command += ["--continue"] if rounds_done.exists() else []
        problem = f"nmt moses tune: tuning failed (its files: {work / 'mert'})"
        run_logged(command, (work / "log").absolute(), problem, work, REPEATABLE, keep_open=[lock])
        write_text(output, weights_of(work / "mert/moses.ini"))
